"""URLs that visitors type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.url import Url
from goodbot.visitor_urls import MAX_TYPED_CHARS, has_userinfo, is_internal, visitor_url

READ = [
    ("https://example.org/a?b=c#d", "https://example.org/a?b=c"),
    ("  http://Example.ORG  ", "http://example.org/"),
    ("example.org", "https://example.org/"),
    ("example.org:8443/a", "https://example.org:8443/a"),
    ("example.org/a b", "https://example.org/a%20b"),
    ("https://пример.рф/ж", "https://xn--e1afmkfd.xn--p1ai/%D0%B6"),
    ("example.org/@name", "https://example.org/@name"),
    ("http://127.0.0.1:8020/", "http://127.0.0.1:8020/"),
]


@pytest.mark.parametrize(("typed", "url"), READ)
def test_what_visitors_type(typed: str, url: str) -> None:
    assert visitor_url(typed).text == url


REFUSED = [
    ("", "give the URL"),
    ("   ", "give the URL"),
    ("file:///etc/passwd", "not an http or https URL"),
    ("file:/etc/passwd", "not an http or https URL"),
    ("javascript:alert(1)", "not an http or https URL"),
    ("data:text/html,x", "not an http or https URL"),
    ("ftp://example.org/", "not an http or https URL"),
    ("mailto:me@example.org", "not an http or https URL"),
    ("http:example.org", "not an http or https URL"),
    ("http:/example.org/", "not an http or https URL"),
    ("https://", "not an http or https URL"),
    ("http://exa\tmple.org/", "not an http or https URL"),
    ("http://example.org/\nx", "not an http or https URL"),
    ("http://example.org/\x00", "not an http or https URL"),
    ("http://example.org:99999/", "not an http or https URL"),
    ("http://me@example.org/", "user name or a password"),
    ("http://me:secret@example.org/", "user name or a password"),
    ("http://:secret@example.org/", "user name or a password"),
    ("http:///me:secret@example.org/", "user name or a password"),
    ("http://good.example\\@evil.example/", None),
    ("http://good.example@evil.example/", "user name or a password"),
    ("x" * (MAX_TYPED_CHARS + 1), "longer than 2,000"),
    ("https://example.org/" + "ж" * 1000, "more than 2,000"),
]


@pytest.mark.parametrize(("typed", "reason"), REFUSED)
def test_what_is_refused(typed: str, reason: str | None) -> None:
    if reason is None:  # a backslash ends the host, as in browsers: the rest is a path
        assert visitor_url(typed).host == "good.example"
        return
    with pytest.raises(InputError, match=reason) as error:
        visitor_url(typed)
    assert len(str(error.value)) < 300
    assert str(error.value).isprintable()


INTERNAL = {
    "example.org": False,
    "example.org.": False,
    "local.example": False,
    "notlocal": True,
    "intranet": True,
    "printer.local": True,
    "printer.local.": True,
    "db.internal": True,
    "router.home.arpa": True,
    "nas.lan": True,
    "localhost": True,
    "a.localhost": True,
    "127.0.0.1": True,
    "10.1.2.3": True,
    "169.254.169.254": True,
    "2130706433": True,
    "0x7f.1": True,
    "[::1]": True,
    "[fe80::1]": True,
    "[::ffff:192.168.0.1]": True,
    "8.8.8.8": False,
    "[2606:4700::1111]": False,
}


@pytest.mark.parametrize(("host", "internal"), INTERNAL.items())
def test_hosts_of_private_networks(host: str, internal: bool) -> None:
    assert is_internal(visitor_url(f"http://{host}/")) is internal


@given(st.text() | st.text().map("https://{}".format) | st.text().map("http://example.org{}".format))
def test_no_text_does_more_than_an_input_error(text: str) -> None:
    try:
        url = visitor_url(text)
    except InputError:
        return
    assert isinstance(url, Url)
    assert not has_userinfo(url.text)
    assert isinstance(is_internal(url), bool)
