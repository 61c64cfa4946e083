"""Url values: normal form, parts, and private addresses."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodbot.url import (
    MAX_URL_CHARS,
    Url,
    authority_of,
    host_of,
    is_private_address,
    is_private_host,
    parse_url,
    requested,
    resolve,
    resolve_all,
)

PARSED = [
    ("HTTP://User:pw@ExÄmple.ORG:80/a/../b c?q=ü#frag", "http://xn--exmple-cua.org/b%20c?q=%C3%BC"),
    ("https://example.org", "https://example.org/"),
    ("http://2130706433/", "http://127.0.0.1/"),
    ("http://0x7f.1/", "http://127.0.0.1/"),
    ("http://[0:0:0:0:0:0:0:1]:80/", "http://[::1]/"),
    ("  http://example.org/x\n", "http://example.org/x"),
    ("mailto:me@example.org", None),
    ("ftp://example.org/", None),
    ("javascript:alert(1)", None),
    ("/path", None),
    ("", None),
    ("http://", None),
    ("http://exa mple.org/", None),
    ("http://example.org:99999/", None),
    ("http://x\ud800y/", None),
    ("http://example.org/" + "a" * MAX_URL_CHARS, None),
    ("http://example.org/" + "ü" * (MAX_URL_CHARS // 3), None),
]


@pytest.mark.parametrize(("text", "expected"), PARSED, ids=[case[0][:30] for case in PARSED])
def test_parse(text: str, expected: str | None) -> None:
    url = parse_url(text)
    assert (url.text if url else None) == expected


REQUESTED = [
    ("https://example.org/a/../private", "https://example.org/private"),
    ("https://example.org\\private", "https://example.org/private"),
    ("https://example.org/pri\tva\nte", "https://example.org/private"),
    ("/a/../private", "/private"),
    ("/a/%2e%2E/./private?q=/../x#f", "/private?q=/../x"),
    ("/a\\..\\private", "/private"),
    ("/pri\tva\r\nte ", "/private"),
    (" /private\n", "/private"),
    ("\t https://example.org/private ", "https://example.org/private"),
    ("/../..", "/"),
    ("//example.org/private", "http://example.org/private"),
    ("/\\example.org/private", "http://example.org/private"),
    ("/ü b", "/%C3%BC%20b"),
    ("/%7Eann", "/%7Eann"),
    ("private", None),
    ("", None),
    ("mailto:me@example.org", None),
    ("//", None),
    ("/" + "a" * MAX_URL_CHARS, None),
    ("/\udcff", None),
]


@pytest.mark.parametrize(("text", "expected"), REQUESTED, ids=[ascii(case[0][:30]) for case in REQUESTED])
def test_requested(text: str, expected: str | None) -> None:
    assert requested(text) == expected


@given(st.text(max_size=60).map("/".__add__))
def test_requested_changes_nothing_the_second_time(text: str) -> None:
    """A URL also gives the same as its path."""
    once = requested(text)
    if once is not None and not once.startswith("//"):
        assert requested(once) == once
        assert "\\" not in once.partition("?")[0]
        whole = requested("https://example.org" + once)
        assert once.startswith("http://") or whole == "https://example.org" + once


def test_parts() -> None:
    url = Url("https://[::1]:8443/a/b?c=/d")
    assert (url.scheme, url.authority, url.host, url.port) == ("https", "[::1]:8443", "::1", 8443)
    assert (url.origin, url.target, url.path) == ("https://[::1]:8443", "/a/b?c=/d", "/a/b")
    assert url.robots_txt == Url("https://[::1]:8443/robots.txt")
    assert Url("https://example.org/").port == 443


HOST_KEYS = [
    ("http://example.org/", "example.org", "example.org"),
    ("https://www.example.co.uk:8443/", "www.example.co.uk", "example.co.uk"),
    ("http://127.0.0.1/", "127.0.0.1:80", "127.0.0.1"),
    ("http://localhost:81/", "localhost:81", "localhost"),
    ("http://[::1]:82/", "[::1]:82", "::1"),
    ("http://[2606:4700::1111]/", "2606:4700::1111", "2606:4700::1111"),
    ("http://8.8.8.8:83/", "8.8.8.8", "8.8.8.8"),
]


@pytest.mark.parametrize(("text", "key", "site"), HOST_KEYS)
def test_host_key_and_site(text: str, key: str, site: str) -> None:
    assert (Url(text).host_key, Url(text).site) == (key, site)
    assert Url(f"https://{authority_of(key)}/").host_key in (key, key.replace(":80", ":443"))
    assert host_of(key) == Url(text).host


@pytest.mark.parametrize("port", ["", ":8020"])
def test_a_host_name_longer_than_any_that_is_cached(port: str) -> None:
    host = ".".join(["a" * 60] * 6)
    assert (Url(f"http://{host}{port}/b").host, Url(f"http://{host}{port}/b").host_key) == (host, host)
    local = f"{host}.localhost"
    assert Url(f"https://{local}{port}/b").host_key == f"{local}{port or ':443'}"


def test_resolve() -> None:
    base = Url("http://example.org/a/b?c")
    cases = {
        "../x": "http://example.org/x",
        "": "http://example.org/a/b?c",
        "?q": "http://example.org/a/b?q",
        "#f": "http://example.org/a/b?c",
        "//other/": "http://other/",
        "\\\\other\\k": "http://other/k",
        " y\tz\n": "http://example.org/a/yz",
        "https:x": "https://x/",
        "data:,x": None,
        "http://u:p@other/": "http://other/",
    }
    assert {reference: getattr(resolve(base, reference), "text", None) for reference in cases} == cases


PRIVATE = ["127.0.0.1", "10.1.1.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1", "::1", "::", "fe80::1"]
PRIVATE += ["fec0::1", "::127.0.0.1", "fc00::1", "::ffff:127.0.0.1", "2002:7f00:1::", "64:ff9b::7f00:1", "fe80::1%eth0"]


@pytest.mark.parametrize("address", PRIVATE)
def test_private(address: str) -> None:
    assert is_private_address(address)


@pytest.mark.parametrize("address", ["8.8.8.8", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808"])
def test_public(address: str) -> None:
    assert not is_private_address(address)


def test_private_hosts() -> None:
    assert is_private_host("localhost")
    assert is_private_host("a.localhost")
    assert not is_private_host("example.org")
    assert not is_private_host("127.0.0.1.example")


@given(st.text(), st.text())
def test_any_text(base: str, reference: str) -> None:
    for text in (base, "http://" + base, "http://h/" + base, "http://h:" + base):
        url = parse_url(text)
        if url is None:
            continue
        assert url.text.isascii()
        assert parse_url(url.text) == url
        assert url.origin + url.target == url.text
        assert url.host
        assert url.host_key
        assert url.site
        assert 0 <= url.port < 65536
        found = resolve(url, reference)
        assert found is None or parse_url(found.text) == found


BASES = [parse_url(text) for text in ("http://h.example/a/b.html?q/r", "https://h.example/", "http://h.example/a/c")]
REFERENCES = """
    x ./x ../x /x //g.example/x ?q #f x?q x#f http:x http: http:?q http:#f https:x http://g.example
    HTTP://G.example/../y https:\\\\g.example \\x x:y javascript:x mailto:a@b http://u:p@g.example/ http:///g.example
    http://[ %2e%2e/x .. . ;x a:80
""".split()  # noqa: SIM905 - read more easily
PIECES = st.lists(
    st.one_of(
        st.sampled_from([*REFERENCES, "", "?", "#", ":", "/", "\\", "\t", "\n", " ", "http", "\ud800", "é", "\x00"])
    ),
    max_size=4,
).map("".join)


@given(st.sampled_from(BASES), st.lists(PIECES, max_size=6))
@example(BASES[0], REFERENCES)
@example(BASES[1], REFERENCES)
@example(BASES[2], REFERENCES)
@example(BASES[0], ["\t?q", "http:\t?q", "ht\ntp:?q", "", " ", "x\n?q", "x" * 9000])
def test_resolve_all_agrees_with_resolve(base: Url, references: list[str]) -> None:
    assert resolve_all(base, references) == [resolve(base, reference) for reference in references]


def test_resolve_all_keeps_missing_references() -> None:
    assert resolve_all(Url("http://h.example/"), [None, "x", None]) == [None, Url("http://h.example/x"), None]


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("http://h.test:0/", "http://h.test:0/"),
        ("http://h.test:65535/", "http://h.test:65535/"),
        ("http://h.test:65536/", None),
        ("http://h.test:-1/", None),
        ("http://me:secret@h.test/", "http://h.test/"),
        ("http://me@h.test:80/", "http://h.test/"),
        ("http://h.test@127.0.0.1/", "http://127.0.0.1/"),
        ("http://h.test/" + "x" * 10_000, None),
        ("http://" + "h" * 10_000 + "/", None),
    ],
    ids=str,
)
def test_odd_authorities_and_lengths(text: str, url: str | None) -> None:
    parsed = parse_url(text)
    assert (parsed.text if parsed else None) == url
