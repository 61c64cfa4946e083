"""TDMRep, the TDM Reservation Protocol: META, HTTP fields and /.well-known/tdmrep.json → is text and data mining
reserved, and by what policy? (W3C community group report.)"""

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
"""Our choice: a tdmrep.json beyond this gives no rules. As much as is read of a robots.txt."""
TDM_RULES: Final = 10_000
"""Our choice: how many rules count."""

_USES: Final[tuple[Use, ...]] = ("ai-input", "ai-train")
_RESERVATION, _POLICY = "tdm-reservation", "tdm-policy"
_VALUES: Final[dict[str, Preference]] = {"0": "allowed", "1": "disallowed"}


@dataclass(frozen=True, slots=True)
class TdmRule:
    """One entry of tdmrep.json: a path pattern, `reserved` (None: unset), and the URL of the policy or None."""

    location: str
    reserved: bool | None
    policy: str | None


@dataclass(frozen=True, slots=True)
class TdmRules:
    """A tdmrep.json. The first rule in order that matches a URL counts."""

    rules: tuple[TdmRule, ...] = ()
    _table: RuleTable = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_table", RuleTable([_shape(rule.location) for rule in self.rules]))

    @classmethod
    def parse(cls, body: bytes | str) -> "TdmRules":
        """The rules of a file: an array of objects with `location` and `tdm-reservation`, `tdm-policy` if they like.

        Never raises: what is no JSON, no array, or over 500 KiB (of a str: characters) holds no rules, and an entry
        without a location is none. The first 10,000 count. Linear.
        """
        entries = _parse_json(body) if len(body) <= TDM_LIMIT_BYTES else None
        rules = map(_parse_rule, entries[:TDM_RULES] if isinstance(entries, list) else ())
        return cls(tuple(rule for rule in rules if rule is not None))

    def find(self, url: str) -> TdmRule | None:
        """The rule for a URL (absolute, or a path), or None.

        A location is a prefix of path and query, in which `*` is any run and `$` at its end the end, compared as in
        RFC 9309 §2.2.2.
        """
        rank = self._table.best(compared_target(url))
        return self.rules[rank] if rank < len(self.rules) else None


def _shape(location: str) -> Shape:
    plain, encoded = compared_pattern(location)
    return Shape(Cut.wildcards(plain), Cut.wildcards(encoded), 0)


def _parse_json(body: bytes | str) -> Any:
    """None if it is none; depth, numbers of many digits and NaN count as damage."""
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
    """What the three places state on AI input and AI training, and the policy that counts."""

    sources: tuple[PreferenceSource, ...]
    policy: str | None


class _Level(NamedTuple):
    """What one place says: statements (as written, and what they mean; None: unset), and the policy."""

    origin: str
    statements: tuple[tuple[str, Preference | None], ...]
    policy: str | None

    @property
    def is_set(self) -> bool:
        return any(value for _, value in self.statements)

    @property
    def is_open(self) -> bool:
        """Not reserved: a policy is ignored."""
        values = {value for _, value in self.statements}
        return "allowed" in values and "disallowed" not in values


def read_tdm(
    url: str, headers: Iterable[tuple[str, str]], metas: Iterable[tuple[str, str]], rules: TdmRules | None
) -> Reservation:
    """The document's own META, else the HTTP fields, else the file: of each property the first place that sets it."""
    levels = (_of_pairs("META", metas), _of_pairs("HTTP field", headers), _of_rules(rules, url))
    counts = next((level for level in levels if level.is_set), None)
    sources = tuple(source for level in levels for source in _sources(level, counts))
    if counts is not None and counts.is_open:
        return Reservation(sources, None)
    return Reservation(sources, next((level.policy for level in levels if level.policy and not level.is_open), None))


def _of_pairs(place: str, pairs: Iterable[tuple[str, str]]) -> _Level:
    statements: list[tuple[str, Preference | None]] = []
    policies: list[str] = []
    for written_name, value in pairs:
        name = written_name.strip().lower()
        if name == _RESERVATION:
            statements += _stated(value)
        elif name == _POLICY and value.strip():
            policies.append(value.strip())
    return _Level(f"{place} {_RESERVATION}", tuple(dict.fromkeys(statements)), policies[0] if policies else None)


def _stated(value: str) -> Iterator[tuple[str, Preference | None]]:
    """Several fields may have been joined by commas."""
    known = [part for part in dict.fromkeys(part.strip() for part in value.split(",")) if part in _VALUES]
    for part in known or [value.strip()]:
        yield f"{_RESERVATION}: {part}", _VALUES.get(part)


def _of_rules(rules: TdmRules | None, url: str) -> _Level:
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
            note = f"{counts.origin} comes before it"
        else:
            value, note = stated, ""
        for use in _USES:
            yield PreferenceSource(use, value, level.origin, None, shown(text), TDM, note)
