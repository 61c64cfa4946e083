"""When a host may be asked again: DESIGN's formula, row by row."""

import pytest

from goodbot.config import Settings
from goodbot.exclusion import Verdict
from goodbot.robot.politeness import RETRY_AFTER_MOST_S, Politeness
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request, Response

AT = 1_000_000.0
PUBLIC, PRIVATE = "http://example.org/", "http://127.0.0.1:8000/"


def capture(
    url: str, status: int = 200, elapsed_s: float = 0.0, retry_after: str | None = None, peer: str | None = None
) -> Capture:
    """An answer that began at AT."""
    headers = (("Retry-After", retry_after),) if retry_after is not None else ()
    verdict = Verdict(allowed=True, line=None, rule=None, reason="test", section="", url=url)
    return Capture(Request(Url(url), verdict), Response(status, headers, b""), AT, elapsed_s, peer)


# name, settings, capture, Crawl-delay asked, back-off before → rest after the answer, back-off after
CASES = [
    ("a public host rests a second", {}, capture(PUBLIC), None, 0.0, 1.0, 0.0),
    ("a private host needs no rest", {}, capture(PRIVATE), None, 0.0, 0.0, 0.0),
    ("a slow public host rests as long as it took", {}, capture(PUBLIC, elapsed_s=4.0), None, 0.0, 4.0, 0.0),
    ("a slow private host does not", {}, capture(PRIVATE, elapsed_s=4.0), None, 0.0, 0.0, 0.0),
    ("a name that leads to a private address", {}, capture(PUBLIC, peer="127.0.0.1"), None, 0.0, 0.0, 0.0),
    (
        "behind a proxy the peer says nothing",
        {"proxy": "http://127.0.0.1:1"},
        capture(PUBLIC, peer="127.0.0.1"),
        None,
        0.0,
        1.0,
        0.0,
    ),
    ("Crawl-delay above the floor", {}, capture(PUBLIC), 10.0, 0.0, 10.0, 0.0),
    ("Crawl-delay below the floor", {}, capture(PUBLIC), 0.5, 0.0, 1.0, 0.0),
    ("Crawl-delay of a private host", {}, capture(PRIVATE), 2.0, 0.0, 2.0, 0.0),
    ("--delay 0 does not lower what a site asks", {"delay": 0.0}, capture(PUBLIC), 3.0, 0.0, 3.0, 0.0),
    ("--delay is a floor", {"delay": 5.0}, capture(PUBLIC), 3.0, 0.0, 5.0, 0.0),
    ("429 adds a second", {}, capture(PRIVATE, 429), None, 0.0, 1.0, 1.0),
    ("503 doubles it", {}, capture(PRIVATE, 503), None, 1.0, 2.0, 2.0),
    ("doubling has an end", {}, capture(PRIVATE, 503), None, 3000.0, 3600.0, 3600.0),
    ("success halves it", {}, capture(PRIVATE), None, 8.0, 4.0, 4.0),
    ("until it is gone", {}, capture(PRIVATE), None, 1.0, 0.0, 0.0),
    ("Retry-After in seconds", {}, capture(PRIVATE, 503, retry_after="120"), None, 0.0, 120.0, 1.0),
    ("Retry-After shorter than the back-off", {}, capture(PRIVATE, 503, retry_after="1"), None, 8.0, 16.0, 16.0),
    ("Retry-After with success counts too", {}, capture(PRIVATE, 200, retry_after="7"), None, 0.0, 7.0, 0.0),
    (
        "Retry-After as a date",
        {},
        capture(PRIVATE, 503, retry_after="Mon, 12 Jan 1970 13:47:40 GMT"),
        None,
        0.0,
        60.0,
        1.0,
    ),
    ("Retry-After that cannot be read", {}, capture(PRIVATE, 503, retry_after="soon"), None, 0.0, 1.0, 1.0),
    (
        "Retry-After of 400 digits",
        {},
        capture(PRIVATE, 503, retry_after="9" * 400),
        None,
        0.0,
        RETRY_AFTER_MOST_S,
        1.0,
    ),
]


@pytest.mark.parametrize(
    ("settings", "answer", "asked", "backoff", "rest", "backoff_after"),
    [c[1:] for c in CASES],
    ids=[c[0] for c in CASES],
)
def test_rest(
    settings: dict[str, object], answer: Capture, asked: float | None, backoff: float, rest: float, backoff_after: float
) -> None:
    result = Politeness(Settings(**settings)).after(answer, asked, backoff)  # type: ignore[arg-type]
    assert result.ready_at - AT - answer.elapsed_s == pytest.approx(rest)
    assert result.backoff_s == backoff_after


def test_no_answer_keeps_the_backoff() -> None:
    answer = capture(PUBLIC)
    failed = Capture(answer.request, Failure("timeout", "no answer"), AT, 2.0)
    assert Politeness(Settings()).after(failed, None, 4.0).backoff_s == 4.0
