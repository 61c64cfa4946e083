"""The values of this package: a robot, its operator, its purpose, and how a request in its name can be verified."""

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
        "ai-training": "Collects data on which AI models are trained.",
        "ai-search": "Builds the index in which an AI finds the sources that it cites.",
        "ai-assistant": "Fetches a page when a person, or an agent acting for a person, asks an AI about it.",
        "ai": "Works for an AI; it is not known whether for training or for answers.",
        "archive": "Archives copies of pages.",
        "feed": "Fetches feeds that people have subscribed to.",
        "preview": "Fetches the title and picture of a link that someone shares.",
        "ads": "Checks pages that are advertised or show advertisements.",
        "shopping": "Collects offers and prices.",
        "seo": "Analyses links and pages for search engine optimization.",
        "monitoring": "Checks regularly whether a site answers and how fast, mostly for its owner.",
        "scanner": "Scans the whole Internet for machines, services and software.",
        "security": "Looks for malware, fraud, leaks or vulnerabilities.",
        "research": "Collects data for research: studies, paper libraries, language corpora.",
        "data": "Collects data about companies, brands or people, to sell it.",
        "accessibility": "Makes pages accessible to more people: reads them aloud, checks or translates them.",
        "tool": "Software that anyone can run: the name does not show who runs it.",
        "other": "Has another purpose, or one that is not recorded.",
    }
)
"""Each purpose in one sentence, in the order in which they are listed."""

Obeys = Literal["yes", "named", "no", "unknown"]

OBEYS: Final[MappingProxyType[Obeys, str]] = MappingProxyType(
    {
        "yes": "obeys robots.txt",
        "named": "obeys rules that name it, but not those for *",
        "no": "does not obey robots.txt",
        "unknown": "it is not known whether it obeys robots.txt",
    }
)
"""Whether a robot obeys robots.txt, according to its operator, or to a source that contradicts the operator."""

Tier = Literal["verified", "declared", "impostor", "unknown"]

TIERS: Final[MappingProxyType[Tier, str]] = MappingProxyType(
    {
        "verified": "the request comes from this robot",
        "declared": "the request uses this robot's name, but that is not verified",
        "impostor": "the request uses the name of a robot that did not send it",
        "unknown": "no robot on record matches, or its address lists are too old or too new to tell",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownRobot:
    """One robot, as its operator and the source describe it. Facts that could not be confirmed are None, empty or
    `unknown`.

    `token` is its product token in robots.txt; None if it has none, or none that is confirmed. It also obeys groups
    with one of its `aliases`, which often address other robots of the same operator too. `patterns` are the words that
    identify it in a User-Agent (see `agent_words`). `address_lists` names the lists (`AddressList`) that its operator
    publishes, `reverse_dns` the domains of its addresses' reverse DNS names, and `signatures` its Signature-Agent for
    Web Bot Auth. `contact` is the mail address, or the URL of the form, at which its operator wants to hear from owners
    of sites. `control`: it is a robots.txt control token, which no robot sends. `retired_since` is a year. `imitated`:
    other robots put its name into their own User-Agent. The facts were looked up in the year `looked_up` at `source`.
    """

    name: str
    operator: str | None
    purpose: Purpose
    token: str | None = None
    aliases: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    example: str | None = None
    documentation: str | None = None
    contact: str | None = None
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
    """Whether goodbot has a record of its own; otherwise the robot comes from crawler-user-agents."""
    own_file: str | None = None
    """The file of the user's own record; None for a robot that comes with goodbot."""


assert set(PURPOSES) == set(get_args(Purpose))  # noqa: S101  (one definition, two forms)
