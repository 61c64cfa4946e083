"""How many requests a client may send, and who counts as one client."""

import json
import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.web import Rate, Site, create_app, running
from goodbot.web.pages.waits import wait_of
from goodbot.web.server.rate_limits import MAX_CLIENTS, RateLimit, client_of
from web.library import SPECIMENS, Library, Visitor

LOOPBACK = "127.0.0.1"
UNLIMITED = Rate(0, 1)


class Watch:
    """A clock that tests set."""

    def __init__(self) -> None:
        self.at = 1000.0

    def __call__(self) -> float:
        return self.at


def waits(limit: RateLimit, watch: Watch, times: list[float], client: str = "a") -> list[float]:
    """Returns how long the client must wait at each time, in seconds from 1000."""
    results = []
    for at in times:
        watch.at = 1000.0 + at
        results.append(round(limit.wait_s(client), 6))
    return results


@pytest.mark.parametrize(
    ("rate", "times", "expected"),
    [
        (Rate(60, 1), [0, 0, 0.5, 1, 1.5], [0, 1, 0.5, 0, 0.5]),
        (Rate(60, 3), [0, 0, 0, 0, 1, 1], [0, 0, 0, 1, 0, 1]),
        (Rate(60, 3), [0, 0, 0, 100, 100, 100, 100], [0, 0, 0, 0, 0, 0, 1]),
        (Rate(60, 3), [0, 0, 0, 2, 2, 2], [0, 0, 0, 0, 0, 1]),
        (Rate(6, 2), [0, 0, 0, 9.9, 10], [0, 0, 10, 0.1, 0]),
        (Rate(60, 1), [0, 0.9, 0.9, 0.9, 1], [0, 0.1, 0.1, 0.1, 0]),  # refused requests do not count
        (Rate(0, 1), [0] * 100, [0] * 100),
        (Rate(0, 0), [0] * 100, [0] * 100),
    ],
)
def test_bursts_and_recovery(rate: Rate, times: list[float], expected: list[float]) -> None:
    watch = Watch()
    assert waits(RateLimit(rate, watch), watch, times) == expected


def test_looking_counts_no_request() -> None:
    watch = Watch()
    limit = RateLimit(Rate(60, 2), watch)
    assert [limit.waiting_s("a") for _ in range(9)] == [0] * 9
    assert (limit.wait_s("a"), limit.waiting_s("a"), limit.wait_s("a")) == (0, 0, 0)
    assert (round(limit.waiting_s("a"), 6), limit.waiting_s("b")) == (1, 0)
    watch.at += 1
    assert (limit.waiting_s("a"), limit.wait_s("a")) == (0, 0)


@given(st.integers(1, 600), st.integers(1, 20), st.lists(st.floats(0, 30), max_size=60))
def test_never_more_than_burst_and_rate_permit(per_minute: int, burst: int, pauses: list[float]) -> None:
    watch = Watch()
    limit = RateLimit(Rate(per_minute, burst), watch)
    allowed: list[float] = []
    for pause in pauses:
        watch.at += pause
        wait = limit.wait_s("a")
        assert wait >= 0
        if not wait:
            allowed.append(watch.at)
    for first, began in enumerate(allowed):
        for last in range(first, len(allowed)):
            assert last - first + 1 <= burst + (allowed[last] - began) * per_minute / 60 + 1e-6


def test_who_waits_as_long_as_said_is_answered() -> None:
    watch = Watch()
    limit = RateLimit(Rate(7, 2), watch)
    for _ in range(50):
        watch.at += limit.wait_s("a")
        assert limit.wait_s("a") == 0


def test_clients_have_limits_of_their_own_and_the_oldest_is_forgotten() -> None:
    watch = Watch()
    limit = RateLimit(Rate(1, 1), watch)
    for number in range(MAX_CLIENTS):
        assert limit.wait_s(str(number)) == 0
    assert limit.wait_s("0") > 0
    assert limit.wait_s("one more") == 0
    assert limit.wait_s("0") == 0
    assert limit.wait_s("2") > 0


@pytest.mark.parametrize(
    ("host", "client"),
    [
        ("192.0.2.7", "192.0.2.7"),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2::1", "2001:db8:1:2::/64"),
        ("2001:DB8:1:3::1", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::ffff:192.0.2.7", "192.0.2.7"),
        ("::ffff:c000:207", "192.0.2.7"),
        ("::1", "::1"),
        ("", ""),
        ("unknown", "unknown"),
        ("x" * 5000, "x" * 100),
    ],
)
def test_who_counts_as_one_client(host: str, client: str) -> None:
    assert client_of(host) == client


@given(st.text())
def test_any_text_is_a_client(host: str) -> None:
    assert len(client_of(host)) <= 100


@contextmanager
def limited(pages: Rate, posts: Rate = UNLIMITED, proxies: tuple[str, ...] = (LOOPBACK,)) -> Iterator[Visitor]:
    """Serves pages behind a proxy on this machine; tests send X-Forwarded-For as it would."""
    site = Site("Sample", page_rate=pages, post_rate=posts, proxies=proxies)
    with running(create_app(Library(SPECIMENS), site)) as url:
        yield Visitor(url)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_too_many_requests(method: str) -> None:
    with limited(Rate(1, 2)) as visitor:
        statuses = [visitor.ask("/search?q=robot", method, X_Forwarded_For="192.0.2.1").status for _ in range(4)]
        assert statuses == ([405, 405, 429, 429] if method == "POST" else [200, 200, 429, 429])
        assert visitor.ask("/search?q=robot", method, X_Forwarded_For="192.0.2.2").status != 429


def test_what_is_answered_to_too_many_requests() -> None:
    with limited(Rate(2, 1)) as visitor:
        visitor.ask("/", X_Forwarded_For="192.0.2.1")
        page = visitor.ask("/search?q=robot", X_Forwarded_For="192.0.2.1", Accept_Language="ru")
        api = visitor.ask("/api/search?q=robot", X_Forwarded_For="192.0.2.1")
        feed = visitor.ask("/search.atom?q=robot", X_Forwarded_For="192.0.2.1")
        figures = visitor.ask("/metrics").text
    assert [answer.status for answer in (page, api, feed)] == [429, 429, 429]
    assert page.headers["Content-Type"] == "text/html; charset=utf-8"
    assert "<h1>" in page.text
    for answer in (api, feed):
        assert list(json.loads(answer.text)) == ["error"]
        assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert all(1 <= int(answer.headers["Retry-After"]) <= 30 for answer in (page, api, feed))
    assert "goodbot_http_requests_refused_total 3.0" in figures


def test_the_page_says_how_long_to_wait() -> None:
    """In the language of the reader, and in the unit that fits."""
    said = [
        (6, "en", r"IP address\. Try again in (\d+) seconds?\.", 10),
        (6, "ru", r"запросов\. Повторите попытку через (\d+) секунд[уы]?\.", 10),
        (0.1, "en", r"IP address\. Try again in (\d+) minutes\.", 10),
        (0.1, "ru", r"запросов\. Повторите попытку через (\d+) минут\.", 10),
    ]
    for rate, language, sentence, most in said:
        with limited(Rate(rate, 1)) as visitor:
            asked = {"X_Forwarded_For": "192.0.2.1", "Accept_Language": language}
            visitor.ask("/", **asked)
            page, api = (visitor.ask(path, **asked) for path in ("/search?q=robot", "/api/search?q=robot"))
        found = re.search(sentence, unescape(re.sub(r"<[^>]*>", "", page.text)))
        assert found, page.text
        assert 1 <= int(found[1]) <= most
        unit = 60 if rate < 1 else 1
        assert int(found[1]) == math.ceil(int(page.headers["Retry-After"]) / unit)
        number = math.ceil(int(api.headers["Retry-After"]) / unit)
        plural = ("minute" if rate < 1 else "second") + ("" if number == 1 else "s")
        assert json.loads(api.text)["error"].endswith(f"IP address. Try again in {number} {plural}.")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.2, "1 second"),
        (1, "1 second"),
        (1.01, "2 seconds"),
        (120, "120 seconds"),
        (121, "3 minutes"),
        (180, "3 minutes"),
        (3_599, "60 minutes"),
        (86_400, "1,440 minutes"),
    ],
)
def test_waits(seconds: float, text: str) -> None:
    assert str(wait_of(seconds)) == text


def test_monitors_and_files_have_no_limit() -> None:
    with limited(Rate(1, 1)) as visitor:
        for path in (
            "/healthz",
            "/metrics",
            "/robots.txt",
            "/static/style.css",
            "/favicon.ico",
            "/opensearch.xml",
            "/searxng.yml",
        ):
            assert [visitor.ask(path, X_Forwarded_For="192.0.2.1").status for _ in range(3)] == [200] * 3


def test_pages_have_no_limit_for_this_machine() -> None:
    with limited(Rate(1, 1)) as visitor:
        for client in ({}, {"X_Forwarded_For": "127.0.0.1"}, {"X_Forwarded_For": "::1"}):
            assert [visitor.ask("/", **client).status for _ in range(3)] == [200] * 3


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_changes_have_a_limit_for_all(method: str) -> None:
    with limited(Rate(0, 1), posts=Rate(1, 2)) as visitor:
        statuses = [visitor.ask("/indexnow?url=x&key=y", method).status for _ in range(3)]
        assert statuses[2] == 429
        assert 429 not in statuses[:2]
        assert visitor.ask("/search?q=robot").status == 200


def test_addresses_of_one_network_are_one_client() -> None:
    with limited(Rate(1, 1)) as visitor:
        hosts = ("2001:db8::1", "2001:db8::2", "[2001:db8::3]:4711", "2001:db8:0:1::1")
        assert [visitor.ask("/", X_Forwarded_For=host).status for host in hosts] == [200, 429, 429, 200]


@pytest.mark.parametrize(
    ("name", "proxies", "sent", "same_client"),
    [
        ("named", (LOOPBACK,), ("192.0.2.1", "192.0.2.2"), False),
        ("a network", ("127.0.0.0/8",), ("192.0.2.1", "192.0.2.2"), False),
        ("two proxies", (LOOPBACK, "10.0.0.0/8"), ("192.0.2.1, 10.0.0.1", "192.0.2.2, 10.0.0.1"), False),
        ("invented before the proxy", (LOOPBACK,), ("1.1.1.1, 192.0.2.1", "2.2.2.2, 192.0.2.1"), True),
        ("with a port", (LOOPBACK,), ("192.0.2.1:1", "192.0.2.1:2"), True),
        ("not an address", (LOOPBACK,), ("<b>\xff", "<b>\xff"), True),
    ],
)
def test_the_client_behind_a_proxy(
    name: str, proxies: tuple[str, ...], sent: tuple[str, str], same_client: bool
) -> None:
    with limited(Rate(1, 1), proxies=proxies) as visitor:
        statuses = [visitor.ask("/", X_Forwarded_For=value).status for value in sent]
    assert statuses == [200, 429 if same_client else 200]


def test_a_proxy_that_is_not_trusted_is_limited_though_it_is_on_this_machine() -> None:
    with running(create_app(Library([]), Site("Sample", page_rate=Rate(60, 3)))) as url:
        visitor = Visitor(url)
        statuses = [visitor.ask("/", X_Forwarded_For=f"192.0.2.{number}").status for number in range(5)]
        assert statuses == [200, 200, 200, 429, 429]
        assert {visitor.ask("/").status for _ in range(5)} == {200}
