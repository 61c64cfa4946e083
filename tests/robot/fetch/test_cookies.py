"""Which cookies are kept, and for which requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.robot.fetch.cookies import COOKIE_CHARS, MAX_COOKIES, MAX_HOSTS, Cookies
from goodbot.url import Url

NOW = 1_700_000_000.0

CASES = [
    ("a=1", "https://a.test/x/y", "https://a.test/x/z", "a=1"),
    ("a=1", "https://a.test/x/y", "https://a.test/", None),  # default path, RFC 6265 §5.1.4
    ("a=1; Path=/", "https://a.test/x/y", "https://a.test/z", "a=1"),
    ("a=1; path=/x", "https://a.test/", "https://a.test/xy", None),
    ("a=1; path=/x", "https://a.test/", "https://a.test/x/y", "a=1"),
    ("a=1; path=/x/", "https://a.test/", "https://a.test/x/y", "a=1"),
    ("a=1; path=x", "https://a.test/", "https://a.test/y", "a=1"),
    ("a=1", "https://a.test/", "https://b.test/", None),
    ("a=1; Domain=test", "https://a.test/", "https://b.test/", None),
    ("a=1; Domain=a.test", "https://a.test/", "https://www.a.test/", None),
    ("a=1; Secure", "https://a.test/", "http://a.test/", None),
    ("a=1; Secure", "http://a.test/", "https://a.test/", None),
    ("a=1; Secure", "https://a.test/", "https://a.test/", "a=1"),
    ("a=1; Max-Age=60", "https://a.test/", "https://a.test/", "a=1"),
    ("a=1; Max-Age=0", "https://a.test/", "https://a.test/", None),
    ("a=1; Max-Age=-5", "https://a.test/", "https://a.test/", None),
    ("a=1; Max-Age=-" + "9" * 4000, "https://a.test/", "https://a.test/", None),
    ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=" + "9" * 4000, "https://a.test/", "https://a.test/", "a=1"),
    ("a=1; Max-Age=many", "https://a.test/", "https://a.test/", "a=1"),
    ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT", "https://a.test/", "https://a.test/", None),
    ("a=1; Expires=Wed, 21 Oct 2115 07:28:00 GMT", "https://a.test/", "https://a.test/", "a=1"),
    ("a=1; Expires=Wed, 21 Oct 2015 07:28:00 GMT; Max-Age=9", "https://a.test/", "https://a.test/", "a=1"),
    ('a="1 2"; HttpOnly; SameSite=Lax', "https://a.test/", "https://a.test/", 'a="1 2"'),
    ("a=", "https://a.test/", "https://a.test/", "a="),
    ("=1", "https://a.test/", "https://a.test/", None),
    ("a", "https://a.test/", "https://a.test/", None),
    ("", "https://a.test/", "https://a.test/", None),
    ("a=\x7f", "https://a.test/", "https://a.test/", None),
    ("a=" + "1" * COOKIE_CHARS, "https://a.test/", "https://a.test/", None),
]


@pytest.mark.parametrize(("text", "set_by", "asked", "sent"), CASES)
def test_cookie(text: str, set_by: str, asked: str, sent: str | None) -> None:
    cookies = Cookies()
    cookies.learn(Url(set_by), (("set-cookie", text),), NOW)
    assert cookies.value(Url(asked), NOW) == sent


def test_one_that_ends_is_not_sent_any_more() -> None:
    cookies, url = Cookies(), Url("https://a.test/")
    cookies.learn(url, (("Set-Cookie", "a=1; Max-Age=60"), ("Set-Cookie", "b=2; Path=/"), ("Set-Cookie", "b=3")), NOW)
    assert cookies.value(url, NOW) == "a=1; b=3"
    assert cookies.value(url, NOW + 61) == "b=3"


def test_what_is_kept_is_bounded() -> None:
    cookies = Cookies()
    for host in range(MAX_HOSTS + 1):
        cookies.learn(Url(f"https://h{host}.test/"), (("Set-Cookie", "a=1"),), NOW)
    assert cookies.value(Url("https://h0.test/"), NOW) is None
    url = Url("https://a.test/")
    cookies.learn(url, tuple(("Set-Cookie", f"n{number}=1") for number in range(MAX_COOKIES + 1)), NOW)
    sent = cookies.value(url, NOW)
    assert sent is not None
    assert sent.startswith("n1=1; ")
    assert sent.count("=") == MAX_COOKIES


@given(st.lists(st.text(max_size=60)))
def test_never_raises(texts: list[str]) -> None:
    cookies, url = Cookies(), Url("https://a.test/")
    cookies.learn(url, tuple(("Set-Cookie", text) for text in texts), NOW)
    sent = cookies.value(url, NOW)
    assert sent is None or sent.isprintable()
