"""Builds the commands that crawl the same sites with goodbot, Scrapy, spider-rs, wget and wget2, each with settings
that suit it.

All programs obey robots.txt, stay on the given hosts, follow links but fetch no images, scripts or style sheets, and
do not wait between requests. goodbot keeps a durable frontier and WARC files; wget and wget2 write the pages to files;
Scrapy and spider-rs keep nothing.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path

from crawl_web import FOLLOWED_TAGS, ServedWeb
from settings import NODE_MODULES, SPIDER, Setting, choice, installed_of

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


def spider(web: ServedWeb, folder: Path) -> Sequence[str]:
    """Returns the command for spider-rs, with its default number of requests in flight."""
    trust = [f"SSL_CERT_FILE={web.authority}"] if web.authority else []
    return ["env", *trust, "node", str(HERE / "peers" / "spider_sites.cjs"), str(NODE_MODULES), *web.roots]


def _interpreter(text: str) -> str | None:
    if not text:
        return None
    if subprocess.run([text, "-c", "import goodbot"], check=False, capture_output=True).returncode:
        raise ValueError(text)
    return text


NAMES = ("scrapy", "spider-rs", "wget", "wget2", "goodbot")
PROGRAMS = choice("PROGRAMS", ",".join(NAMES), "the programs", NAMES)
BEFORE = Setting(
    "BEFORE",
    "",
    "another goodbot to compare with",
    "a Python interpreter with goodbot installed",
    _interpreter,
)


def _version_of_spider() -> str:
    return str(json.loads((NODE_MODULES / SPIDER / "package.json").read_text())["version"])


def programs() -> dict[str, Command]:
    """Returns the programs of PROGRAMS and BEFORE that are installed, by the names they have in tables."""
    wanted = installed_of(PROGRAMS)
    found: dict[str, Command] = {}
    if "scrapy" in wanted:
        found[f"Scrapy {version('scrapy')}"] = scrapy
    if "spider-rs" in wanted:
        found[f"spider-rs {_version_of_spider()}"] = spider
    if "wget" in wanted:
        found["wget -r"] = wget
    if "wget2" in wanted:
        found["wget2 -r"] = wget2
    if before := BEFORE.value():
        found["before --no-index"] = goodbot("--no-index", python=before)
        found["before"] = goodbot(python=before)
    if "goodbot" in wanted:
        found["goodbot --no-index"] = goodbot("--no-index")
        found["goodbot"] = goodbot()
    return found
