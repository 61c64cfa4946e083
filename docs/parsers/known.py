"""The parsers of docs/parsers.md: where each comes from, which text it says it follows, and how it is asked."""

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FOLDER: Final = Path(__file__).parent
PYTHON: Final = (sys.executable, str(FOLDER / "python_parsers.py"))
NODE: Final = ("node", str(FOLDER / "node_parsers.cjs"))


@dataclass(frozen=True, slots=True)
class Parser:
    """One parser. `source` is PyPI, npm, Debian, Python or goodbot; `packages` are what its driver needs from there,
    the parser itself first. `dialect` is the text that it is judged by, `claim` says why. `absent` says why a parser
    was not asked."""

    name: str
    source: str
    packages: tuple[str, ...]
    dialect: str
    claim: str
    command: tuple[str, ...]
    absent: str = "it is not installed"


def _pypi(package: str, driver: str, dialect: str, claim: str, absent: str = "pip cannot install it") -> Parser:
    return Parser(package, "PyPI", (package,), dialect, claim, (*PYTHON, driver), absent)


def _npm(package: str, dialect: str, claim: str, *others: str) -> Parser:
    return Parser(package, "npm", (package, *others), dialect, claim, (*NODE, package), "npm cannot install it")


def _debian(name: str, package: str, dialect: str, claim: str, *command: str) -> Parser:
    return Parser(name, "Debian", (package,), dialect, claim, command, f"Debian's {package} is not installed")


def _goodbot(name: str, driver: str, dialect: str) -> Parser:
    return Parser(name, "goodbot", (), dialect, "it wrote the cases", (*PYTHON, driver))


_NAMES_NO_TEXT = "its documentation names no text; it has wildcards and Allow, as RFC 9309"

PARSERS: Final = (
    _pypi("protego", "protego", "rfc9309", "its documentation names RFC 9309; Scrapy's parser"),
    _pypi("robotspy", "robotspy", "rfc9309", "its documentation names RFC 9309"),
    _pypi("robotstxt", "robotstxt", "rfc9309", "its documentation says that it follows the RFC"),
    _pypi("fast-robotstxt", "fast_robotstxt", "rfc9309", "its documentation names RFC 9309; made from Google's parser"),
    _pypi("reppy2", "reppy2", "rfc9309", "its documentation names an RFC and modern constructs"),
    _pypi(
        "reppy",
        "reppy",
        "rfc9309",
        "its documentation names modern constructs",
        "it has no wheel for this Python, and its C++ code lacks an include that today's compilers need",
    ),
    _pypi(
        "fastrobots",
        "fastrobots",
        "rfc9309",
        "it replaces reppy",
        "it has no wheel for this Python; to build it takes Rust and its crates",
    ),
    _npm("robots-parser", "rfc9309", "its documentation names the draft that became RFC 9309"),
    _npm("@crawlee/utils", "rfc9309", "Crawlee's RobotsTxtFile, made with robots-parser"),
    _npm("robots-txt-parser", "rfc9309", "its documentation names Google's specification, later RFC 9309"),
    _npm("robots-txt-guard", "rfc9309", f"with robots-txt-parse; {_NAMES_NO_TEXT}", "robots-txt-parse"),
    _debian("webrobots (Ruby)", "ruby-webrobots", "rfc9309", _NAMES_NO_TEXT, "ruby", str(FOLDER / "webrobots.rb")),
    _pypi("jwm.robotstxt", "jwm_robotstxt", "google", "it is Google's parser in C++"),
    _pypi("gpyrobotstxt", "gpyrobotstxt", "google", "a port of Google's parser to Python"),
    Parser(
        "urllib.robotparser",
        "Python",
        (),
        "1996",
        "its source names the draft of 1996",
        (*PYTHON, "urllib_robotparser"),
    ),
    _pypi(
        "robotexclusionrulesparser", "robotexclusionrulesparser", "1996", "with its syntax MK1996, the draft of 1996"
    ),
    _npm("robots", "1996", "its documentation names Python's robotparser, which follows the draft of 1996"),
    _debian(
        "WWW::RobotRules (Perl)",
        "libwww-robotrules-perl",
        "1994",
        "its documentation names the standard of 1994",
        "perl",
        str(FOLDER / "robotrules.pl"),
    ),
    _goodbot("goodbot", "goodbot", "rfc9309"),
    _goodbot("goodbot, google", "goodbot_google", "google"),
    _goodbot("goodbot, 1996", "goodbot_1996", "1996"),
    _goodbot("goodbot, 1994", "goodbot_1994", "1994"),
)

NOT_ASKED: Final = {
    "libwget (wget2)": "it reads a robots.txt, but wget2 itself compares the URLs, outside the library",
    "temoto/robotstxt (Go)": "Debian 12 has no package of it",
    "libcurl": "it has no parser of robots.txt",
    "robots-txt-parser (PyPI)": "a copy of robotexclusionrulesparser",
    "parsero, ai-crawler-robots and other tools": "they report about files, and do not answer for a robot and a URL",
}
