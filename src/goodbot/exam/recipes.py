"""Defines how known crawlers are driven: politely, with robots.txt, one request per host at a time, and throttling."""

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
"""The folder of the small programs that some crawlers need."""
USER_AGENT: Final = "ExamBot/1.0 (+mailto:exam@example.org)"
"""For crawlers that can choose their name in robots.txt. example.org is reserved (RFC 2606)."""

_VERSION_TIMEOUT_S: Final = 60.0
_THIS_PYTHON: Final = "python"
_VERSION = re.compile(r"\d+(?:\.\d+)+")


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one crawler is driven.

    `program` is searched in PATH and next to this interpreter (`python` means this interpreter). With the arguments
    `version_arguments` it must print a version and exit with 0. `environment` holds variables, `arguments` follow the
    program; both may use the placeholders of `goodbot exam`, and `{peers}` for the folder PEERS. `settings` describe
    the configuration and the crawler's remaining defaults; `keeps` says what it writes into {dir}. `fails` maps the
    sites it is known to fail to the reason.
    """

    name: str
    program: str
    version_arguments: tuple[str, ...]
    environment: tuple[str, ...]
    arguments: tuple[str, ...]
    settings: tuple[str, ...]
    keeps: str
    install: str
    fails: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def shown(self) -> tuple[str, ...]:
        """The command for documents: the same on every machine."""
        return (*self._env, self.program, *self.arguments)

    def find(self) -> "InstalledRecipe":
        """Finds the program. Raises InputError, saying how to install it, if it is missing."""
        python = Path(sys.executable)
        path = os.pathsep.join([str(python.parent), os.environ.get("PATH", os.defpath)])
        program = str(python) if self.program == _THIS_PYTHON else shutil.which(self.program, path=path)
        version = _version([program, *map(_with_peers_folder, self.version_arguments)]) if program else None
        if program is None or version is None:
            raise InputError(f"{self.name} is not installed: {self.install}")
        return InstalledRecipe(self, version, tuple(map(_with_peers_folder, (*self._env, program, *self.arguments))))

    @property
    def _env(self) -> tuple[str, ...]:
        return ("env", *self.environment) if self.environment else ()


@dataclass(frozen=True, slots=True)
class InstalledRecipe:
    """An installed crawler, and the command that drives it on this machine."""

    recipe: Recipe
    version: str
    command: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name and version of the crawler."""
        return f"{self.recipe.name} {self.version}"


def _with_peers_folder(argument: str) -> str:
    return argument.replace("{peers}", str(PEERS))


def _version(command: list[str]) -> str | None:
    try:
        ended = subprocess.run(  # noqa: S603  (a program of the recipe)
            command, stdin=subprocess.DEVNULL, capture_output=True, timeout=_VERSION_TIMEOUT_S, check=False
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
            version_arguments=("version",),
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
                "It obeys robots.txt and sends one request at a time to each host.",
                "AutoThrottle is on, with its default start delay of five seconds.",
                "It verifies certificates, which it does not by default.",
                "A response may take 30 s; the default is 180 s.",
                "The telnet console and the remote control, which listen on ports, are off.",
                "Other defaults are unchanged: 16 requests at once in all, 20 redirects, two retries, bodies to 1 GiB.",
            ),
            keeps="nothing",
            install="pip install 'scrapy>=2.13'",
        ),
        Recipe(
            name="wget",
            program="wget",
            version_arguments=("--version",),
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
                "It obeys robots.txt as `wget`, because it cannot use another name; the User-Agent says so too.",
                "It sends one request at a time, over all hosts, and waits 0.2 s before each.",
                "It waits up to 30 s for data and tries twice; the defaults are 900 s and 20 tries.",
                "Other defaults are unchanged: five levels of links, 20 redirects, responses of any size.",
            ),
            keeps="every page, as a file under the name of its host",
            install="apt-get install wget",
        ),
        Recipe(
            name="crawlee",
            program="node",
            version_arguments=("{peers}/crawlee_crawler.cjs", "--version"),
            environment=("NODE_EXTRA_CA_CERTS={ca-file}", "CRAWLEE_STORAGE_DIR={dir}"),
            arguments=("{peers}/crawlee_crawler.cjs", "{seed-file}"),
            settings=(
                "Eight CheerioCrawlers share the seeds, because Crawlee limits requests by crawler, not by host.",
                "They follow every link on the hosts of the seeds, whatever the port.",
                "They obey robots.txt as ExamBot (respectRobotsTxtFile).",
                "Each uses 16 MB, sends one request at a time (maxConcurrency), 600 a minute (maxRequestsPerMinute).",
                "They request pages as ExamBot, with a mail address; by default they look like a browser.",
                "They verify certificates for pages (ignoreSslErrors), which they do not by default.",
                "For robots.txt they cannot, nor set the User-Agent or a proxy there, so sites are served by port.",
                "Other defaults are unchanged: 30 s per response, 60 s for robots.txt, ten redirects, three retries.",
            ),
            keeps="nothing",
            install="install Node.js, then, in this folder: npm install @crawlee/cheerio@^3.18",
        ),
        Recipe(
            name="goodbot",
            program=_THIS_PYTHON,
            version_arguments=("-m", "goodbot", "--version"),
            environment=(),
            arguments=(
                *("-m", "goodbot", "crawl", "{seeds}", "--into", "{dir}", "--scope", "domain"),
                *("--keep-fresh", "--once"),
                *("--config", "{peers}/goodbot.toml", "--delay", "0.1"),
                *("--contact", "mailto:exam@example.org", "--proxy", "{proxy}", "--ca-file", "{ca-file}"),
            ),
            settings=(
                "It follows every link on the domain of the exam.",
                "It retries an unreachable robots.txt after 2, 6 and 18 s; by default after minutes.",
                "After 429 or 503 it waits 1 s longer, doubled up to 16 s; by default 5 s, doubled up to an hour.",
                "It fetches such a page up to four times; by default up to eight.",
                "It sends one request at a time to each host, at least 0.1 s apart; by default 1 s.",
                "On a second visit it fetches pages that are due: here every page at once, by default after a day.",
                "Everything else is the default: it obeys robots.txt and the directives of pages.",
                "It writes an archive and an index.",
            ),
            keeps="the crawl: frontier, archive, index",
            install="pip install goodbot",
        ),
    )
}
