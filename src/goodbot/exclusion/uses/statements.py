"""Whatever states a preference on a page's content → Preferences: robots.txt, HTTP fields, META, tdmrep.json."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from goodbot.exclusion.page.directives import Directives
from goodbot.exclusion.text.octets import compared_pattern, compared_target
from goodbot.exclusion.text.patterns import Cut, RuleTable, Shape
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.uses.licenses import linked_licenses
from goodbot.exclusion.uses.preferences import USE_LEVELS, VOCABULARY, Preference, Preferences, PreferenceSource, Use
from goodbot.exclusion.uses.structured_fields import Member, parse_dictionary
from goodbot.exclusion.uses.tdm import TdmRules, read_tdm
from goodbot.exclusion.verdict import Record

ATTACHMENT: Final = "draft-ietf-aipref-attach-05"
CONTENT_SIGNALS: Final = "contentsignals.org"
NOAI: Final = "noai"

USAGE_LIMIT_CHARS: Final = 64 * 1024
"""Our choice: longer preferences are not read, as if they were no dictionary."""

_LABELS: Final[dict[str, Use]] = {"train-ai": "ai-train", "search": "search"}
_SIGNALS: Final[dict[str, Use]] = {"search": "search", "ai-input": "ai-input", "ai-train": "ai-train"}
_USAGES: Final[dict[Member, Preference]] = {Member("token", "y"): "allowed", Member("token", "n"): "disallowed"}
_ANSWERS: Final[dict[str, Preference]] = {"yes": "allowed", "no": "disallowed"}

_BLANKS = " \t"


class StatementPlace(NamedTuple):
    """Where a statement stands, and as what."""

    origin: str
    line: int | None
    text: str
    section: str

    def states(self, use: Use, value: Preference, note: str = "") -> PreferenceSource:
        return PreferenceSource(use, value, *self, note)


class Usage(NamedTuple):
    """The value of a Content-Usage record: a path pattern (none: ""), and the preferences behind it."""

    path: str
    preferences: str

    @classmethod
    def parse(cls, value: str) -> "Usage":
        """A path begins with `/` and ends at the first blank or tab."""
        if not value.startswith("/"):
            return cls("", value)
        path = value.replace("\t", " ").partition(" ")[0]
        return cls(path, value[len(path) :].strip(_BLANKS))


def read_preferences(
    url: str,
    agent: str,
    records: Iterable[Record],
    allows: Callable[[str], bool],
    licenses: Iterable[str],
    headers: Iterable[tuple[str, str]],
    metas: Iterable[tuple[str, str]],
    tdm: TdmRules | None,
) -> Preferences:
    """All of it together. `records` are those that count for `agent`, `allows` is what its rules say of a URL."""
    headers, metas = tuple(headers), tuple(metas)
    reservation = read_tdm(url, headers, metas, tdm)
    return Preferences(
        [
            *_of_robots_txt(url, list(records), allows),
            *_of_usage_field(headers),
            *_of_noai(metas, headers, agent),
            *reservation.sources,
        ],
        [*licenses, *linked_licenses(headers)],
        reservation.policy,
    )


# ---- robots.txt -----------------------------------------------------------------------------------------------------


def _of_robots_txt(url: str, records: Sequence[Record], allows: Callable[[str], bool]) -> Iterator[PreferenceSource]:
    usages = {line: Usage.parse(value) for line, field, value in records if field == "content-usage"}
    notes = _notes(url, {usage.path for usage in usages.values()}, allows) if usages else {}
    for line, field, value in records:
        if field == "content-signal":
            yield from _signals(
                value, StatementPlace("robots.txt", line, shown(f"Content-Signal: {value}"), CONTENT_SIGNALS)
            )
        elif line in usages and (usage := usages[line]).path in notes:
            place = StatementPlace("robots.txt", line, shown(f"Content-Usage: {value}"), ATTACHMENT)
            yield from _usages(usage.preferences, place, notes[usage.path])


def _signals(value: str, place: StatementPlace) -> Iterator[PreferenceSource]:
    """`key=yes` and `key=no`, separated by commas, in any case, and `use=LEVEL`; other keys state nothing here."""
    stated: dict[tuple[Use, Preference, str], None] = {}
    for part in value.lower().split(","):
        key, said = (text.strip(_BLANKS) for text in part.partition("=")[::2])
        use = _SIGNALS.get(key)
        if use:
            answer = _ANSWERS.get(said, "unknown")
            stated[use, answer, "its value is neither yes nor no" if answer == "unknown" else ""] = None
        elif key == "use":
            stated["ai-input", "unknown", _level(said)] = None
    for use, answer, note in stated:
        yield place.states(use, answer, note)


def _level(said: str) -> str:
    """What `use` says. It says how AI systems may consume the content, not whether they may."""
    if said not in USE_LEVELS:
        return f"its use is none of {', '.join(USE_LEVELS)}"
    how_far = f"use={said} says how far the content may be used ({USE_LEVELS[said]})"
    return f"{how_far}; it neither allows nor disallows AI input"


def _notes(url: str, paths: Iterable[str], allows: Callable[[str], bool]) -> dict[str, str]:
    """The paths that match, each with why it does not count, or "".

    The longest counts, compared as RFC 9309 §2.2.2 does, whatever the dialect; equally long ones count together.
    """
    compared = [(path, compared_pattern(path)) for path in paths]
    table = RuleTable([Shape(Cut.wildcards(plain), Cut.wildcards(encoded), 0) for _, (plain, encoded) in compared])
    matching = [compared[rank] for rank in table.all(compared_target(url))]
    if not allows(url):
        return {
            path: "robots.txt closes the URL to this robot, and so states no preference on it" for path, _ in matching
        }
    longest = max((len(encoded) for _, (_, encoded) in matching), default=0)
    return {path: "" if len(encoded) == longest else "a longer path counts" for path, (_, encoded) in matching}


# ---- HTTP fields and META -------------------------------------------------------------------------------------------


def _of_usage_field(headers: Iterable[tuple[str, str]]) -> Iterator[PreferenceSource]:
    """Several fields are one dictionary (RFC 9651 §4.2); an empty one says nothing."""
    values = [value.strip(_BLANKS) for name, value in headers if name.strip().lower() == "content-usage"]
    joined = ", ".join(filter(None, values))
    yield from _usages(
        joined, StatementPlace("HTTP field Content-Usage", None, shown(f"Content-Usage: {joined}"), ATTACHMENT)
    )


def _usages(preferences: str, place: StatementPlace, note: str = "") -> Iterator[PreferenceSource]:
    """What a dictionary of preferences states; `note`: why it does not count."""
    members = parse_dictionary(preferences) if len(preferences) <= USAGE_LIMIT_CHARS else None
    if members is None:
        place = place._replace(section=VOCABULARY)
    for label, use in _LABELS.items():
        if members is None:
            yield place.states(use, "unknown", note or "it is no dictionary of RFC 9651 that can be read")
        elif label in members:
            value = _USAGES.get(members[label], "unknown")
            why = note or ("its value is neither y nor n" if value == "unknown" else "")
            yield place.states(use, "unknown" if note else value, why)


def _of_noai(
    metas: Iterable[tuple[str, str]], headers: Iterable[tuple[str, str]], agent: str
) -> Iterator[PreferenceSource]:
    for source in Directives.parse(metas, headers, agent).why("ai"):
        yield StatementPlace(source.origin, None, shown(source.directive), NOAI).states("ai-train", "disallowed")
