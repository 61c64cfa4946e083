"""Links are written in every form a browser understands."""

from collections.abc import Iterable

from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, Observed, Reply, SiteJudgement, page, upper_escapes
from goodbot.exam.expectations import CustomExpectation, DoesNotFetch, Fetches

HREFS = {
    "entities?a=1&amp;b=2": "/dir/entities?a=1&b=2",
    "&#x2f;dir&sol;character-references": "/dir/character-references",
    "\ttabs\t-and-\nnew\r\n-lines\n": "/dir/tabs-and-new-lines",
    "   blanks-around   ": "/dir/blanks-around",
    "a blank inside": "/dir/a%20blank%20inside",
    "{scheme-relative}/dir/scheme-relative": "/dir/scheme-relative",
    "{capitals}/dir/capital-scheme": "/dir/capital-scheme",
    "http:same-scheme": "/dir/same-scheme",
    "?query-only": "/dir/odd?query-only",
    "./.././dir/./x/../dot-segments": "/dir/dot-segments",
    "/../../dir/above-the-root": "/dir/above-the-root",
    "%2e%2E/dir/encoded-dots": "/dir/encoded-dots",
    "/dir//empty-segment": "/dir//empty-segment",
    "\\dir\\backslashes": "/dir/backslashes",
    "fragment#part?no-query": "/dir/fragment",
    "query?a/../b": "/dir/query?a/../b",
    "caf&eacute;": "/dir/caf%C3%A9",
}
NO_LINKS = (
    "javascript:void('/dir/no')",
    "JaVa\nScRiPt:go('/dir/no')",
    "mailto:robot@example.org",
    "tel:+100200300",
    "data:text/html,<a href=/dir/no>",
    "about:blank",
    "https://",
    "#top",
    "",
)
LETTERS = ("/dir/%6Cetters", "/dir/letters")


async def _odd(exchange: Exchange) -> None:
    origin = exchange.origins[MAIN]
    places = {"{scheme-relative}": origin.partition(":")[2], "{capitals}": origin.upper()}
    text = "\n".join(f"<p><a href='{href}'>link</a>" for href in _without_quotes([*HREFS, *NO_LINKS, LETTERS[0]]))
    for name, value in places.items():
        text = text.replace(name, value)
    await exchange.reply(Reply(f"<!doctype html><title>Odd</title>{text}".encode()))


def _without_quotes(hrefs: Iterable[str]) -> list[str]:
    return [href.replace("'", "&#39;") for href in hrefs]


def _letters(seen: Observed) -> SiteJudgement:
    found = any(upper_escapes(each.target) in LETTERS for each in seen.of())
    return SiteJudgement(found, f"fetched {LETTERS[0]}" if found else f"did not fetch {LETTERS[0]}")


SITE = ExamSite(
    name="odd-urls",
    teaches="Resolve links as browsers do, however they are written, and ignore those that are not Web addresses.",
    source="WHATWG URL 4.4; RFC 3986 5",
    pages={
        "/": page("/dir/odd"),
        "/dir/odd": _odd,
        **{target: page(title="Found") for target in (*HREFS.values(), *LETTERS)},
    },
    expects=(
        Fetches(("/", "/dir/odd", *HREFS.values())),
        CustomExpectation("found", f"fetches {' or '.join(LETTERS)}", _letters),
        DoesNotFetch(
            ("*javascript*", "*mailto*", "*tel:*", "*data:*", "*about*", "*/no*", "*#*", "*https:*"), rule="trap"
        ),
    ),
)
