"""`goodbot directives`: what may a robot do with this page?"""

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from goodbot.cli.command_class import Command
from goodbot.cli.directives_report import ReadPage, hidden_chars, link_counts, report_lines
from goodbot.cli.options import header_field, read_input
from goodbot.cli.printing import complain, say, write_json
from goodbot.config import Settings
from goodbot.errors import InputError, RunError
from goodbot.exclusion import DIRECTIVE_DIALECTS, Access, Directives, Preferences, RobotsTxt, Verdict
from goodbot.page import Body
from goodbot.page.document import read_extract
from goodbot.url import Url, parse_url
from goodbot.values import Response

_TYPES = {".html": "text/html", ".htm": "text/html", ".xhtml": "text/html", ".shtml": "text/html", ".txt": "text/plain"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")


@click.command(
    name="directives",
    cls=Command,
    inputs=("page",),
    examples="""
    goodbot directives https://example.org/report --agent Googlebot
    goodbot directives report.html --header 'X-Robots-Tag: noindex'
    """,
)
@click.argument("page")
@click.option(
    "--agent",
    default="goodbot",
    show_default=True,
    metavar="TOKEN",
    help="Product token of the robot, or a whole User-Agent value.",
)
@click.option(
    "--dialect",
    default="modern",
    show_default=True,
    type=click.Choice(DIRECTIVE_DIALECTS),
    metavar="DIALECT",
    help="How directives are combined. modern: the strictest wins; kollar: as Russian robots read them in the 1990s.",
)
@click.option(
    "--header",
    "headers",
    multiple=True,
    metavar="'NAME: VALUE'",
    help="For a file: an HTTP header field that its server sends with it. Repeatable.",
)
def command(page: str, agent: str, dialect: str, headers: tuple[str, ...], as_json: bool) -> int:
    """What may a robot do with this page: index it, follow its links, show an extract, use it for AI?

    PAGE is a file, - for standard input, or a URL. goodbot reads META tags, the fields X-Robots-Tag and Robots-Tag, rel
    on links and data-nosnippet, and shows where each directive is and what it decides. For a URL it also reads what
    robots.txt says about uses of the content, such as AI training.

    goodbot fetches a URL under its own name, and only if robots.txt allows that; the same holds for each URL it
    redirects to. If robots.txt closes the page to the robot of --agent, goodbot says so: that robot would never see the
    directives of the page.

    Exit status: 0: the page was read; 1: robots.txt closes it to goodbot; 2: bad input, such as a file that cannot be
    read; 3: the page or its robots.txt could not be fetched.
    """
    if not agent.strip():
        raise InputError("--agent must not be empty")
    url = parse_url(page)
    read = _of_file(page, headers) if url is None else _of_site(url, headers, agent)
    if isinstance(read, ClosedPage):
        complain(read.sentence)
        if as_json:
            closed = {"line": read.verdict.line, "rule": read.verdict.rule}
            write_json({"url": read.verdict.url, "agent": agent, "dialect": dialect, "closed_to_goodbot": closed})
        return 1
    directives = Directives.parse(read.found.metas, read.headers, agent, dialect)
    preferences = read.robots.preferences(read.target, agent, headers=read.headers, metas=read.found.metas)
    if as_json:
        write_json(_json(read, agent, dialect, directives, preferences))
    else:
        for line in report_lines(read, agent, directives, preferences):
            say(*line)
    return 0


@dataclass(frozen=True)
class ClosedPage:
    """A page that robots.txt closes to goodbot."""

    verdict: Verdict
    sentence: str


# ---- reading --------------------------------------------------------------------------------------------------------


def _of_file(name: str, given: Iterable[str]) -> ReadPage:
    if "://" in name:
        raise InputError(f"not an http or https URL: {name}")
    headers = tuple(header_field(text) for text in given)
    body = read_input(name, or_site=True)
    answer = Response(200, headers, body)
    if answer.header("content-type") is None:
        answer = Response(200, (*headers, ("Content-Type", _type(name, body))), body)
    kind, found, _ = read_extract(Body(answer, Settings().decoded_limit))
    if kind in ("other", "pdf") and not headers:
        raise InputError(f"{name} is not HTML; only HTTP headers could apply (give them with --header)")
    return ReadPage(name, "/", kind, found, headers, RobotsTxt.parse(b""))


def _type(name: str, body: bytes) -> str:
    """Returns the media type by the ending of the name, as servers do; empty if unknown: then the content decides."""
    if not body:
        return "text/html"
    if b"\0" in body[:1024] and not body.startswith(_UTF_16):
        return "application/octet-stream"
    return _TYPES.get(Path(name).suffix.lower(), "")


def _of_site(url: Url, given: tuple[str, ...], agent: str) -> ReadPage | ClosedPage:
    """Fetches the page unless robots.txt closes it. Raises RunError if there is no page."""
    from goodbot.one_shot import answered_page, fetch_page  # noqa: PLC0415  (a page in a file needs no network)

    if given:
        raise InputError("--header is for a page in a file; for a URL the server sends the headers")
    visit = fetch_page(url)
    name = str(visit.url) if visit.url == url else f"{url} leads to {visit.url}, which"
    if visit.capture is None:
        if visit.access.is_closed and visit.access.result == "unreachable":
            raise RunError(f"cannot read {visit.url}: {visit.verdict.reason}")
        because = f"so it was not fetched: {visit.verdict.reason}"
        return ClosedPage(visit.verdict, f"{name} is closed to {visit.verdict.agent}, {because}")
    response = answered_page(visit.url, visit.capture)
    kind, found, _ = read_extract(Body(response, Settings().decoded_limit))
    closed = _closed(visit.access, visit.url, agent)
    return ReadPage(str(visit.url), str(visit.url), kind, found, response.headers, visit.access.rules, closed)


def _closed(access: Access, url: Url, agent: str) -> Verdict | None:
    verdict = access.verdict(url.text, agent)
    return None if verdict.allowed else verdict


# ---- for programs ---------------------------------------------------------------------------------------------------


def _json(
    read: ReadPage, agent: str, dialect: str, directives: Directives, preferences: Preferences
) -> dict[str, object]:
    closed = read.closed
    return {
        "url": read.name,
        "agent": agent,
        "dialect": dialect,
        "kind": read.kind,
        **asdict(directives),
        "hidden_chars": hidden_chars(read.found),
        "links": link_counts(read.found),
        "preferences": dict(preferences),
        "closed_to_agent": None if closed is None else {"line": closed.line, "rule": closed.rule},
    }
