"""Writes docs/reference/http.md: the pages of `goodbot serve` as listed here, its API as the code describes it. `make
docs` runs it; tests fail if it differs from the page, or from the paths that are served."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from goodbot.announce.batches import MAX_BODY_BYTES as INDEXNOW_BYTES
from goodbot.index import MAX_QUERY_CHARS
from goodbot.index.filters import MAX_VALUE_CHARS
from goodbot.live import LiveStatus
from goodbot.report_values import MachineView
from goodbot.robot.crawl.remote_control import CrawlFigures
from goodbot.values import STATES, Status
from goodbot.visitor_urls import MAX_TYPED_CHARS
from goodbot.web.checker.checker_page import MAX_FORM_BYTES as CHECKER_BYTES
from goodbot.web.checker.checker_report import AGENT_CHARS, MAX_TEXT_BYTES, URL_CHARS
from goodbot.web.machines.api_operations import OPERATIONS
from goodbot.web.machines.api_schemas import SCHEMAS
from goodbot.web.machines.api_values import Operation, Parameter
from goodbot.web.machines.metrics import metrics_text
from goodbot.web.machines.openapi import TAGS
from goodbot.web.operator.crawl_page import MAX_FORM_BYTES as ORDER_BYTES
from goodbot.web.operator.operator_access import MAX_LOGIN_BYTES
from goodbot.web.robots.record_draft import NAMES as DRAFT_FIELDS
from goodbot.web.robots.robot_selection import MAX_CHARS as ROBOTS_CHARS
from goodbot.web.search.docsearch_requests import MAX_BODY_BYTES as DOCSEARCH_BYTES
from goodbot.web.search.docsearch_requests import MAX_SEARCHES, MAX_TAG_CHARS
from goodbot.web.search.search_query import MAX_PAGE
from goodbot.web.server.connections import BODY_TIMEOUT_S, HEAD_BYTES, HEAD_TIMEOUT_S, MAX_CONNECTIONS
from goodbot.web.server.request_metrics import RequestMetrics
from goodbot.web.visitors.indexnow import MAX_URLS
from goodbot.web.visitors.submission_page import MAX_BODY_BYTES

REFERENCE = Path(__file__).parent / "reference" / "http.md"


class Page(NamedTuple):
    """A page for people, or a file: its method, path, purpose, the names of its parameters, and its statuses besides
    those that all pages may have."""

    method: str
    path: str
    purpose: str
    parameters: str = ""
    statuses: str = ""


def _kib(size: int) -> str:
    return f"{size // 1024**2} MiB" if size % 1024**2 == 0 else f"{size // 1024:,} KiB"


ORDERS: Final = ("pause", "resume", "stop")
FILTERS: Final = "site, lang, type, after, before"
PAGES: Final = {
    "For visitors": (
        Page("GET", "/", "the home page"),
        Page(
            "GET",
            "/search",
            "results, ten per page",
            f"q, page, {FILTERS}, within",
            "303: to the last page, or to the URL with dates in place of `within`; 400; 404: no crawl, or no index",
        ),
        Page(
            "GET",
            "/explain",
            "why a page is where it is among the results",
            f"q, url, {FILTERS}",
            "400; 404: no crawl, no index, or the page is not in it",
        ),
        Page("GET", "/help", "how to search"),
        Page("GET", "/about", "the robot, and how to stop it"),
        Page("GET", "/cached", "a copy of a page, from the archive", "url", "400; 404: no copy may be shown"),
        Page(
            "GET",
            "/cached/document",
            "the copy itself, for the frame of that page",
            "url",
            "303: to `/cached`, if it is opened outside the frame; 400; 404",
        ),
        Page("GET", "/why", "why a page is not found", "url", "400; 404: no server can have this URL"),
        Page("GET", "/submit", "a form to submit a URL; after a submission, its result", "url", "400, 404"),
        Page("POST", "/submit", "submits it", "url", "303: done; 400, 403: refused, 404, 413, 503"),
        Page("GET", "/removal", "how owners of a site have its pages removed", "url, scope", "400, 404"),
        Page(
            "POST",
            "/removal",
            "looks for a proof, and removes the pages",
            "url, scope",
            "303: removed; 400, 403, 404: unknown, 413, 422: not proved or not checked, 503",
        ),
        Page("GET", "/check", "the robots.txt checker"),
        Page("POST", "/check", "checks a file", "robots, site, agent, url", "400, 403: not fetched, 404, 413, 503"),
        Page(
            "POST", "/check/report", "the report alone, for the script of that page", "robots, agent, url", "403, 413"
        ),
        Page("GET", "/robots", "the robots directory", "q, purpose, operator, verify, obeys, page", "400"),
        Page("GET", "/robots/{name}", "one robot: how to address and to verify it", statuses="404"),
        Page("GET", "/robots/draft", "drafts a record for a robot", ", ".join(DRAFT_FIELDS), "400: a field is wrong"),
    ),
    "For the operator": (
        Page("GET", "/crawl", "the dashboard of the crawl", "token", "303: logged in; 404: no crawl"),
        *(Page("POST", f"/crawl/{order}", f"{order}s the crawl", "token", "303: done; 503") for order in ORDERS),
        Page("POST", "/crawl/submit", "submits URLs, one per line", "token, urls", "303: done; 400, 413, 503"),
        Page("GET", "/crawl/login", "asks for the token", statuses="303: logged in already"),
        Page("POST", "/crawl/login", "logs in", "token, to", "303: done; 429: too many wrong tokens"),
        Page("POST", "/crawl/logout", "logs out", "token", "303: done"),
        Page("GET", "/crawl/hosts", "the hosts of the crawl", "q, after, all"),
        Page("GET", "/crawl/host", "one host", "name, file", "404"),
        Page("GET", "/crawl/refused", "URLs that were not fetched", "reason, host, after"),
        Page("GET", "/crawl/courtesy", "the courtesy report", "host, after", "404"),
        Page("GET", "/crawl/watch", "robots in access logs, with `--watch`"),
        Page("GET", "/crawl/removals", "the removals that were granted", "page, done"),
        Page("POST", "/crawl/removals", "lifts one of them", "token, id", "303: done"),
    ),
    "Files": (
        Page(
            "GET",
            "/static/FILE",
            "styles, scripts and icon; with their hash as `v`, browsers keep them for a year",
            "v",
            "404",
        ),
        Page("GET", "/favicon.ico", "the icon"),
        Page("GET", "/robots.txt", "what robots may visit here"),
        Page("GET", "/sitemap.xml", "the public pages in all languages"),
        Page(
            "GET",
            "/.well-known/http-message-signatures-directory",
            "the public key of a robot that signs its requests (`--sign`)",
        ),
    ),
}

INTRODUCTION: Final = """\
# HTTP

`goodbot serve` answers these paths. `goodbot serve --public-url https://example.org/find/` serves all of them below
`/find`. [OpenAPI](https://spec.openapis.org/oas/v3.1.0) describes the API at `/openapi.json`.

**Without a crawl** (no `--in`), the home page, `/about`, the checker, the robots directory, `/healthz`, `/metrics`
and the files are served; everything about search, visitors' URLs and the crawl gets 404. With `--follow` there is
also the search, and `/healthz` says how old the copy of the index is.

**Methods.** HEAD works wherever GET does. Methods that the tables below do not name get 405 with `Allow`.

**Language.** Pages are in the language of `Accept-Language`, English or Russian; `hl=en` and `hl=ru` on any page
override it. Results in the reader's languages rank higher: on `/search`, the language of `hl` and then those of
`Accept-Language`; in the API, those of `Accept-Language`.

**Errors.** Every page may answer 429 (too many requests; `Retry-After` says when to try again), 503 (the index or the
crawl cannot be read) and 500 (a fault, which is in the log). The pages for the operator answer 403 without the token of
the crawl. The API answers errors as `{"error": "one sentence"}`, pages as a page. The HTTP server itself answers,
without a body or with one line of text: 400 (not HTTP, or the wrong `Host`), 408 (the request took too long to arrive),
414 or 431 (request line or headers are too long), 501 (an unknown transfer coding), 503 (all connections are busy, or
the server is being stopped) and 505 (another version of HTTP). A body that is too long gets 413 as soon as its length
is known; then the connection closes.

**URLs.** Wherever a parameter is a URL, a text that is not an http or https URL gets 400. A URL unknown to the
crawl gets 404 where nothing could be shown (`/cached`, `/explain`, `/removal`); so does a URL that no server can have,
such as `http://1.2.3.4.5/`. A URL may lack its scheme if it begins with a domain or an IP address (`example.org/a`), or
if the crawl knows it or has a seed there (`intranet/a`).

**Rate limits.** 300 requests per minute from one client address, in bursts of up to 60; changes (`POST /submit`,
`/api/submit`, `/removal`, and `/indexnow`) 10 per minute, in bursts of up to 10. An IPv6 /64 network is one client.
Clients on the same machine have no limit for pages; an untrusted proxy there has one, for all its visitors together.
`/healthz`, `/metrics`, `/robots.txt`, `/favicon.ico`, `/opensearch.xml`, `/searxng.yml` and `/static/` have no limit at
all. Behind a proxy that is named with `--trusted-proxy`, the client is the one in `X-Forwarded-For`.

**Other origins.** Pages of other sites may read the answers to GET of `/api/…`, `/search.atom`, `/opensearch.xml`,
`/searxng.yml` and `/openapi.json`, and to the searches of DocSearch (`POST /1/indexes/*/queries`):
`Access-Control-Allow-Origin: *`, without cookies. They may read nothing else, and any other `POST` from them gets 403.

**Caching.** Pages and answers are revalidated each time (`no-cache`), or not stored (`no-store`) if they are about one
URL or for the operator. `/openapi.json`, `/opensearch.xml`, `/searxng.yml`, `/robots.txt` and `/sitemap.xml` may be
kept for an hour.

**Security.** Every response has a Content-Security-Policy that permits no inline script and no other server,
`X-Content-Type-Options`, `Referrer-Policy`, `Cross-Origin-Opener-Policy`, `Cross-Origin-Resource-Policy` and
`Permissions-Policy`; and `Strict-Transport-Security` if `--public-url` is https. `X-Robots-Tag: noindex` is on
everything but the public pages, which `/sitemap.xml` lists. The policy of `/cached/document`, the copy of a page of
another site, is an exception: it permits inline styles and images in `data:` URLs, but no request, no script and no
form, and puts the copy into a sandbox with an origin of its own.
"""
TIMES: Final = """\
Times are in Unix seconds. `highlights` are pairs of start and end in `snippet`. They count Unicode code points, as
Python does, and not bytes or UTF-16 units; in JavaScript, `[...snippet].slice(start, end).join("")` is such a part.\
"""
LIMITS: Final = f"""\
## Limits

| what | limit | beyond it |
|---|---|---|
| request line and header fields | {_kib(HEAD_BYTES)} together | 414 if the request line alone is longer, else 431 |
| time for the head, and then the body of a request | {HEAD_TIMEOUT_S:g} s, {BODY_TIMEOUT_S:g} s | 408 |
| connections | {MAX_CONNECTIONS}, or half the files that the process may open if that is less | the one that has \
waited longest for its client is closed; if all are being answered, 503 with `Retry-After` |
| query `q` | its first {MAX_QUERY_CHARS:,} characters count | none; but a GET reaches the limit of the request line \
first, where a Cyrillic letter takes 6 bytes, and a Chinese one 9 |
| a URL | {MAX_TYPED_CHARS:,} characters, also when it is percent-encoded | 400; 404 if only the encoded URL is longer |
| the value of a filter | {MAX_VALUE_CHARS:,} characters | 400 |
| `page` | {MAX_PAGE} | 400; the robots directory shows its last page |
| `q` and `operator` of `/robots` and `/api/robots` | their first {ROBOTS_CHARS} characters count | none |
| body of `/submit`, `/api/submit`, `/removal` | {_kib(MAX_BODY_BYTES)} | 413 |
| body of `/check`, `/check/report`, `/api/check` | {_kib(CHECKER_BYTES)}; the robots.txt in it {_kib(MAX_TEXT_BYTES)} \
| 413 |
| `agent` and `url` of the checker | {AGENT_CHARS} and {URL_CHARS:,} characters | 400 |
| body of `/1/indexes/*/queries` | {_kib(DOCSEARCH_BYTES)}, {MAX_SEARCHES} searches, tags of {MAX_TAG_CHARS} \
characters | 413; 400 if there are more searches, or longer tags |
| body of `/indexnow` | {_kib(INDEXNOW_BYTES)}, {MAX_URLS:,} URLs | 413; 400 if there are more URLs |
| body of `/crawl/submit` and other orders | {_kib(ORDER_BYTES)} | 413 |
| body of `/crawl/login`, `/crawl/logout`, `/crawl/removals` | {_kib(MAX_LOGIN_BYTES)} | 413 |
"""


def http_page() -> str:
    """Builds the page."""
    parts = [INTRODUCTION, LIMITS, *_pages(), "## API", "", TIMES, ""]
    for tag, description in TAGS.items():
        parts += [f"### {description}", ""]
        for operation in OPERATIONS:
            if operation.tag == tag:
                parts += [*_operation(operation)]
    parts += ["## Figures of /metrics", "", *_figures(), "", "## Answers", ""]
    for name, schema in SCHEMAS.items():
        parts += [f"### {name}", "", *_schema(schema), ""]
    return "\n".join(parts).rstrip() + "\n"


def paths() -> set[tuple[str, str]]:
    """Returns method and path of everything on the page."""
    operations = {(operation.method.upper(), operation.path) for operation in OPERATIONS}
    return operations | {(page.method, page.path) for pages in PAGES.values() for page in pages}


def _pages() -> Iterator[str]:
    for heading, pages in PAGES.items():
        yield from (
            f"## {heading}",
            "",
            "| path | what it shows or does | parameters | statuses besides 200 |",
            "|---|---|---|---|",
        )
        for page in pages:
            yield f"| {page.method} `{page.path}` | {page.purpose} | {_code(page.parameters)} | {page.statuses} |"
        yield ""


def _code(names: str) -> str:
    return ", ".join(f"`{name}`" for name in names.split(", ") if name)


def _operation(operation: Operation) -> Iterator[str]:
    yield from (f"#### {operation.method.upper()} {operation.path}", "")
    yield f"{operation.summary}. {operation.description}".rstrip()
    yield ""
    if operation.parameters:
        yield from ("| parameter | meaning | example |", "|---|---|---|")
        yield from (_parameter(each) for each in operation.parameters)
        yield ""
    if operation.body is not None:
        example = json.dumps(next(iter(operation.body.examples.values())), ensure_ascii=False)
        yield from (f"Body: {operation.body.description}", "", "```json", example, "```", "")
    yield from ("| status | meaning | answer |", "|---|---|---|")
    for answer in sorted(operation.answers, key=lambda answer: answer.status):
        yield f"| {answer.status} | {answer.description} | {_kind(answer.schema) or f'`{answer.media_type}`'} |"
    yield ""


def _figures() -> Iterator[str]:
    """Lists the figures of a running crawl and its pages."""
    status = Status(dict.fromkeys(STATES, 0), pages=0, bytes=0, hosts=0, next_ready_at=0.0)
    live = LiveStatus(0, 0.0, 0.0, "running", 0, 0, 0.0, 0.0, 0, 0, 0, 0, errors=(("404", 1),))
    machine = MachineView(1, "", "", 0, "alive", 0.0, 0.0, None, 0.0, 0, 0, 0, 0, 0, None)
    requests = RequestMetrics()
    requests.answered("GET", "/", 200, 0.0)
    crawl = CrawlFigures(status, running=True, live=live, is_up=True, machines=(machine,))
    text = metrics_text(0, crawl, connections=0) + requests.text()
    yield from ("| name | type | meaning |", "|---|---|---|")
    for family in text_string_to_metric_families(text.decode()):
        labels = dict.fromkeys(f"`{label}`" for sample in family.samples for label in sample.labels if label != "le")
        by = f", by {', '.join(labels)}" if labels and "by " not in family.documentation else ""
        name = f"{family.name}_total" if family.type == "counter" else family.name
        yield f"| `{name}` | {family.type} | {family.documentation}{by} |"


def _parameter(parameter: Parameter) -> str:
    required = " (required)" if parameter.required else ""
    example = f"`{parameter.example}`" if parameter.example != "" else ""
    return f"| `{parameter.name}`{required} | {parameter.description} | {example} |"


def _schema(schema: Mapping[str, Any]) -> Iterator[str]:
    if "properties" not in schema:
        yield f"{schema['description']}."
        return
    yield from ("| key | type | meaning |", "|---|---|---|")
    yield from _keys(schema, "")


def _keys(schema: Mapping[str, Any], prefix: str) -> Iterator[str]:
    for name, value in schema["properties"].items():
        optional = "" if name in schema.get("required", ()) else " (optional)"
        yield f"| `{prefix}{name}`{optional} | {_kind(value)} | {value.get('description', '')} |"
        inner = value.get("items", value)
        inner = next((each for each in inner.get("anyOf", ()) if "properties" in each), inner)
        if "properties" in inner:
            yield from _keys(inner, f"{prefix}{name}{'[]' if 'items' in value else ''}.")


def _kind(schema: Mapping[str, Any] | None) -> str:
    """Names the type of a value; a component by a link to its table."""
    if schema is None:
        return ""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    if "anyOf" in schema:
        return " or ".join(_kind(each) for each in schema["anyOf"])
    if "enum" in schema:
        return ", ".join(f"`{value}`" for value in schema["enum"])
    if "const" in schema:
        return f"`{json.dumps(schema['const'])}`"
    if schema.get("type") == "array":
        return f"list of {_kind(schema['items'])}"
    return str(schema.get("type", ""))


if __name__ == "__main__":
    REFERENCE.write_text(http_page(), encoding="utf-8")
