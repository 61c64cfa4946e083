"""The values of this room: a robot, whose it is, what it is for, how its word can be checked."""

from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, Literal, get_args

Purpose = Literal[
    "search",
    "ai-training",
    "ai-search",
    "ai-assistant",
    "ai",
    "archive",
    "feed",
    "preview",
    "ads",
    "shopping",
    "seo",
    "monitoring",
    "scanner",
    "security",
    "research",
    "data",
    "accessibility",
    "tool",
    "other",
]

PURPOSES: Final[MappingProxyType[Purpose, str]] = MappingProxyType(
    {
        "search": "Builds the index of a search engine.",
        "ai-training": "Gathers what models are trained on.",
        "ai-search": "Builds the index from which an AI finds and cites its sources.",
        "ai-assistant": "Fetches a page at the moment a person, or an agent on a person's behalf, asks an AI about it.",
        "ai": "Works for an AI, and whether to train it or to answer is not known.",
        "archive": "Keeps copies of pages for later times.",
        "feed": "Asks for feeds that people have subscribed to.",
        "preview": "Fetches title and picture of a link that somebody shares.",
        "ads": "Looks at pages that advertise or carry advertisements.",
        "shopping": "Gathers offers and prices.",
        "seo": "Examines links and pages for people who want to be found.",
        "monitoring": "Asks again and again whether a site answers, and how fast, mostly for its owner.",
        "scanner": "Surveys the whole Internet for machines, services and software.",
        "security": "Looks for malware, fraud, leaks or weak spots.",
        "research": "Works for science: studies, libraries of papers, corpora of language.",
        "data": "Gathers facts about companies, brands or people to sell them.",
        "accessibility": "Makes pages usable for more people: reads aloud, checks, translates.",
        "tool": "Software that anyone runs: the name says nothing of who does.",
        "other": "None of these, or not recorded.",
    }
)
"""Every purpose in one sentence, in the order they are listed."""

Obeys = Literal["yes", "named", "no", "unknown"]

OBEYS: Final[MappingProxyType[Obeys, str]] = MappingProxyType(
    {
        "yes": "obeys robots.txt",
        "named": "obeys rules that name it, not those for *",
        "no": "does not obey robots.txt",
        "unknown": "it is not known whether it obeys robots.txt",
    }
)
"""What is known of its obedience: its operator's word, or where that is told otherwise, the word of the source."""

Tier = Literal["verified", "declared", "impostor", "unknown"]

TIERS: Final[MappingProxyType[Tier, str]] = MappingProxyType(
    {
        "verified": "the request comes from this robot",
        "declared": "the request claims this name; that is not verified",
        "impostor": "the request uses the name of a robot that did not send it",
        "unknown": "no robot on record matches",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRobot:
    """One robot, as its operator and its source tell of it. What nobody could confirm is None, empty or `unknown`.

    `token` is its name in robots.txt; None: it has none, or none that is confirmed. `aliases` speak to it as well, and
    mostly to other robots of its operator. `patterns` are words that tell it
    in a User-Agent (see `words`). `address_lists` names the lists (`AddressList`) its operator publishes,
    `reverse_dns` the domains in which the names of its addresses end, `signatures` the Signature-Agent of its Web Bot
    Auth. `control`: a robots.txt control token, which no robot sends. `retired_since` is a year. `imitated`:
    other robots put its name into their own User-Agent. `looked_up` is the year in which the facts were, `source`
    where.
    """

    name: str
    operator: str | None
    purpose: Purpose
    token: str | None = None
    aliases: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    example: str | None = None
    documentation: str | None = None
    obeys: Obeys = "unknown"
    obeys_source: str | None = None
    address_lists: tuple[str, ...] = ()
    reverse_dns: tuple[str, ...] = ()
    signatures: str | None = None
    control: bool = False
    retired: bool = False
    retired_since: int | None = None
    imitated: bool = False
    looked_up: int
    source: str
    recorded: bool = True
    """Whether goodbot has a record of its own; else crawler-user-agents knows it."""


assert set(PURPOSES) == set(get_args(Purpose))  # noqa: S101  (one definition, two forms)
