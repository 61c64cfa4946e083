"""The other records (RFC 9309 §2.2.4): what a robots.txt says beside rules, and beside when to come (`timing`).

Each function takes records and gives the values that say something, in the order of the file. Nothing is raised.
"""

from collections.abc import Iterable
from typing import Final

from goodbot.exclusion.uses.preferences import USE_LEVELS
from goodbot.exclusion.verdict import Record

OUTSIDE_GROUPS: Final = frozenset({"license", "host", "clean-param"})
"""Fields of the whole file, which mean the same wherever they stand. Sitemap is one too, and read with the groups."""

CLEAN_PARAM_CHARS: Final = 500
"""How long the value of a Clean-param may be."""

_SIGNALS: Final = frozenset({"search", "ai-input", "ai-train"})

_STRICTEST: Final = {level: rank for rank, level in enumerate(USE_LEVELS)}


def values_of(records: Iterable[Record], field: str) -> list[str]:
    """The values of one field, as written; empty ones say nothing."""
    return [value for _, name, value in records if name == field and value]


def outside_groups(records: Iterable[Record]) -> dict[str, list[str]]:
    """The values of the fields that belong to no group, by field."""
    found: dict[str, list[str]] = {field: [] for field in OUTSIDE_GROUPS}
    for _, field, value in records:
        if value and field in OUTSIDE_GROUPS:
            found[field].append(value)
    return found


def parse_clean_param(value: str) -> tuple[tuple[str, ...], str] | None:
    """Names of parameters that do not change the page, and the path prefix they hold for, as written (none: "").

    `p0[&p1&..&pn] [path]` (Yandex); names keep their case, empty ones are dropped. None for a value without a name or
    of more than 500 characters.
    """
    if len(value) > CLEAN_PARAM_CHARS:
        return None
    written, *path = value.split(maxsplit=1) or [""]
    names = tuple(name for name in written.split("&") if name)
    return (names, "".join(path)) if names else None


def content_signals(values: Iterable[str]) -> dict[str, str]:
    """The signals on Content-Signal lines (`search=yes, ai-train=no`), keys and values in lower case, others kept.

    Of equal keys the last counts; but no later value overrides a `no` to search, ai-input or ai-train, and of several
    `use` the strictest counts (our reading). A part without key, `=` or value says nothing. Source: contentsignals.org.
    """
    signals: dict[str, str] = {}
    for part in ",".join(values).split(","):
        written, equals, said = part.partition("=")
        if not equals:
            continue
        key, said = written.strip().lower(), said.strip().lower()
        if key and said and not _is_stricter(key, signals.get(key), said):
            signals[key] = said
    return signals


def _is_stricter(key: str, known: str | None, said: str) -> bool:
    """Whether what is `known` of a signal outweighs what is `said` later."""
    if key == "use" and known in _STRICTEST:
        return _STRICTEST[known] < _STRICTEST.get(said, len(_STRICTEST))
    return key in _SIGNALS and known == "no"
