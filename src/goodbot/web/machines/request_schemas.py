"""What the API accepts, as JSON Schemas (draft 2020-12): every request that they allow is accepted or refused for a
reason that no schema can state, such as the scope of the crawl. Patterns are ECMA-262, which Python reads alike. The
parameters of a query have no `maxLength`: longer ones may not even fit into the head of a request."""

from collections.abc import Iterable
from typing import Final

from goodbot.announce.batches import MAX_URLS
from goodbot.announce.key import KEY
from goodbot.index.filters import SITE, SPACES
from goodbot.visitor_urls import ABSOLUTE_URL, MAX_TYPED_CHARS, TYPED_URL
from goodbot.web.checker.checker_report import AGENT_CHARS, URL_CHARS
from goodbot.web.checker.site_robots import SITE_CHARS
from goodbot.web.machines.api_schemas import TEXT
from goodbot.web.machines.api_values import Schema
from goodbot.web.robots.robot_words import OBEYS_WORDS, PURPOSE_WORDS, WAY_WORDS
from goodbot.web.search.docsearch_requests import MAX_SEARCHES, MAX_TAG_CHARS
from goodbot.web.search.search_query import MAX_PAGE
from goodbot.web.visitors.indexnow import MAX_HOST_CHARS

_SPACES: Final = f"[{SPACES}]*"
_PATH: Final = r"/([^\x00-\x20/\\][\s\S]*)?"
"""A path that is not `//`, which would name a host."""


def _matching(pattern: str, most: int | None = None) -> Schema:
    return {"type": "string", "pattern": f"^({pattern})$", **({"maxLength": most} if most else {})}


def _or_empty(pattern: str) -> Schema:
    return _matching(f"{_SPACES}|{_SPACES}({pattern}){_SPACES}")


NOT_EMPTY: Final[Schema] = {"type": "string", "pattern": f"[^{SPACES}]"}
URL: Final = _matching(TYPED_URL)
SITE_FILTER: Final = _or_empty(SITE)
LANGUAGE_FILTER: Final = _or_empty("[A-Za-z]{2,3}([-_][A-Za-z0-9]{2,8})*")
TYPE_FILTER: Final = _or_empty(r"\.?[A-Za-z0-9]{1,10}|[A-Za-z]+/[A-Za-z0-9.+-]{1,60}")
DATE_FILTER: Final[Schema] = {
    "anyOf": [{"type": "string", "format": "date"}, _or_empty("[12][0-9]{3}(-(0[1-9]|1[0-2]))?")]
}
PAGE: Final[Schema] = {
    "anyOf": [{"type": "integer", "minimum": 1, "maximum": MAX_PAGE}, {"type": "string", "maxLength": 0}]
}
OTHERS_SWITCH: Final[Schema] = {"type": "string", "enum": ["", "1"]}
SUBMISSION_BODY: Final[Schema] = {
    "type": "object",
    "properties": {"url": {**URL, "maxLength": MAX_TYPED_CHARS}},
    "required": ["url"],
    "additionalProperties": False,
}

_COUNT_OR_NONE: Final[Schema] = {"type": ["integer", "null"], "minimum": 0}
_TAG_OR_NONE: Final[Schema] = {"type": ["string", "null"], "maxLength": MAX_TAG_CHARS}
DOCSEARCH_BODY: Final[Schema] = {
    "type": "object",
    "properties": {
        "requests": {
            "type": "array",
            "minItems": 1,
            "maxItems": MAX_SEARCHES,
            "items": {
                "type": "object",
                "properties": {
                    "indexName": TEXT,
                    "query": {"type": ["string", "null"]},
                    "page": _COUNT_OR_NONE,
                    "hitsPerPage": _COUNT_OR_NONE,
                    "highlightPreTag": _TAG_OR_NONE,
                    "highlightPostTag": _TAG_OR_NONE,
                    "params": {"type": ["string", "null"]},
                },
                "required": ["indexName"],
            },
        }
    },
    "required": ["requests"],
}

# ---- the directory of robots ----------------------------------------------------------------------------------------


def _one_or_none_of(values: Iterable[str]) -> Schema:
    return {"type": "string", "enum": ["", *values]}


PURPOSE_FILTER: Final = _one_or_none_of(PURPOSE_WORDS)
WAY_FILTER: Final = _one_or_none_of(WAY_WORDS)
OBEYS_FILTER: Final = _one_or_none_of(OBEYS_WORDS)

# ---- IndexNow -------------------------------------------------------------------------------------------------------

KEY_OF_SITE: Final = _matching(KEY.pattern)
CHANGED_URL: Final = _matching(ABSOLUTE_URL)
KEY_LOCATION: Final = _or_empty(ABSOLUTE_URL)
INDEXNOW_BODY: Final[Schema] = {
    "type": "object",
    "properties": {
        "host": {**NOT_EMPTY, "maxLength": MAX_HOST_CHARS},
        "key": KEY_OF_SITE,
        "keyLocation": {"anyOf": [_matching(ABSOLUTE_URL), {"type": "null"}]},
        "urlList": {"type": "array", "items": CHANGED_URL, "minItems": 1, "maxItems": MAX_URLS},
    },
    "required": ["host", "key", "urlList"],
}

# ---- the checker ----------------------------------------------------------------------------------------------------

_NOTHING: Final[Schema] = {"anyOf": [{"type": "null"}, _matching(_SPACES)]}
_FILE_OR_SITE: Final[Schema] = {
    "oneOf": [
        {"required": ["robots"], "properties": {"robots": TEXT, "site": {"type": "null"}}},
        {"required": ["site"], "properties": {"site": _matching(TYPED_URL, SITE_CHARS), "robots": {"type": "null"}}},
    ]
}
_QUESTION_OR_NONE: Final[Schema] = {
    "oneOf": [
        {
            "required": ["agent", "url"],
            "properties": {
                "agent": {**NOT_EMPTY, "maxLength": AGENT_CHARS},
                "url": _matching(f"{ABSOLUTE_URL}|{_PATH}", URL_CHARS),
            },
        },
        {"properties": {"agent": _NOTHING, "url": _NOTHING}},
    ]
}
CHECK_BODY: Final[Schema] = {
    "type": "object",
    "properties": {name: {"type": ["string", "null"]} for name in ("robots", "site", "agent", "url")},
    "allOf": [_FILE_OR_SITE, _QUESTION_OR_NONE],
    "additionalProperties": False,
}
