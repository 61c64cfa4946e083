"""Reads the other records of a robots.txt (RFC 9309 §2.2.4), except those about timing, which `timing` reads.

Each function takes records and returns their meaningful values in the order of the file. None raises.
"""

from collections.abc import Callable, Iterable
from typing import Final

from goodbot.exclusion.uses.preferences import USE_LEVELS
from goodbot.exclusion.verdict import Record

CLEAN_PARAM_CHARS: Final = 500
"""The longest value of a Clean-param that is read, in characters."""

_SIGNALS: Final = frozenset({"search", "ai-input", "ai-train"})

_STRICTNESS: Final = {level: rank for rank, level in enumerate(USE_LEVELS)}


def values_of(records: Iterable[Record], field: str) -> list[str]:
    """Returns the values of one field, as written, without empty ones."""
    return [value for _, name, value in records if name == field and value]


def by_reading(read: Callable[[bytes | str], Iterable[Record]]) -> Callable[[bytes | str, str], list[str]]:
    """Returns a function that finds the values of a field in a whole robots.txt, as `read` reads it."""
    return lambda body, field: values_of(read(body), field)


def parse_clean_param(value: str) -> tuple[tuple[str, ...], str] | None:
    """Returns the names of parameters that do not change the page, and the path prefix for which this holds, as written
    (none: "").

    The form is `p0[&p1&..&pn] [path]` (Yandex); names keep their case, empty names are dropped. Returns None for a
    value without a name or of more than 500 characters.
    """
    if len(value) > CLEAN_PARAM_CHARS:
        return None
    written, *path = value.split(maxsplit=1) or [""]
    names = tuple(name for name in written.split("&") if name)
    return (names, "".join(path)) if names else None


def content_signals(values: Iterable[str]) -> dict[str, str]:
    """Returns the signals on Content-Signal lines (`search=yes, ai-train=no`), keys and values in lower case, unknown
    keys included.

    Of equal keys the last counts, but no later value overrides a `no` to search, ai-input or ai-train, and of several
    `use` the strictest counts (our reading). A part without key, `=` or value is ignored. Source: contentsignals.org.
    """
    signals: dict[str, str] = {}
    for part in ",".join(values).split(","):
        key, equals, value = (text.strip().lower() for text in part.partition("="))
        if equals and key and value and not _is_stricter(key, signals.get(key), value):
            signals[key] = value
    return signals


def _is_stricter(key: str, known: str | None, later: str) -> bool:
    """Whether the `known` value of a signal outweighs a `later` one."""
    if key == "use" and known in _STRICTNESS:
        return _STRICTNESS[known] < _STRICTNESS.get(later, len(_STRICTNESS))
    return key in _SIGNALS and known == "no"
