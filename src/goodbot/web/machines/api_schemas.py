"""The JSON that the API answers, as JSON Schemas (draft 2020-12). Times are in Unix seconds."""

from typing import Any, Final, get_args

from goodbot.check.findings import SEVERITIES
from goodbot.exclusion import DIALECTS
from goodbot.exclusion.verdict import AccessResult
from goodbot.federate import OWN, State
from goodbot.index import REASONS
from goodbot.values import STATES, Event
from goodbot.visitor_values import SubmissionResult
from goodbot.web.machines.api_values import Schema, reference
from goodbot.web.robots.robot_words import OBEYS_WORDS, PURPOSE_WORDS

TEXT: Final[Schema] = {"type": "string"}
NUMBER: Final[Schema] = {"type": "number"}
COUNT: Final[Schema] = {"type": "integer", "minimum": 0}
FLAG: Final[Schema] = {"type": "boolean"}
TEXTS: Final[Schema] = {"type": "array", "items": TEXT}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _or_null(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _one_of(values: Any) -> Schema:
    return {"type": "string", "enum": list(values)}


def _said(schema: Schema, description: str) -> Schema:
    return {**schema, "description": description}


def _object(required: dict[str, Schema], optional: dict[str, Schema] | None = None) -> Schema:
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required)}


_SPAN: Final[Schema] = {"type": "array", "items": COUNT, "minItems": 2, "maxItems": 2}
_STATE: Final = _or_null(_one_of(STATES))

ERROR: Final = _object({"error": _said(TEXT, "What is wrong, in one sentence")})
HIT: Final = _object(
    {
        "url": TEXT,
        "title": TEXT,
        "snippet": _said(TEXT, "Text of the page, which is empty if its author allows none"),
        "score": NUMBER,
        "highlights": _said(_list(_SPAN), "Start and end of each matching word in the snippet, in Unicode code points"),
    },
    {
        "id": _said(TEXT, "The name of an imported document, if it is not its URL"),
        "language": _said(TEXT, "A two-letter code"),
        "modified_at": _said(NUMBER, "When the page changed, as its server states"),
        "fetched_at": NUMBER,
        "size_bytes": COUNT,
        "type": _said(TEXT, "The media type"),
        "has_copy": _said(FLAG, "Whether the author of the page allows a cached copy"),
        "sections": _said(_list(_object({"url": TEXT, "text": TEXT})), "The places in the page that match best"),
        "others": _said(
            _list(_object({"url": TEXT, "language": TEXT})), "Translations and copies, which are not listed separately"
        ),
        "sources": _said(
            _list(_object({"name": TEXT, "rank": {"type": "integer", "minimum": 1}})),
            "With `others=1`: the sources that list the page, and its rank there",
        ),
    },
)
_SOURCE: Final = _object(
    {
        "name": _said(TEXT, f"`{OWN}`: the index of this service"),
        "url": TEXT,
        "state": _one_of(get_args(State)),
        "hits": _said(COUNT, "How many hits it sent"),
        "took_ms": NUMBER,
    },
    {"why": _said(TEXT, "Why it is left out, or sent no more")},
)
RESULTS: Final = _object(
    {
        "query": TEXT,
        "total": _said(COUNT, "How many pages match"),
        "took_ms": NUMBER,
        "complete": _said(COUNT, "How many of the matching pages have every word of the query"),
        "searched_for": _said(TEXT, "The query in plain words"),
        "hits": {**_list(reference("Hit")), "maxItems": 10},
        "page": {"type": "integer", "minimum": 1, "maximum": 100},
        "pages": _said({"type": "integer", "minimum": 0, "maximum": 100}, "How many pages of hits there are"),
    },
    {
        "notes": _said(TEXTS, "What could not be read as typed"),
        "corrected": _said(TEXT, "The query for which this index was searched instead; other services get it as typed"),
        "suggestion": _said(TEXT, "A query that the user may have meant"),
        "sources": _said(_list(_SOURCE), "With `others=1`: the services that were asked"),
    },
)
_MARKED: Final = _object(
    {
        "value": _said(TEXT, "HTML: the text with the matching words between the tags of the request"),
        "matchLevel": _one_of(("none", "partial")),
        "matchedWords": TEXTS,
    }
)
_MARKED_TEXTS: Final = _object({"hierarchy": {"type": "object", "additionalProperties": _MARKED}}, {"content": _MARKED})
DOCSEARCH_HIT: Final = _object(
    {
        "objectID": _said(TEXT, "The type and the URL: no two hits of a search have the same"),
        "type": _said(_one_of(("lvl1", "lvl2", "content")), "A page, a section of it, or an extract with words found"),
        "url": _said(TEXT, "The URL, of a section with its anchor"),
        "url_without_anchor": _said(TEXT, "The URL of the page"),
        "anchor": _said(_or_null(TEXT), "The fragment that leads to the section"),
        "content": _said(_or_null(TEXT), "The snippet, in HTML"),
        "hierarchy": _said(
            {"type": "object", "additionalProperties": _or_null(TEXT)},
            "In HTML: `lvl0` is where the page is, `lvl1` its title, `lvl2` the section; `lvl3` to `lvl6` are null",
        ),
        "_highlightResult": _said(_MARKED_TEXTS, "The texts with the matching words marked"),
        "_snippetResult": _said(_MARKED_TEXTS, "The same; the content begins near the first matching word"),
    }
)
_DOCSEARCH_RESULT: Final = _object(
    {
        "index": _said(TEXT, "The name of the request"),
        "query": _said(TEXT, "The query of the request"),
        "hits": _said(_list(reference("DocSearchHit")), "One page of hits: pages, sections and extracts"),
        "page": _said(COUNT, "The number of this page of hits, from 0"),
        "hitsPerPage": _said(COUNT, "The most hits of one page"),
        "nbHits": _said(COUNT, "How many pages of the crawl match"),
        "nbPages": _said(COUNT, "How many pages of hits there are"),
        "exhaustiveNbHits": _said(FLAG, "Always false: sections are not counted"),
        "processingTimeMS": _said(COUNT, "The time that the search took, in milliseconds"),
        "params": _said(TEXT, "Always empty"),
    }
)
DOCSEARCH_RESULTS: Final = _object({"results": _list(_DOCSEARCH_RESULT)})
SUGGESTIONS: Final[Schema] = {
    "description": "An array: the text typed, then the list of completions",
    "type": "array",
    "items": {"anyOf": [TEXT, TEXTS]},
    "minItems": 2,
    "maxItems": 2,
}
EXPLANATION: Final = _object(
    {
        "query": TEXT,
        "url": TEXT,
        "title": TEXT,
        "found": _said(FLAG, "Whether the query finds the page"),
        "position": _said(_or_null({"type": "integer", "minimum": 1}), "Null if it is not among the first 1,000 hits"),
        "score": NUMBER,
        "words": _list(_object({"word": TEXT, "fields": _list(_object({"field": TEXT, "score": NUMBER}))})),
        "bonuses": _list(_object({"name": _one_of(REASONS), "reason": TEXT, "score": NUMBER})),
        "factors": _list(_object({"name": _one_of(REASONS), "reason": TEXT, "factor": NUMBER})),
    },
    {"notes": _said(TEXTS, "Why the page is not found")},
)
_LESSON: Final = _object(
    {
        "id": TEXT,
        "host": TEXT,
        "kind": TEXT,
        "about": TEXT,
        "evidence": TEXT,
        "learned_at": NUMBER,
        "examined_at": _or_null(NUMBER),
        "times": COUNT,
        "in_force": FLAG,
    }
)
_EVENT: Final = _object(
    {
        "at": NUMBER,
        "step": _one_of(get_args(Event.__annotations__["step"])),
        "decision": TEXT,
        "reason": TEXT,
        "line": _said(_or_null({"type": "integer", "minimum": 1}), "The line of robots.txt that decided"),
    }
)
STORY: Final = _object(
    {
        "url": TEXT,
        "asked_as": _said(TEXT, "The URL that the crawl requests for it"),
        "state": _one_of((*STATES, "unknown")),
        "events": _list(_EVENT),
        "lesson": _said(_or_null(_LESSON), "The lesson (such as a mirror or trap) that excludes the page"),
        "in_index": _said(
            _or_null(FLAG), "Whether the index has the page, even if a removal hides it; null if no index can be read"
        ),
        "summary": _said(TEXT, "Whether a search can find it, and why not"),
        "advice": _said(TEXT, "What would help; empty if nothing would"),
        "next_visit_at": _or_null(NUMBER),
    }
)
SUBMISSION: Final = _object(
    {
        "done": _said(FLAG, "Whether the crawl has the URL now"),
        "url": _said(TEXT, "The URL that the crawl requests for it"),
        "result": _one_of(get_args(SubmissionResult)),
        "reason": _said(_or_null(TEXT), "Why it was not submitted"),
        "state_before": _STATE,
        "state": _STATE,
        "visited_at": _or_null(NUMBER),
        "due_at": _said(_or_null(NUMBER), "When the next visit is due"),
    }
)
_FINDING: Final = _object(
    {
        "file": TEXT,
        "line": {"type": "integer", "minimum": 1},
        "column": {"type": "integer", "minimum": 1},
        "end_column": _or_null({"type": "integer", "minimum": 1}),
        "code": _said({"type": "string", "pattern": "^[A-Z][0-9]{3}$"}, "`goodbot explain CODE` describes it"),
        "severity": _one_of(SEVERITIES),
        "title": TEXT,
        "message": TEXT,
        "affected": TEXT,
        "fix": TEXT,
        "mended_by_fix": _said(FLAG, "Whether `goodbot check --fix` corrects it"),
        "source": TEXT,
    }
)
_VERDICT: Final = _object(
    {
        "url": TEXT,
        "requested_as": _said(TEXT, "The URL as robots request it"),
        "agent": TEXT,
        "dialect": _one_of(DIALECTS),
        "allowed": FLAG,
        "line": _or_null({"type": "integer", "minimum": 1}),
        "rule": _or_null(TEXT),
        "section": _said(TEXT, "The section of the standard"),
        "reason": TEXT,
        "access": _one_of(get_args(AccessResult)),
        "delay_s": _said(_or_null(NUMBER), "The Crawl-delay"),
    }
)
REPORT: Final = _object(
    {
        "file": TEXT,
        "fetched_at": _said(_or_null(NUMBER), "Null if the text was sent"),
        "counts": _object(dict.fromkeys(SEVERITIES, COUNT)),
        "findings": {**_list(_FINDING), "maxItems": 1000},
        "verdicts": _list(_VERDICT),
    }
)

ROBOT: Final = _object(
    {
        "name": TEXT,
        "operator": _or_null(TEXT),
        "purpose": _one_of(PURPOSE_WORDS),
        "token": _said(_or_null(TEXT), "Its product token in robots.txt; null if not confirmed"),
        "aliases": _said(TEXTS, "Other names in robots.txt that it obeys"),
        "patterns": _said(TEXTS, "Words that identify it in a User-Agent; `^` in front: only at the beginning"),
        "obeys_robots_txt": _said(_one_of(OBEYS_WORDS), "`named`: only groups that name it"),
        "obeys_source": _said(_or_null(TEXT), "The URL where that is stated"),
        "documentation": _said(_or_null(TEXT), "The URL of the operator's page about it"),
        "contact": _said(_or_null(TEXT), "A mail address, or the URL of a form"),
        "address_lists": _said(TEXTS, "The URLs at which its IP addresses are published"),
        "reverse_dns": _said(TEXTS, "The domains of the reverse DNS names of its addresses"),
        "web_bot_auth": _said(_or_null(TEXT), "The URL of the keys of its signatures"),
        "control_token": _said(FLAG, "Whether it is a name for robots.txt only, which no robot sends"),
        "retired": FLAG,
        "retired_since": _said(_or_null({"type": "integer"}), "A year"),
        "looked_up": _said({"type": "integer"}, "The year in which these facts were read at their source"),
        "source": _said(TEXT, "The URL of the source"),
    }
)

_COPY: Final = _object(
    {
        "version": _or_null(TEXT),
        "taken_at": _said(_or_null(NUMBER), "When the snapshot was taken, in Unix seconds"),
        "age_s": _or_null(NUMBER),
        "checked_at": _said(
            _or_null(NUMBER),
            "When the last look at the source that succeeded read its latest.json, whether that named a new version or "
            "not; a look that fails does not change it",
        ),
        "followed": _said(FLAG, "Whether the last look for a newer one succeeded; false before the first one"),
    }
)

SCHEMAS: Final = {
    "Error": ERROR,
    "Hit": HIT,
    "Results": RESULTS,
    "DocSearchResults": DOCSEARCH_RESULTS,
    "DocSearchHit": DOCSEARCH_HIT,
    "Suggestions": SUGGESTIONS,
    "Explanation": EXPLANATION,
    "Story": STORY,
    "Submission": SUBMISSION,
    "Report": REPORT,
    "Robot": ROBOT,
    "Robots": _object({"robots": _list(reference("Robot"))}),
    "Message": _object({"message": TEXT}),
    "Health": _object(
        {"ok": {"const": True}, "documents": _said(COUNT, "How many pages the index has")}, {"copy": _COPY}
    ),
}
