"""Names what a record says, in words of the interface. Pure."""

from types import MappingProxyType
from typing import Final, Literal, NamedTuple

from goodbot.registry import KnownRobot, Obeys, Purpose
from goodbot.web.pages.translations import translatable


class PurposeWords(NamedTuple):
    """A purpose in a few words, and in the sentence of `PURPOSES`."""

    name: str
    meaning: str


PURPOSE_WORDS: Final[MappingProxyType[Purpose, PurposeWords]] = MappingProxyType(
    {
        "search": PurposeWords(
            translatable("search engine"),
            translatable("Builds the index of a search engine."),
        ),
        "ai-training": PurposeWords(
            translatable("AI training"),
            translatable("Collects data on which AI models are trained."),
        ),
        "ai-search": PurposeWords(
            translatable("AI search"),
            translatable("Builds the index in which an AI finds the sources that it cites."),
        ),
        "ai-assistant": PurposeWords(
            translatable("AI assistant"),
            translatable("Fetches a page when a person, or an agent acting for a person, asks an AI about it."),
        ),
        "ai": PurposeWords(
            translatable("AI"),
            translatable("Works for an AI; it is not known whether for training or for answers."),
        ),
        "archive": PurposeWords(
            translatable("archive"),
            translatable("Archives copies of pages."),
        ),
        "feed": PurposeWords(
            translatable("feeds"),
            translatable("Fetches feeds that people have subscribed to."),
        ),
        "preview": PurposeWords(
            translatable("link previews"),
            translatable("Fetches the title and picture of a link that someone shares."),
        ),
        "ads": PurposeWords(
            translatable("advertising"),
            translatable("Checks pages that are advertised or show advertisements."),
        ),
        "shopping": PurposeWords(
            translatable("shopping"),
            translatable("Collects offers and prices."),
        ),
        "seo": PurposeWords(
            translatable("SEO"),
            translatable("Analyses links and pages for search engine optimization."),
        ),
        "monitoring": PurposeWords(
            translatable("monitoring"),
            translatable("Checks regularly whether a site answers and how fast, mostly for its owner."),
        ),
        "scanner": PurposeWords(
            translatable("Internet scans"),
            translatable("Scans the whole Internet for machines, services and software."),
        ),
        "security": PurposeWords(
            translatable("security"),
            translatable("Looks for malware, fraud, leaks or vulnerabilities."),
        ),
        "research": PurposeWords(
            translatable("research"),
            translatable("Collects data for research: studies, paper libraries, language corpora."),
        ),
        "data": PurposeWords(
            translatable("data for sale"),
            translatable("Collects data about companies, brands or people, to sell it."),
        ),
        "accessibility": PurposeWords(
            translatable("accessibility"),
            translatable("Makes pages accessible to more people: reads them aloud, checks or translates them."),
        ),
        "tool": PurposeWords(
            translatable("software for anyone"),
            translatable("Software that anyone can run: the name does not show who runs it."),
        ),
        "other": PurposeWords(
            translatable("other"),
            translatable("Has another purpose, or one that is not recorded."),
        ),
    }
)
"""Each purpose, in the order in which they are listed."""

OBEYS_WORDS: Final[MappingProxyType[Obeys, str]] = MappingProxyType(
    {
        "yes": translatable("yes"),
        "named": translatable("only groups that name it"),
        "no": translatable("no"),
        "unknown": translatable("not known"),
    }
)
"""Whether a robot obeys robots.txt."""

Way = Literal["addresses", "dns", "signatures", "none"]

WAY_WORDS: Final[MappingProxyType[Way, str]] = MappingProxyType(
    {
        "addresses": translatable("IP addresses"),
        "dns": translatable("reverse DNS"),
        "signatures": translatable("Web Bot Auth"),
        "none": translatable("no known way"),
    }
)
"""How a request in the name of a robot can be verified."""


def ways_of(robot: KnownRobot) -> tuple[Way, ...]:
    """Returns how requests of a robot can be verified, or `none`. A control token sends no requests, so it has no
    way, not even `none`."""
    if robot.control:
        return ()
    known: tuple[tuple[Way, object], ...] = (
        ("addresses", robot.address_lists),
        ("dns", robot.reverse_dns),
        ("signatures", robot.signatures),
    )
    return tuple(way for way, value in known if value) or ("none",)
