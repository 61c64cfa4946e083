"""Drivers for the sites about bodies, headers, charsets, HTML, links and connections."""

from collections.abc import Iterable
from urllib.parse import quote

from exam.scripted import Driver, Script, Step, gets
from goodbot.exam.exam_values import ExamSite
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites import wire
from goodbot.exam.sites.pages import (
    answers_without_body,
    broken_chunks,
    broken_html,
    charset_koi8_r,
    charset_lies,
    charset_shift_jis,
    charset_windows_1251,
    content_length_too_short,
    hundred_thousand_links,
    interim_answers,
    keep_alive_closed,
    odd_links,
    odd_urls,
    redirect_location,
    slows_under_load,
)

START: list[Step] = gets("/robots.txt", "/")
AFTER: list[Step] = gets(*wire.later_pages())


def _dies_at(*targets: str) -> Script:
    """Good: goes on with what comes after. Bad: that was the end."""
    return Script(
        good=[*START, *gets(*targets), *AFTER],
        bad=[*START, *gets(*targets), "GET /after/1"],
        reason="did not fetch /after/2",
    )


def _heads(targets: Iterable[str]) -> list[Step]:
    """Reads the first head of each answer, and comes with a new connection."""
    return [f"take 1 {target}" for target in targets]


def _all_but_the_last(*targets: str) -> Script:
    return Script(
        good=[*START, *gets(*targets)], bad=[*START, *gets(*targets[:-1])], reason=f"did not fetch {targets[-1]}"
    )


def _charset(site: ExamSite, path: str, misread_as: str) -> Script:
    """Bad: one link is what its UTF-8 is in another charset."""
    targets = [target for each in site.expects if isinstance(each, Fetches) for target in each.targets]
    wrong = quote(path.encode().decode(misread_as))
    bad = [wrong if target == quote(path) else target for target in targets]
    return Script(good=[*START, *gets(*targets)], bad=[*START, *gets(*bad)], reason=f"did not fetch {quote(path)}")


def _bomb(coding: str) -> Script:
    """Good: takes it as it was sent, unless it accepts nothing. Bad: it was the last page."""
    accepting: list[Step] = ["GET /bomb", f"GET /bomb Accept-Encoding: gzip;q=0, x, {coding};q=0.5"]
    return Script(
        good=[*START, *accepting, *AFTER], bad=[*START, *accepting], reason="did not fetch /after/1, /after/2"
    )


async def _read_70_mb(driver: Driver) -> None:
    """Not kept: only taken."""
    reader, writer = await driver.connect()
    writer.write(b"GET /endless HTTP/1.1\r\nHost: x\r\n\r\n")
    left = 70 * 10**6
    while left > 0:
        piece = await reader.read(65536)
        assert piece
        left -= len(piece)
    writer.close()


async def _leave(driver: Driver) -> None:
    """A new connection for the next request."""
    await driver.leave()


SCRIPTS: dict[str, Script] = {
    "answers-without-body": Script(
        good=[*START, *_heads(answers_without_body.EMPTY), "GET /not-modified-with-length", *AFTER],
        bad=[*START, "take 1 /no-content", "take 1 /not-modified"],
        reason="did not fetch /empty, /not-modified-with-length, /after/1",
    ),
    "binary-as-html": _dies_at("/binary"),
    "bomb-br": _bomb("br"),
    "bomb-gzip": _bomb("gzip"),
    "bomb-zstd": _bomb("zstd"),
    "broken-chunks": _dies_at(*broken_chunks.BROKEN),
    "broken-html": Script(
        good=[*START, *gets("/broken", *broken_html.FOUND)],
        bad=[*START, *gets("/broken", *broken_html.FOUND, "/base/sub/commented-out")],
        reason="fetched /base/sub/commented-out",
    ),
    "charset-koi8-r": _charset(charset_koi8_r.SITE, "/by-header/каталог", "latin-1"),
    "charset-lies": _charset(charset_lies.SITE, "/latin-1-is-1252/5€", "latin-1"),
    "charset-shift-jis": _charset(charset_shift_jis.SITE, "/by-header/表示", "latin-1"),
    "charset-windows-1251": _charset(charset_windows_1251.SITE, "/by-other-name/ёлка", "koi8-r"),
    "content-length-too-long": _dies_at("/cut", "/only-a-head", "/reset"),
    "content-length-too-short": Script(
        good=[*START, *(step for path in content_length_too_short.SHORT for step in (f"GET {path}", _leave)), *AFTER],
        bad=[*START, *gets(*content_length_too_short.SHORT, "/smuggled/1"), *AFTER],
        reason="fetched /smuggled/1",
    ),
    "endless-body": Script(
        good=[*START, "take 1000000 /endless", *AFTER],
        bad=[*START, _read_70_mb, *AFTER],
        reason="MB in 0 s",
    ),
    "huge-headers": _dies_at("/one", "/many"),
    "hundred-thousand-links": Script(
        good=[*START, *gets(*(f"/{name}" for name in hundred_thousand_links.NAMES))],
        bad=[*START, *gets(*(f"/{n % 29 + 1}" for n in range(60)))],
        reason="did not fetch /30; sent 62 requests",
    ),
    "interim-answers": Script(
        good=[*START, *_heads(interim_answers.INTERIM), *gets(*(f"/behind{path}" for path in interim_answers.INTERIM))],
        bad=[*START, *_heads(interim_answers.INTERIM), "GET /behind/continue"],
        reason="did not fetch /behind/early-hints, /behind/several",
    ),
    "keep-alive-closed": Script(
        good=[*START, *gets(*keep_alive_closed.AT_ONCE, *keep_alive_closed.NEXT, "/last")],
        bad=[*START, *gets(*keep_alive_closed.AT_ONCE, *keep_alive_closed.NEXT)],
        reason="did not fetch /last with status 200",
    ),
    "length-unsaid": _all_but_the_last(
        "/http-1-0", "/http-1-1", "/no-reason", "/behind/http-1-0", "/behind/http-1-1", "/behind/no-reason"
    ),
    "odd-links": Script(
        good=[*START, *gets("/mixed", "/frames", "/refresh", *odd_links.FOUND, *odd_links.MORE)],
        bad=[*START, *gets("/mixed", "/frames", "/refresh", "/no-text", "/rel-external", *odd_links.MORE)],
        reason="did not fetch /area",
    ),
    "odd-urls": Script(
        good=[*START, *gets("/dir/odd", "/dir/letters", *odd_urls.HREFS.values())],
        bad=[*START, *gets("/dir/odd", "/dir/%6Cetters", *odd_urls.HREFS.values(), "/dir/mailto:robot@example.org")],
        reason="fetched /dir/mailto:robot@example.org",
    ),
    "redirect-location": _all_but_the_last(
        *redirect_location.RELATIVE, *redirect_location.TARGETS, "/dir/by-host", "/by-host", "/dir/utf-8", "/caf%C3%A9"
    ),
    "slow-drip": Script(
        good=[*START, "take 1 /drip", *AFTER],
        bad=[*START, "GET /drip", *AFTER],
        reason="read 0.0 MB in 90 s",
    ),
    "slows-under-load": Script(
        good=[*START, *gets(*slows_under_load.NAMES)],
        bad=[*START, *gets(*slows_under_load.NAMES[1:]), "3 at once /page/1"],
        reason="3 requests at once",
    ),
}
