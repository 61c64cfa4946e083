"""URLs that visitors type."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError, UnusableUrlError, UrlError
from goodbot.url import Url, parse_url
from goodbot.visitor_urls import (
    ABSOLUTE_URL,
    MAX_TYPED_CHARS,
    TYPED_URL,
    has_userinfo,
    is_internal,
    named_host,
    plain_url,
    visitor_url,
)

READ = [
    ("https://example.org/a?b=c#d", "https://example.org/a?b=c"),
    ("  http://Example.ORG  ", "http://example.org/"),
    ("example.org", "https://example.org/"),
    ("example.org:8443/a", "https://example.org:8443/a"),
    ("example.org/a b", "https://example.org/a%20b"),
    ("https://пример.рф/ж", "https://xn--e1afmkfd.xn--p1ai/%D0%B6"),
    ("example.org/go?u=https://example.net/", "https://example.org/go?u=https://example.net/"),
    ("a_b.example.org./", "https://a_b.example.org./"),
    ("http://[::1]:8020/", "http://[::1]:8020/"),
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
    ("http://example.org:99999/", "no server can have the URL"),
    ("http://1.2.3.4.5/", "no server can have the URL"),
    ("http://[::1::]/", "no server can have the URL"),
    ("http://example.org*/", "not an http or https URL"),
    ("http://a,b/", "not an http or https URL"),
    ("example.org*", "not an http or https URL"),
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


PLAIN = (
    "example.org/a",
    "a.example:8080",
    "127.0.0.1/",
    "новый.рф",
    "xn--e1afmkfd.xn--p1ai",
    "example.org.",
    "http://wiki/",
)
WORDS = ("robots", "robots/a", "wiki:8080/a", "javascript:1", "1.0", "0", "127.0.1", "é", "null", "a.b", "example.org*")


def test_addresses_without_a_scheme_begin_with_a_domain_or_an_address() -> None:
    assert [plain_url(text) for text in PLAIN] == [visitor_url(text) for text in PLAIN]
    for text in WORDS:
        with pytest.raises(UrlError, match="is not an http or https URL"):
            plain_url(text)


@given(st.from_regex(TYPED_URL, fullmatch=True))
def test_what_programs_may_send_is_a_url(text: str) -> None:
    """So a text that the description of the API allows never gets the answer that it is not a URL."""
    try:
        url = plain_url(text)
    except UnusableUrlError:
        return
    assert isinstance(url, Url)


@given(st.from_regex(ABSOLUTE_URL, fullmatch=True))
def test_the_host_that_a_url_names(text: str) -> None:
    url, host = parse_url(text), named_host(text)
    assert host
    assert url is None or parse_url(f"{url.scheme}://{host}/") == Url(f"{url.origin}/")


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
