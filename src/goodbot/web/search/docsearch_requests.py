"""Reads the searches that DocSearch sends, the search box of many documentation sites: the body of Algolia's
`POST /1/indexes/*/queries` (https://www.algolia.com/doc/rest-api/search/). Pure."""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import parse_qsl

from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import unicode_only

MAX_BODY_BYTES: Final = 64 * 1024
MAX_SEARCHES: Final = 5
"""Maximum number of searches per request; DocSearch sends one for each of its `indices`."""
HITS_PER_PAGE: Final = 20
MAX_HITS_PER_PAGE: Final = 40
MAX_TAG_CHARS: Final = 100
_LANGUAGE: Final = re.compile(r"lang(?:uage)?:([A-Za-z]{2,3}(?:[-_][A-Za-z0-9]{2,8})*)")
_DIGITS: Final = re.compile("[0-9]{1,9}")
_MAX_PARAMETERS: Final = 100
_NUMBERS: Final[tuple[str, ...]] = ("page", "hitsPerPage")
_TEXTS: Final[tuple[str, ...]] = ("query", "facetFilters")
_TAGS: Final[tuple[str, ...]] = ("highlightPreTag", "highlightPostTag")


@dataclass(frozen=True, slots=True)
class Asked:
    """One search. `index` is the name that the answer repeats. `page` counts from 0, `hits` is how many a page may
    have. `before` and `after` surround highlighted words. `language` is a filter, empty for all languages."""

    index: str
    query: str
    page: int = 0
    hits: int = HITS_PER_PAGE
    before: str = "<em>"
    after: str = "</em>"
    language: str = ""


def parse_searches(body: bytes) -> list[Asked]:
    """Reads a body. Its `requests` have the parameters as keys (DocSearch 3 and later), or encoded as in a URL in
    `params` (DocSearch 2); goodbot ignores all those that `Asked` does not have. Raises InputError if the body is not
    what Algolia's clients send, or has more than `MAX_SEARCHES` requests."""
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise InputError("the data sent is not valid JSON") from error
    requests = value.get("requests") if isinstance(value, dict) else None
    if not (isinstance(requests, list) and 1 <= len(requests) <= MAX_SEARCHES):
        raise InputError(f"send an object with requests, a list of 1 to {MAX_SEARCHES} searches")
    return [_asked(request) for request in requests]


def _asked(request: Any) -> Asked:
    if not (isinstance(request, dict) and isinstance(request.get("indexName"), str)):
        raise InputError("each request must be an object with indexName, a string")
    given = {**request, **_encoded(request.get("params"))}
    return Asked(
        index=unicode_only(request["indexName"]),
        query=_text(given, "query", "", None),
        page=_number(given, "page", 0),
        hits=min(_number(given, "hitsPerPage", HITS_PER_PAGE), MAX_HITS_PER_PAGE),
        before=_text(given, "highlightPreTag", "<em>", MAX_TAG_CHARS),
        after=_text(given, "highlightPostTag", "</em>", MAX_TAG_CHARS),
        language=_language(given.get("facetFilters")),
    )


def _encoded(params: Any) -> Mapping[str, Any]:
    """Returns the parameters of `params`. A value that cannot be used is left out: it is not what a client sends."""
    if params is None:
        return {}
    if not isinstance(params, str):
        raise InputError("params must be a string: parameters as in a URL")
    try:
        pairs = dict(parse_qsl(params, max_num_fields=_MAX_PARAMETERS))
    except ValueError:
        return {}
    numbers = {name: int(pairs[name]) for name in _NUMBERS if _DIGITS.fullmatch(pairs.get(name, ""))}
    texts = {name: pairs[name] for name in _TEXTS if name in pairs}
    tags = {name: pairs[name] for name in _TAGS if 0 < len(pairs.get(name, "")) <= MAX_TAG_CHARS}
    return {**texts, **tags, **numbers}


def _text(given: Mapping[str, Any], name: str, default: str, most: int | None) -> str:
    value = given.get(name)
    if value is None:
        return default
    if not isinstance(value, str) or (most is not None and len(value) > most):
        raise InputError(f"{name} must be a string" + (f" of at most {most} characters" if most is not None else ""))
    return unicode_only(value)


def _number(given: Mapping[str, Any], name: str, default: int) -> int:
    value = given.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0 or value != value // 1:
        raise InputError(f"{name} must be a whole number, 0 or more")
    return int(min(value, 10**9))


def _language(filters: Any) -> str:
    """Returns the language that `facetFilters` demand: the first filter such as `language:en` or `lang:en` that is not
    one of several alternatives; empty if there is none."""
    if isinstance(filters, str) and filters.lstrip().startswith("["):
        try:
            filters = json.loads(filters)
        except (ValueError, RecursionError):
            return ""
    for each in filters if isinstance(filters, list) else [filters]:
        (only,) = each if isinstance(each, list) and len(each) == 1 else (each,)
        if isinstance(only, str) and (found := _LANGUAGE.fullmatch(only)):
            return found[1]
    return ""
