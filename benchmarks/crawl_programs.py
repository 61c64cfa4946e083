"""Builds the commands that crawl the same sites with goodbot, Scrapy, wget and wget2, each with settings that suit it.

All programs obey robots.txt, stay on the given hosts, follow links but fetch no images, scripts or style sheets, and
do not wait between requests. goodbot keeps a durable frontier and WARC files; wget and wget2 write the pages to files;
Scrapy keeps nothing.
"""

import json
import os
import shutil
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from crawl_web import FOLLOWED_TAGS, ServedWeb

HERE = Path(__file__).parent
UNWANTED = "img,link,script,style,input,embed,object,source,video,audio"

Command = Callable[[ServedWeb, Path], Sequence[str]]
"""Returns the command that crawls the served sites into an empty folder."""


def goodbot(*options: str, python: str = sys.executable) -> Command:
    """Returns a function that makes the command to crawl with goodbot and these options."""

    def command(web: ServedWeb, folder: Path) -> Sequence[str]:
        trust = ["--ca-file", str(web.authority)] if web.authority else []
        return [
            *(python, "-m", "goodbot", "crawl", *web.roots, "--into", str(folder / "crawl")),
            *("--allow-private", "--delay", "0", "--json", *trust, *options),
        ]

    return command


def scrapy(web: ServedWeb, folder: Path) -> Sequence[str]:
    """Returns the command for Scrapy: with 64 requests in flight, with uvloop, without verifying certificates."""
    crawl = {"seeds": web.roots, "allow": [root.replace(".", r"\.") for root in web.roots], "pages": 0}
    return [sys.executable, str(HERE / "peers" / "scrapy_fenced.py"), json.dumps(crawl)]


def wget(web: ServedWeb, folder: Path) -> Sequence[str]:
    """Returns the command for wget, which has one request in flight."""
    trust = [f"--ca-certificate={web.authority}"] if web.authority else []
    options = ["-q", "-r", "-l", "inf", f"--follow-tags={FOLLOWED_TAGS}", "--tries=1", "--timeout=30"]
    return ["wget", "--no-config", *options, *trust, "-P", str(folder), *web.roots]


def wget2(web: ServedWeb, folder: Path) -> Sequence[str]:
    """Returns the command for wget2, with five threads, its default."""
    trust = [f"--ca-certificate={web.authority}", "--no-ocsp"] if web.authority else []
    options = ["-q", "-r", "-l", "inf", f"--ignore-tags={UNWANTED}", "--tries=1", "--timeout=30"]
    return ["wget2", *options, *trust, "-P", str(folder), *web.roots]


def programs(wanted: Sequence[str]) -> dict[str, Command]:
    """Returns the programs that are wanted and installed, by the names they have in tables.

    BEFORE is the path of the Python interpreter of another goodbot, which is compared with this one.
    """
    found: dict[str, Command] = {}
    if "scrapy" in wanted:
        found[f"Scrapy {version('scrapy')}"] = scrapy
    if "wget" in wanted and shutil.which("wget"):
        found["wget -r"] = wget
    if "wget2" in wanted and shutil.which("wget2"):
        found["wget2 -r"] = wget2
    if before := os.environ.get("BEFORE"):
        found["before --no-index"] = goodbot("--no-index", python=before)
        found["before"] = goodbot(python=before)
    if "goodbot" in wanted:
        found["goodbot --no-index"] = goodbot("--no-index")
        found["goodbot"] = goodbot()
    return found
