"""What a page's content may be used for: the statements that were found, and their combined meaning."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal

VOCABULARY: Final = "draft-ietf-aipref-vocab-07"

Use = Literal["search", "ai-input", "ai-train"]
USES: Final[tuple[Use, ...]] = ("search", "ai-input", "ai-train")

Preference = Literal["allowed", "disallowed", "unknown"]

USE_LEVELS: Final = {
    "immediate": "interact only: neither store nor reuse anything",
    "reference": "index, quote in part and link back",
    "full": "summarize and reproduce",
}
"""The values of `use` in a Content-Signal, the strictest first. Each says the most that a robot may do. Source:
Cloudflare, "Your site, your rules: new AI traffic options for all customers", July 2026."""


@dataclass(frozen=True, slots=True)
class PreferenceSource:
    """One statement on one use. `value` is its answer; if that is `unknown`, `note` says why.

    `origin` is `robots.txt`, `HTTP field Content-Usage`, `HTTP field Content-Signal`, `META tdm-reservation`,
    `tdmrep.json`…, `line` the line of robots.txt or None, `text` the statement as written (cut after 120 characters,
    printable), `section` the specification that it follows (docs/conformance/preferences.md lists them).
    """

    use: Use
    value: Preference
    origin: str
    line: int | None
    text: str
    section: str
    note: str = ""

    def __str__(self) -> str:
        return f"{self.text} ({self.origin})" if self.line is None else f"{self.text} ({self.origin}, line {self.line})"


class Preferences(Mapping[str, str]):
    """Maps the uses `search`, `ai-input` and `ai-train` to `allowed`, `disallowed` or `unknown`; equal to such a dict.

    If any statement disallows a use, it is disallowed; else if any allows it, it is allowed; else it is unknown. No
    specification gives a default for unknown, and neither does goodbot. Source: draft-ietf-aipref-vocab-07, "Combining
    Preferences".
    """

    __slots__ = ("_values", "licenses", "reasons", "sources", "tdm_policy")

    def __init__(
        self, sources: Iterable[PreferenceSource] = (), licenses: Iterable[str] = (), tdm_policy: str | None = None
    ) -> None:
        self.sources = tuple(sources)
        """Every statement that was found, also those that do not count, in order: robots.txt, HTTP Content-Usage, HTTP
        Content-Signal, noai, TDMRep."""
        self.licenses = tuple(dict.fromkeys(licenses))
        """URLs of licenses (RSL), each once, as written: from the License records, then from the Link fields."""
        self.tdm_policy = tdm_policy
        """The URL of the policy for a TDM reservation, as written, or None."""
        by_use = {use: [source for source in self.sources if source.use == use] for use in USES}
        self._values: dict[str, str] = {use: _combined(stated) for use, stated in by_use.items()}
        self.reasons: Mapping[str, str] = {use: _reason(use, stated) for use, stated in by_use.items()}
        """One sentence per use: the statement that decides, and why it does."""

    def __getitem__(self, use: str) -> str:
        return self._values[use]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __repr__(self) -> str:
        return f"Preferences({self._values})"


def _combined(stated: Iterable[PreferenceSource]) -> Preference:
    values = {source.value for source in stated}
    return "disallowed" if "disallowed" in values else "allowed" if "allowed" in values else "unknown"


def _reason(use: Use, stated: list[PreferenceSource]) -> str:
    value = _combined(stated)
    deciding = [source for source in stated if source.value == value]
    if not deciding:
        return f"No statement about {use} was found."
    first, *others = deciding
    if value == "unknown":
        return f"{first} says nothing about {use}: {first.note}."
    named = f"{first} and {len(others)} more" if others else str(first)
    plural = "" if others else "s"
    if value == "disallowed":
        return f"{named} disallow{plural} {use}, which outweighs any statement that allows it ({VOCABULARY})."
    return f"{named} allow{plural} {use}, and no statement disallows it ({VOCABULARY})."
