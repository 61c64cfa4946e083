"""Known crawlers, politely configured: robots.txt on, one request per host at a time, their own throttling on."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from goodbot.errors import InputError
from goodbot.exam.site_server import DOMAIN

PEERS: Final = Path(__file__).parent / "peers"
"""Where the small programs lie that some crawlers need."""
USER_AGENT: Final = "ExamBot/1.0 (+mailto:exam@example.org)"
"""For those whose name in robots.txt is free. RFC 2606: example.org is nobody's."""

_ANSWERS_IN_S: Final = 60.0
_THIS_PYTHON: Final = "python"
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one crawler is driven.

    `program` is sought in PATH, also beside this interpreter (which is meant by `python`); with the arguments
    `asks_version` it must print a version and end with 0. `environment` are variables, `arguments` what follows the
    program: in both, the placeholders of `goodbot exam`, and `{peers}` for the folder PEERS. `settings` say in words
    what the command asks for, and which of the crawler's own bounds remain; `keeps` what it writes into {dir}. `fails`:
    the sites that it is known to fail, and why; empty also where nobody has said so.
    """

    name: str
    program: str
    asks_version: tuple[str, ...]
    environment: tuple[str, ...]
    arguments: tuple[str, ...]
    settings: tuple[str, ...]
    keeps: str
    install: str
    fails: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def shown(self) -> tuple[str, ...]:
        """The command as it is written down: the same on every machine."""
        return (*self._env, self.program, *self.arguments)

    def find(self) -> "InstalledRecipe":
        """Raises InputError, saying how to install it, if it is not there."""
        python = Path(sys.executable)
        path = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
        program = str(python) if self.program == _THIS_PYTHON else shutil.which(self.program, path=path)
        version = _version([program, *map(_placed, self.asks_version)]) if program else None
        if program is None or version is None:
            raise InputError(f"{self.name} is not installed: {self.install}")
        return InstalledRecipe(self, version, tuple(map(_placed, (*self._env, program, *self.arguments))))

    @property
    def _env(self) -> tuple[str, ...]:
        return ("env", *self.environment) if self.environment else ()


@dataclass(frozen=True, slots=True)
class InstalledRecipe:
    """A crawler that is installed, and the command that drives it here."""

    recipe: Recipe
    version: str
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        """Name and version."""
        return f"{self.recipe.name} {self.version}"


def _placed(argument: str) -> str:
    return argument.replace("{peers}", str(PEERS))


def _version(command: list[str]) -> str | None:
    try:
        ended = subprocess.run(  # noqa: S603  (a program of the recipe)
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_ANSWERS_IN_S, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    found = _VERSION.search(ended.stdout.decode(errors="replace"))
    return found[0] if found and ended.returncode == 0 else None


_THROUGH_PROXY: Final = ("http_proxy={proxy}", "https_proxy={proxy}", "no_proxy=")

RECIPES: Final[dict[str, Recipe]] = {
    recipe.name: recipe
    for recipe in (
        Recipe(
            name="scrapy",
            program="scrapy",
            asks_version=("version",),
            environment=(*_THROUGH_PROXY, "SSL_CERT_FILE={ca-file}"),
            arguments=(
                *("runspider", "{peers}/scrapy_spider.py", "-a", "seed_file={seed-file}"),
                *("-s", "ROBOTSTXT_OBEY=True"),
                *("-s", f"USER_AGENT={USER_AGENT}"),
                *("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1"),
                *("-s", "AUTOTHROTTLE_ENABLED=True"),
                *("-s", "DOWNLOAD_TIMEOUT=30"),
                *("-s", "DOWNLOAD_VERIFY_CERTIFICATES=True"),
                *("-s", "TELNETCONSOLE_ENABLED=False"),
                *("-s", "REMOTE_CONTROL_ENABLED=False"),
                *("-s", "LOG_LEVEL=INFO"),
            ),
            settings=(
                "A CrawlSpider with a LinkExtractor follows every link on the hosts of the seeds (allowed_domains).",
                "robots.txt is obeyed. One request at a time to each host.",
                "AutoThrottle is on, with its default of five seconds to begin with.",
                "Certificates are verified, which they are not by default.",
                "An answer may take 30 s; the default is 180 s.",
                "The console and the remote control, which listen on ports, are off.",
                "Its other defaults remain: 16 requests at once in all, 20 redirects, two retries, 1 GiB an answer.",
            ),
            keeps="nothing",
            install="pip install 'scrapy>=2.13'",
        ),
        Recipe(
            name="wget",
            program="wget",
            asks_version=("--version",),
            environment=_THROUGH_PROXY,
            arguments=(
                *("--no-config", "--no-verbose", "--recursive", "--span-hosts", f"--domains={DOMAIN}"),
                *("--execute=robots=on", "--user-agent=Wget/1 (+mailto:exam@example.org)"),
                *("--wait=0.2", "--timeout=30", "--tries=2"),
                *("--ca-certificate={ca-file}", "--no-hsts"),
                *("--directory-prefix={dir}", "--input-file={seed-file}"),
            ),
            settings=(
                "It follows every link on the domain of the exam.",
                "robots.txt is obeyed, as `wget`, for it can have no other name there; the User-Agent says so too.",
                "One request at a time in all, with a pause of 0.2 s before each.",
                "Silence may last 30 s, and two tries are made; the defaults are 900 s and 20.",
                "Its other defaults remain: five levels of links, 20 redirects, an answer of any size.",
            ),
            keeps="every page, as a file under the name of its host",
            install="apt-get install wget",
        ),
        Recipe(
            name="crawlee",
            program="node",
            asks_version=("{peers}/crawlee_crawler.cjs", "--version"),
            environment=("NODE_EXTRA_CA_CERTS={ca-file}", "CRAWLEE_STORAGE_DIR={dir}"),
            arguments=("{peers}/crawlee_crawler.cjs", "{seed-file}"),
            settings=(
                "Eight CheerioCrawlers share the seeds, because Crawlee limits requests by crawler, not by host.",
                "Every link on the hosts of the seeds is followed, whatever the port.",
                "robots.txt is obeyed, as ExamBot (respectRobotsTxtFile).",
                "Each takes 16 MB, makes one request at a time (maxConcurrency), 600 a minute (maxRequestsPerMinute).",
                "Pages are asked for as ExamBot, with a mail address; the default is to look like a browser.",
                "For pages certificates are verified (ignoreSslErrors), which they are not by default.",
                "For robots.txt neither that nor a User-Agent can be set, nor a proxy: so the sites go by port here.",
                "Its other defaults remain: 30 s for an answer, 60 s for robots.txt, ten redirects, three retries.",
            ),
            keeps="nothing",
            install="install Node.js, then, in this folder: npm install @crawlee/cheerio@^3.18",
        ),
        Recipe(
            name="goodbot",
            program=_THIS_PYTHON,
            asks_version=("-m", "goodbot", "--version"),
            environment=(),
            arguments=(
                *("-m", "goodbot", "crawl", "{seeds}", "--into", "{dir}", "--scope", "domain"),
                *("--keep-fresh", "--once"),
                *("--config", "{peers}/goodbot.toml", "--delay", "0.1"),
                *("--contact", "mailto:exam@example.org", "--proxy", "{proxy}", "--ca-file", "{ca-file}"),
            ),
            settings=(
                "It follows every link on the domain of the exam.",
                "A robots.txt that cannot be had is asked for again after 2, 6 and 18 s; by default it is minutes.",
                "After 429 or 503 a host gets 1 s more, doubled up to 16 s; by default 5 s, doubled up to an hour.",
                "A page answered so is asked for four times; by default it is eight.",
                "One request at a time to each host, at least 0.1 s apart; by default it is a second.",
                "Driven through again it asks for what is due: here every page at once, by default after a day.",
                "All else is its default: robots.txt and what pages say to robots are obeyed.",
                "An archive and an index are written.",
            ),
            keeps="the crawl: frontier, archive, index",
            install="pip install goodbot",
        ),
    )
}
