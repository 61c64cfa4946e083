"""Finds all statements on what a page's content may be used for: in robots.txt, HTTP fields, META and tdmrep.json."""

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
"""Our choice: longer preferences are not read; they count as an invalid dictionary."""

_LABELS: Final[dict[str, Use]] = {"train-ai": "ai-train", "search": "search"}
_SIGNALS: Final[dict[str, Use]] = {"search": "search", "ai-input": "ai-input", "ai-train": "ai-train"}
_USAGES: Final[dict[Member, Preference]] = {Member("token", "y"): "allowed", Member("token", "n"): "disallowed"}
_ANSWERS: Final[dict[str, Preference]] = {"yes": "allowed", "no": "disallowed"}

_SPACES = " \t"


class StatementPlace(NamedTuple):
    """Where a statement was found, and its text."""

    origin: str
    line: int | None
    text: str
    section: str

    def states(self, use: Use, value: Preference, note: str = "") -> PreferenceSource:
        return PreferenceSource(use, value, *self, note)


class Usage(NamedTuple):
    """The value of a Content-Usage record: a path pattern ("" if there is none), and the preferences after it."""

    path: str
    preferences: str

    @classmethod
    def parse(cls, value: str) -> "Usage":
        """Splits a value: a path begins with `/` and ends at the first space or tab."""
        if not value.startswith("/"):
            return cls("", value)
        path = value.replace("\t", " ").partition(" ")[0]
        return cls(path, value[len(path) :].strip(_SPACES))


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
    """Reads all statements. `records` are those that apply to `agent`, `allows` says whether it may fetch a URL."""
    headers, metas = tuple(headers), tuple(metas)
    reservation = read_tdm(url, headers, metas, tdm)
    return Preferences(
        [
            *_from_robots_txt(url, list(records), allows),
            *_from_usage_field(headers),
            *_from_signal_field(headers),
            *_from_noai(metas, headers, agent),
            *reservation.sources,
        ],
        [*licenses, *linked_licenses(headers)],
        reservation.policy,
    )


# ---- robots.txt -----------------------------------------------------------------------------------------------------


def _from_robots_txt(url: str, records: Sequence[Record], allows: Callable[[str], bool]) -> Iterator[PreferenceSource]:
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
    """Yields statements from `key=yes` and `key=no`, separated by commas, in any case, and from `use=LEVEL`; ignores
    other keys."""
    stated: dict[tuple[Use, Preference, str], None] = {}
    for part in value.lower().split(","):
        key, value_text = (text.strip(_SPACES) for text in part.partition("=")[::2])
        use = _SIGNALS.get(key)
        if use:
            answer = _ANSWERS.get(value_text, "unknown")
            stated[use, answer, "its value is neither yes nor no" if answer == "unknown" else ""] = None
        elif key == "use":
            stated["ai-input", "unknown", _note_on_level(value_text)] = None
    for use, answer, note in stated:
        yield place.states(use, answer, note)


def _note_on_level(level: str) -> str:
    """Explains a value of `use`, which says how AI systems may use the content, not whether they may."""
    if level not in USE_LEVELS:
        return f"its use is none of {', '.join(USE_LEVELS)}"
    how_far = f"use={level} says how far the content may be used ({USE_LEVELS[level]})"
    return f"{how_far}; it neither allows nor disallows AI input"


def _notes(url: str, paths: Iterable[str], allows: Callable[[str], bool]) -> dict[str, str]:
    """Returns the paths that match, each with the reason why it does not count, or "" if it does.

    In every dialect paths are compared as in RFC 9309 §2.2.2. The longest one counts; equally long ones count together.
    """
    compared = [(path, compared_pattern(path)) for path in paths]
    table = RuleTable([Shape(Cut.wildcards(plain), Cut.wildcards(encoded), 0) for _, (plain, encoded) in compared])
    matching = [compared[rank] for rank in table.all(compared_target(url))]
    if not allows(url):
        return {
            path: "robots.txt disallows the URL for this robot, so the statement does not apply to it"
            for path, _ in matching
        }
    longest = max((len(encoded) for _, (_, encoded) in matching), default=0)
    return {path: "" if len(encoded) == longest else "a longer path counts" for path, (_, encoded) in matching}


# ---- HTTP fields and META -------------------------------------------------------------------------------------------


def _from_usage_field(headers: Iterable[tuple[str, str]]) -> Iterator[PreferenceSource]:
    """Yields the statements of all Content-Usage fields, which form one dictionary (RFC 9651 §4.2); skips empty
    fields."""
    joined = _joined(headers, "content-usage")
    yield from _usages(
        joined, StatementPlace("HTTP field Content-Usage", None, shown(f"Content-Usage: {joined}"), ATTACHMENT)
    )


def _from_signal_field(headers: Iterable[tuple[str, str]]) -> Iterator[PreferenceSource]:
    """Yields the statements of all Content-Signal fields together."""
    joined = _joined(headers, "content-signal")
    place = StatementPlace("HTTP field Content-Signal", None, shown(f"Content-Signal: {joined}"), CONTENT_SIGNALS)
    yield from _signals(joined, place)


def _joined(headers: Iterable[tuple[str, str]], field: str) -> str:
    values = [value.strip(_SPACES) for name, value in headers if name.strip().lower() == field]
    return ", ".join(filter(None, values))


def _usages(preferences: str, place: StatementPlace, note: str = "") -> Iterator[PreferenceSource]:
    """Yields the statements in a dictionary of preferences. `note` says why they do not count, if they do not."""
    members = parse_dictionary(preferences) if len(preferences) <= USAGE_LIMIT_CHARS else None
    if members is None:
        place = place._replace(section=VOCABULARY)
    for label, use in _LABELS.items():
        if members is None:
            yield place.states(use, "unknown", note or "it is not a valid dictionary of RFC 9651")
        elif label in members:
            value = _USAGES.get(members[label], "unknown")
            reason = note or ("its value is neither y nor n" if value == "unknown" else "")
            yield place.states(use, "unknown" if note else value, reason)


def _from_noai(
    metas: Iterable[tuple[str, str]], headers: Iterable[tuple[str, str]], agent: str
) -> Iterator[PreferenceSource]:
    for source in Directives.parse(metas, headers, agent).why("ai"):
        yield StatementPlace(source.origin, None, shown(source.directive), NOAI).states("ai-train", "disallowed")
