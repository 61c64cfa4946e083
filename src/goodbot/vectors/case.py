"""A test vector: what one robots.txt lets one robot do with one URL, in one or more dialects."""

import hashlib
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

SITE: Final = "https://example.org"

Kind = Literal["must", "reading", "choice"]
About = Literal["lines", "groups", "names", "rules", "special", "other", "errors", "limits"]

KINDS: Final[Mapping[Kind, str]] = {
    "must": "the text requires or recommends this result, or prints it in an example",
    "reading": "the text can be read in several ways; this is goodbot's reading",
    "choice": "the text does not mention this; this is goodbot's choice",
}

TODAY: Final = ("rfc9309", "google")
DECODED: Final = ("1996", "book")
AS_WRITTEN: Final = ("1994", "kollar", "conner")
HISTORIC: Final = (*DECODED, *AS_WRITTEN)
ALL: Final = ("rfc9309", "google", "1996", "book", "1994", "kollar", "conner")

_RFC = "RFC 9309 "
_DRAFT = "draft-koster-robots-00 "
_BOOK = "HTTP book 9.4, the "


def _older(lines: str, names: str, rules: str) -> Mapping[About, str]:
    """Returns the sections of a text that has one for lines, one for names and one for rules."""
    return {
        **dict.fromkeys(("lines", "groups", "other", "errors", "limits"), lines),
        "names": names,
        **dict.fromkeys(("rules", "special"), rules),
    }


SECTIONS: Final[Mapping[str, Mapping[About, str]]] = {
    "rfc9309": {
        "lines": f"{_RFC}2.2",
        "groups": f"{_RFC}2.1",
        "names": f"{_RFC}2.2.1",
        "rules": f"{_RFC}2.2.2",
        "special": f"{_RFC}2.2.3",
        "other": f"{_RFC}2.2.4",
        "errors": f"{_RFC}2.3.1.5",
        "limits": f"{_RFC}2.5",
    },
    "google": _older("Google, file format", "Google, user agents", "Google, precedence of rules"),
    "1996": _older(f"{_DRAFT}3.3", f"{_DRAFT}3.2.1", f"{_DRAFT}3.2.2"),
    "book": _older(f"{_BOOK}file format", f"{_BOOK}User-Agent line", f"{_BOOK}Disallow and Allow lines"),
    "1994": _older("Koster 1994, the format", "Koster 1994, User-agent", "Koster 1994, Disallow"),
    "kollar": _older("Kollar, records", "Kollar, User-Agent", "Kollar, Disallow"),
    "conner": _older("Conner 2.0, records", "Conner 2.0, User-agent", "Conner 2.0, Allow and Disallow"),
}
"""The section of each text that a case is about, by dialect."""

_TOKEN = re.compile(r"[A-Za-z_-]+")


class Expected(NamedTuple):
    """The result in one dialect, and which section of its text it follows from."""

    allowed: bool
    kind: Kind
    section: str


Expectations = Mapping[str, Expected]
"""Results by dialect."""


@dataclass(frozen=True, slots=True)
class Case:
    """One question to a robots.txt parser, and the answers. `agent` is a product token or a whole User-Agent, `url` is
    absolute, `note` says in a few words what is tested."""

    topic: str
    robots: bytes
    agent: str
    url: str
    expected: Expectations
    note: str

    @property
    def id(self) -> str:
        """The topic and eight hexadecimal digits of the SHA-256 of robots.txt, agent and URL: the same input always
        has the same id."""
        whole = b"\0".join((self.robots, self.agent.encode(), self.url.encode()))
        return f"{self.topic}-{hashlib.sha256(whole).hexdigest()[:8]}"


def case(
    topic: str, robots: str | bytes, url: str, expected: Expectations, note: str, *, agent: str = "examplebot"
) -> Case:
    """Makes a case. A URL that begins with `/` is a path of SITE.

    The kind in `google` follows from the agent. Google's published parser is a program, so it defines the result for
    every token; it does not say what the token of a whole User-Agent is."""
    body = robots.encode() if isinstance(robots, str) else robots
    kind: Kind = "must" if is_token(agent) else "choice"
    results = {
        dialect: result._replace(kind=kind) if dialect == "google" else result for dialect, result in expected.items()
    }
    return Case(topic, body, agent, SITE + url if url.startswith("/") else url, results, note)


def expect(about: About, allowed: bool, dialects: Iterable[str], kind: Kind = "must") -> dict[str, Expected]:
    """Expects the same result in several dialects, from the section about this subject in each text. For Conner's text,
    of which only examples are left, nothing but these examples is certain."""
    return {
        dialect: Expected(
            allowed, "reading" if (dialect, kind) == ("conner", "must") else kind, SECTIONS[dialect][about]
        )
        for dialect in dialects
    }


def is_token(agent: str) -> bool:
    """Whether this is a product token as RFC 9309 defines it, and not a whole User-Agent."""
    return _TOKEN.fullmatch(agent) is not None
