"""Finds out whether text and data mining is reserved, and by which policy: TDMRep, the TDM Reservation Protocol (W3C
community group report), in META, HTTP fields and /.well-known/tdmrep.json.
"""

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from goodbot.exclusion.text.octets import compared_pattern, compared_target
from goodbot.exclusion.text.patterns import Cut, RuleTable, Shape
from goodbot.exclusion.text.shown_text import shown
from goodbot.exclusion.uses.preferences import Preference, PreferenceSource, Use

TDM: Final = "TDMRep"
TDM_LIMIT_BYTES: Final = 500 * 1024
"""Our choice: a larger tdmrep.json has no rules. The same limit as for robots.txt."""
TDM_RULES: Final = 10_000
"""Our choice: how many entries of the file count."""

_USES: Final[tuple[Use, ...]] = ("ai-input", "ai-train")
_RESERVATION, _POLICY = "tdm-reservation", "tdm-policy"
_VALUES: Final[dict[str, Preference]] = {"0": "allowed", "1": "disallowed"}


@dataclass(frozen=True, slots=True)
class TdmRule:
    """One entry of tdmrep.json: a path pattern, whether mining is `reserved` (None: unset), and the URL of the policy
    or None."""

    location: str
    reserved: bool | None
    policy: str | None


@dataclass(frozen=True, slots=True)
class TdmRules:
    """The rules of a tdmrep.json. The first one that matches a URL counts."""

    rules: tuple[TdmRule, ...] = ()
    _table: RuleTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_table", RuleTable([_shape(rule.location) for rule in self.rules]))

    @classmethod
    def parse(cls, body: bytes | str) -> "TdmRules":
        """Parses a file: an array of objects with `location`, `tdm-reservation` and, optionally, `tdm-policy`.

        Never raises: a file that is not JSON, not an array, or over 500 KiB (of a str: characters) has no rules; an
        entry without a location is ignored. The first 10,000 entries count. Linear.
        """
        entries = _parse_json(body) if len(body) <= TDM_LIMIT_BYTES else None
        rules = map(_parse_rule, entries[:TDM_RULES] if isinstance(entries, list) else ())
        return cls(tuple(rule for rule in rules if rule is not None))

    def find(self, url: str) -> TdmRule | None:
        """Returns the rule for a URL (absolute, or a path), or None.

        A location is a prefix of path and query, compared as in RFC 9309 §2.2.2: `*` matches any run of octets, `$` at
        its end matches the end.
        """
        rank = self._table.best(compared_target(url))
        return self.rules[rank] if rank < len(self.rules) else None


def _shape(location: str) -> Shape:
    plain, encoded = compared_pattern(location)
    return Shape(Cut.wildcards(plain), Cut.wildcards(encoded), 0)


def _parse_json(body: bytes | str) -> Any:
    """Returns None if the text is no valid JSON, nests too deep, or contains NaN or numbers of too many digits."""
    try:
        return json.loads(body.removeprefix("\ufeff") if isinstance(body, str) else body, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(constant: str) -> None:
    raise ValueError(constant)


def _parse_rule(entry: Any) -> TdmRule | None:
    if not isinstance(entry, dict):
        return None
    location, value, policy = entry.get("location"), entry.get(_RESERVATION), entry.get(_POLICY)
    if not isinstance(location, str) or not location:
        return None
    reserved = bool(value) if type(value) is int and value in (0, 1) else None
    return TdmRule(location, reserved, policy.strip() or None if isinstance(policy, str) else None)


# ---- All three places together --------------------------------------------------------------------------------------


class Reservation(NamedTuple):
    """What the three places say about AI input and AI training, and the policy that counts."""

    sources: tuple[PreferenceSource, ...]
    policy: str | None


class _Level(NamedTuple):
    """What one place says: its statements (as written, with their meaning; None: unset), and the policy."""

    origin: str
    statements: tuple[tuple[str, Preference | None], ...]
    policy: str | None

    @property
    def is_set(self) -> bool:
        return any(value for _, value in self.statements)

    @property
    def is_open(self) -> bool:
        """Whether nothing is reserved; then a policy is ignored."""
        values = {value for _, value in self.statements}
        return "allowed" in values and "disallowed" not in values


def read_tdm(
    url: str, headers: Iterable[tuple[str, str]], metas: Iterable[tuple[str, str]], rules: TdmRules | None
) -> Reservation:
    """Reads all three places. Each property comes from the first place that sets it: META, HTTP fields, the file."""
    levels = (_from_pairs("META", metas), _from_pairs("HTTP field", headers), _from_rules(rules, url))
    counts = next((level for level in levels if level.is_set), None)
    sources = tuple(source for level in levels for source in _sources(level, counts))
    if counts is not None and counts.is_open:
        return Reservation(sources, None)
    return Reservation(sources, next((level.policy for level in levels if level.policy and not level.is_open), None))


def _from_pairs(place: str, pairs: Iterable[tuple[str, str]]) -> _Level:
    statements: list[tuple[str, Preference | None]] = []
    policies: list[str] = []
    for written_name, value in pairs:
        name = written_name.strip().lower()
        if name == _RESERVATION:
            statements += _statements_in(value)
        elif name == _POLICY and value.strip():
            policies.append(value.strip())
    return _Level(f"{place} {_RESERVATION}", tuple(dict.fromkeys(statements)), policies[0] if policies else None)


def _statements_in(value: str) -> Iterator[tuple[str, Preference | None]]:
    """Yields the statements in one value; several fields may have been joined with commas."""
    known = [part for part in dict.fromkeys(part.strip() for part in value.split(",")) if part in _VALUES]
    for part in known or [value.strip()]:
        yield f"{_RESERVATION}: {part}", _VALUES.get(part)


def _from_rules(rules: TdmRules | None, url: str) -> _Level:
    rule = rules.find(url) if rules else None
    if rule is None:
        return _Level("tdmrep.json", (), None)
    written = "unset" if rule.reserved is None else str(int(rule.reserved))
    return _Level("tdmrep.json", ((f"{rule.location} {_RESERVATION}: {written}", _VALUES.get(written)),), rule.policy)


def _sources(level: _Level, counts: _Level | None) -> Iterator[PreferenceSource]:
    for text, stated in level.statements:
        value: Preference = "unknown"
        if stated is None:
            note = "its value is neither 0 nor 1"
        elif counts is not None and level is not counts:
            note = f"{counts.origin} takes precedence"
        else:
            value, note = stated, ""
        for use in _USES:
            yield PreferenceSource(use, value, level.origin, None, shown(text), TDM, note)
