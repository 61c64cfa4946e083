"""Every operation of the API. `docs/reference/http.md` and /openapi.json are made from these."""

from dataclasses import replace
from typing import Final

from goodbot.announce.batches import MAX_URLS
from goodbot.web.machines.api_schemas import TEXT
from goodbot.web.machines.api_values import Answer, Body, Link, Operation, Parameter, reference
from goodbot.web.machines.opensearch import MEDIA_TYPE as OPENSEARCH
from goodbot.web.machines.request_schemas import (
    CHANGED_URL,
    CHECK_BODY,
    DATE_FILTER,
    DOCSEARCH_BODY,
    INDEXNOW_BODY,
    KEY_LOCATION,
    KEY_OF_SITE,
    LANGUAGE_FILTER,
    NOT_EMPTY,
    OBEYS_FILTER,
    OTHERS_SWITCH,
    PAGE,
    PURPOSE_FILTER,
    SITE_FILTER,
    SUBMISSION_BODY,
    TYPE_FILTER,
    URL,
    WAY_FILTER,
)
from goodbot.web.machines.searxng import MEDIA_TYPE as YAML
from goodbot.web.search.atom import MEDIA_TYPE as ATOM
from goodbot.web.search.docsearch import PATH as DOCSEARCH
from goodbot.web.search.docsearch_requests import MAX_HITS_PER_PAGE, MAX_SEARCHES
from goodbot.web.search.search_pages import SUGGESTIONS
from goodbot.web.search.search_query import MAX_PAGE

_ERROR: Final = reference("Error")


def _bad(description: str) -> Answer:
    return Answer(400, description, _ERROR)


_TOO_MANY: Final = Answer(429, "Your address has sent too many requests", _ERROR, retry=True)
_UNAVAILABLE: Final = Answer(503, "The index or the crawl cannot be read at the moment", _ERROR)
_NO_CRAWL: Final = Answer(404, "No crawl is served here", _ERROR)
_OTHER_SITE: Final = "a page of another site made the browser send this request"
_IMPOSSIBLE: Final = "No server can have this URL, or it is too long when it is encoded"

_QUERY: Final = Parameter("q", "What to search for", NOT_EMPTY, "robots exclusion", required=True)
_FILTERS: Final = (
    Parameter("site", "Only pages of this host and its subdomains", SITE_FILTER, "example.org"),
    Parameter("lang", "Only pages in this language", LANGUAGE_FILTER, "en"),
    Parameter("type", "Only documents of this type: the end of a file name, or a media type", TYPE_FILTER, "pdf"),
    Parameter("after", "Only pages dated on this day or later: a day, a month or a year", DATE_FILTER, "2024-05-01"),
    Parameter("before", "Only pages dated before this day, month or year", DATE_FILTER, "2026"),
)
_PAGE: Final = Parameter("page", f"The page of results, from 1 to {MAX_PAGE}; each has ten hits", PAGE, 1)
_SEARCH: Final = (_QUERY, _PAGE, *_FILTERS)
_OTHERS: Final = Parameter(
    "others",
    "1: also asks the search services that the operator has named, if any. They get the query and the filters, and "
    "nothing else",
    OTHERS_SWITCH,
    "1",
)
_URL: Final = Parameter("url", "The URL of a page", URL, "https://example.org/", required=True)
_SCHEME: Final = (
    "`example.org/a` has the scheme under which the crawl knows it, else that of a seed with this host and port, else "
    "https"
)
_TYPED_URL: Final = replace(_URL, description=f"The URL of a page. {_SCHEME}")

_INDEXNOW: Final = (
    Answer(200, "The key is right, and the URLs are submitted", reference("Message")),
    Answer(202, "At most the first 100 URLs are submitted; the key was not checked", reference("Message")),
    _bad("The request cannot be read"),
    Answer(
        403,
        "The key is wrong or not for these URLs, the crawl takes none of them, or the operator accepts none",
        _ERROR,
    ),
    Answer(422, "A URL is not of this host, or the key is not well-formed", _ERROR),
    _TOO_MANY,
    Answer(503, "The crawl does not answer", _ERROR),
)

_FIRST_HIT: Final = (
    Link(
        "explain", {"q": "$request.query.q", "url": "$response.body#/hits/0/url"}, "Explains the place of the first hit"
    ),
    Link("why", {"url": "$response.body#/hits/0/url"}, "The history of the first hit"),
)

OPERATIONS: Final = (
    Operation(
        "get",
        "/api/search",
        "search",
        "search",
        "Searches the index",
        parameters=(*_SEARCH, _OTHERS),
        answers=(
            Answer(200, "One page of hits", reference("Results"), links=_FIRST_HIT),
            _bad("A parameter has a value that cannot be used, or the crawl keeps no index"),
            _NO_CRAWL,
            _TOO_MANY,
            replace(
                _UNAVAILABLE,
                description=f"{_UNAVAILABLE.description}; or `others=1`, and a browser loads this in advance "
                "(`Sec-Purpose: prefetch`)",
            ),
        ),
        description="Pages in the languages of `Accept-Language` rank higher. The syntax of queries is that of the "
        "search page. Every query is valid, except an empty one. With `others=1`, hits are merged by reciprocal rank; "
        "`sources` says what became of each service, and `total` is the least number of pages that match.",
    ),
    Operation(
        "get",
        "/api/suggest",
        "suggest",
        "search",
        "Completes a query",
        parameters=(Parameter("q", "What was typed so far", TEXT, "robo"),),
        answers=(
            Answer(200, "The completions (OpenSearch Suggestions)", reference("Suggestions"), SUGGESTIONS),
            _NO_CRAWL,
            _TOO_MANY,
            _UNAVAILABLE,
        ),
    ),
    Operation(
        "get",
        "/api/explain",
        "explain",
        "search",
        "Explains the place of a page among the hits",
        parameters=(_QUERY, _URL, *_FILTERS),
        answers=(
            Answer(200, "What adds to its score", reference("Explanation")),
            _bad("A parameter has a value that cannot be used, or the crawl keeps no index"),
            Answer(404, "The index does not have the page, or no crawl is served here", _ERROR),
            _TOO_MANY,
            _UNAVAILABLE,
        ),
    ),
    Operation(
        "get",
        "/search.atom",
        "feed",
        "search",
        "Searches the index, for feed readers",
        parameters=_SEARCH,
        answers=(
            Answer(200, "One page of hits as an Atom feed (RFC 4287)", media_type=ATOM),
            _bad("A parameter has a value that cannot be used, or the crawl keeps no index"),
            _TOO_MANY,
            _UNAVAILABLE,
        ),
    ),
    Operation(
        "post",
        DOCSEARCH,
        "docsearch",
        "search",
        "Searches the index for DocSearch, the search box of documentation sites",
        body=Body(
            f"Up to {MAX_SEARCHES} searches, as Algolia's clients send them. `params` has parameters encoded as in a "
            "URL, which override those of the same name. Pages count from 0. `facetFilters` may demand a language: "
            f"`language:en`. goodbot ignores all other parameters. A page has at most {MAX_HITS_PER_PAGE} hits.",
            DOCSEARCH_BODY,
            {
                "search": {
                    "requests": [
                        {"indexName": "docs", "query": "robots exclusion", "hitsPerPage": 20, "page": 0},
                    ]
                }
            },
        ),
        answers=(
            Answer(200, "The hits of each search", reference("DocSearchResults")),
            _bad("The body is not what Algolia's clients send, or the crawl keeps no index"),
            _NO_CRAWL,
            Answer(413, "The body is too long", _ERROR),
            _TOO_MANY,
            _UNAVAILABLE,
        ),
        description="Pages of other sites may send this POST, with any Content-Type, and read the answer. If no "
        "page has the last word of the query, goodbot takes it as the beginning of a word of titles, headings and link "
        "texts.",
    ),
    Operation(
        "get",
        "/opensearch.xml",
        "opensearch",
        "search",
        "Describes the search to browsers",
        answers=(Answer(200, "An OpenSearch 1.1 description", media_type=OPENSEARCH),),
    ),
    Operation(
        "get",
        "/searxng.yml",
        "searxng",
        "search",
        "Describes the search to SearXNG",
        answers=(Answer(200, "The list `engines` for its `settings.yml`, with one entry", media_type=YAML),),
        description="The entry uses the `json_engine` that comes with SearXNG, and asks `/api/search`.",
    ),
    Operation(
        "get",
        "/api/why",
        "why",
        "pages",
        "Says what became of a URL, and why a search does not find it",
        parameters=(_TYPED_URL,),
        answers=(
            Answer(200, "The history of the URL, even if the crawl does not know it", reference("Story")),
            _bad("This is not a URL"),
            Answer(404, _IMPOSSIBLE, _ERROR),
            _TOO_MANY,
            _UNAVAILABLE,
        ),
    ),
    Operation(
        "post",
        "/api/submit",
        "submit",
        "pages",
        "Submits a URL to the crawl",
        body=Body(
            "The URL",
            SUBMISSION_BODY,
            {"page": {"url": "https://example.org/"}},
        ),
        answers=(
            Answer(200, "The crawl has the URL", reference("Submission")),
            _bad("The body has no URL"),
            Answer(
                403,
                "The URL was refused (`result` says why); or the operator accepts no URLs, or a page of another site "
                "made the browser send this request (`error` says which)",
                {"anyOf": [reference("Submission"), _ERROR]},
            ),
            Answer(404, _IMPOSSIBLE, _ERROR),
            Answer(413, "The body is too long", _ERROR),
            Answer(415, "The body is not JSON", _ERROR),
            _TOO_MANY,
            Answer(503, "The crawl does not answer", _ERROR),
        ),
        description=f"{_SCHEME}.",
    ),
    Operation(
        "get",
        "/indexnow",
        "indexnow_one",
        "pages",
        "Reports a page that has changed (IndexNow)",
        parameters=(
            Parameter("url", "The URL of the page", CHANGED_URL, "https://example.org/a", required=True),
            Parameter("key", "The key of the site", KEY_OF_SITE, "0123456789abcdef", required=True),
            Parameter("keyLocation", "The URL of the key file, if it is not in the root folder", KEY_LOCATION, ""),
        ),
        answers=_INDEXNOW,
    ),
    Operation(
        "post",
        "/indexnow",
        "indexnow",
        "pages",
        f"Reports up to {MAX_URLS:,} pages of a host that have changed (IndexNow)",
        body=Body(
            "The host, its key and the URLs",
            INDEXNOW_BODY,
            {"pages": {"host": "example.org", "key": "0123456789abcdef", "urlList": ["https://example.org/a"]}},
        ),
        answers=(*_INDEXNOW, Answer(413, "The body is too long", _ERROR)),
    ),
    Operation(
        "post",
        "/api/check",
        "check",
        "robots.txt",
        "Finds errors in a robots.txt, and says whether a robot may fetch a URL",
        body=Body(
            "Either the text of a robots.txt or the site to fetch it from. `agent` and `url` go together: may this "
            "robot fetch this URL, or this path of the site?",
            CHECK_BODY,
            {"text": {"robots": "User-agent: *\nDisallow: /private/", "agent": "MyBot", "url": "/private/a"}},
        ),
        answers=(
            Answer(200, "The findings and verdicts", reference("Report")),
            _bad("The body cannot be used"),
            Answer(403, f"This server does not fetch from this site, or {_OTHER_SITE}", _ERROR),
            Answer(404, _IMPOSSIBLE, _ERROR),
            Answer(413, "The file is too long", _ERROR),
            Answer(415, "The body is not JSON", _ERROR),
            Answer(429, "Too many files are being checked or fetched", _ERROR, retry=True),
            Answer(503, "The site does not answer, or asks robots to wait", _ERROR, retry=True),
        ),
    ),
    Operation(
        "get",
        "/api/robots",
        "robots",
        "robots",
        "Lists robots: who operates them, what they are for, and how they are addressed and verified",
        parameters=(
            Parameter("q", "Words of the name, token or operator, or a whole User-Agent", TEXT, "GPTBot"),
            Parameter("purpose", "Only robots for this purpose", PURPOSE_FILTER, "ai-training"),
            Parameter("operator", "Only robots of this operator", TEXT, "OpenAI"),
            Parameter("verify", "Only robots whose visits can be verified in this way", WAY_FILTER, "addresses"),
            Parameter("obeys", "Only robots that obey robots.txt to this degree", OBEYS_FILTER, "yes"),
        ),
        answers=(
            Answer(200, "The robots: the one that `q` names first, the others by name", reference("Robots")),
            _bad("A parameter has a value that does not exist"),
            _TOO_MANY,
        ),
        description="`named` in `obeys`: the robot obeys groups that name it, but not those for `*`.",
    ),
    Operation(
        "get",
        "/healthz",
        "health",
        "operation",
        "Says whether the search works",
        answers=(Answer(200, "It works", reference("Health")), _UNAVAILABLE),
    ),
    Operation(
        "get",
        "/metrics",
        "metrics",
        "operation",
        "Shows figures for Prometheus",
        answers=(Answer(200, "The text format of Prometheus", TEXT, "text/plain"), _UNAVAILABLE),
    ),
    Operation(
        "get",
        "/openapi.json",
        "openapi",
        "operation",
        "Describes this API",
        answers=(Answer(200, "This document", {"type": "object"}), _TOO_MANY),
    ),
)
