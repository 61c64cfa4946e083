"""Reads the conditions that documents must meet: the values of `site:`, `filetype:`, `lang:`, `before:`, `after:` and
`link:`. Pure."""

import re
from dataclasses import replace
from datetime import date
from types import MappingProxyType
from typing import Final

from goodbot.errors import InputError
from goodbot.index.keys import WRITTEN_ALIKE
from goodbot.index.query_values import Filter, FilterName, ParsedQuery
from goodbot.search_values import Filters
from goodbot.url import parse_url

EXAMPLES: Final = MappingProxyType(
    {
        "site": ("a host", "example.org"),
        "filetype": ("a type", "pdf"),
        "lang": ("a language", "de"),
        "before": ("a date", "2024-05-01"),
        "after": ("a date", "2024-05-01"),
        "link": ("a URL", "https://example.org/"),
    }
)
"""What the value of a condition is, and an example."""
MAX_VALUE_CHARS: Final = 2_000
"""The limit for a condition that is not part of a query."""

SPACES: Final = r"\t-\r\x1c- \x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000"
"""The characters that `str.strip` removes, for a class of a regular expression: `\\s` means others in ECMA-262."""
_NAME: Final = rf"[^{SPACES}\x00-,./:-@\[-^`{{-\x7f][^{SPACES}\x00-,/:-@\[-^`{{-\x7f]*"
SITE: Final = rf"([Hh][Tt]{{2}}[Pp][Ss]?://)?(\*?\.)?({_NAME}|\[[0-9A-Fa-f:.]+\])(:[0-9]{{1,5}})?([/?#][\s\S]*)?"
"""Describes the values of `site:`, as a regular expression without anchors: a host, perhaps as part of a URL."""
_SITE = re.compile(SITE)
_EXTENSION = re.compile(r"\.?([a-z0-9]{1,10})|([a-z]+/[a-z0-9.+-]{1,60})", re.IGNORECASE)
_LANGUAGE = re.compile(r"[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*", re.IGNORECASE)
_DATE = re.compile(r"(\d{4})(?:[-/.](\d{1,2})(?:[-/.](\d{1,2}))?)?(?:T.*)?")
_COMPACT_DATE = re.compile(r"(\d{4})(\d\d)(\d\d)")


def read_filters(filters: Filters) -> tuple[Filter, ...]:
    """Returns the conditions. Raises InputError for a value that cannot be used."""
    given: tuple[tuple[FilterName, str], ...] = (
        ("site", filters.site),
        ("lang", filters.language),
        ("filetype", filters.filetype),
        ("after", filters.after),
        ("before", filters.before),
    )
    return tuple([_required(name, value) for name, value in given if value.strip()])


def _required(name: FilterName, value: str) -> Filter:
    found = filter_of(name, value) if len(value) <= MAX_VALUE_CHARS else None
    if found is None:
        what, example = EXAMPLES[name]
        raise InputError(f"{name}: needs {what}, such as {example}")
    return found


def with_filters(parsed: ParsedQuery, filters: tuple[Filter, ...]) -> ParsedQuery:
    """Returns the query with further conditions."""
    if not filters:
        return parsed
    return replace(parsed, root=replace(parsed.root, required=(*parsed.root.required, *filters)))


def filter_of(name: str, value: str) -> Filter | None:
    """Returns a condition, or None if its value cannot be used."""
    value = value.strip()
    match name:
        case "site":
            host = _site(value)
            return Filter("site", host) if host else None
        case "filetype":
            found = _EXTENSION.fullmatch(value)
            return Filter("filetype", (found[1] or found[2]).lower()) if found else None
        case "lang":
            code = value.lower().replace("_", "-")
            return Filter("lang", WRITTEN_ALIKE.get(code, code)) if _LANGUAGE.fullmatch(value) else None
        case "link":
            url = parse_url(value if "://" in value else f"http://{value}") if value else None
            return Filter("link", url.text.partition("#")[0]) if url else None
        case "before" | "after":
            day = _day(value)
            return Filter("before" if name == "before" else "after", day) if day else None
    return None


def _site(value: str) -> str | None:
    """Returns the host (and port) of `example.org`, `*.example.org`, `example.org:8020` or a whole URL. A host that no
    server can have stays as it is: no document has it."""
    found = _SITE.fullmatch(value)
    if found is None:
        return None
    authority = f"{found[3]}{found[4] or ''}"
    parsed = parse_url(f"{found[1] or 'http://'}{authority}/")
    host = parsed.host.rstrip(".") if parsed is not None else ""
    if parsed is None or not host:
        return authority.lower()
    return host if parsed.authority.strip("[]").rstrip(".") == host else parsed.authority


def _day(value: str) -> str | None:
    """Returns the first day of a year, a month or a day, as YYYY-MM-DD."""
    found = _DATE.fullmatch(value) or _COMPACT_DATE.fullmatch(value)
    if found is None:
        return None
    try:
        return date(int(found[1]), int(found[2] or 1), int(found[3] or 1)).isoformat()
    except ValueError:
        return None
