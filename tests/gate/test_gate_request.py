"""What the gate reads of the fields that a Web server sends: the target, the host, the method, the User-Agent."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gate.gates import HOST, PROXIES, PROXY, STRANGER, asked_for, decided, fields_of, gate_with
from goodbot.gate.gate_request import MOST_TARGETS, URI_FIELDS, GateRequest, host_of, is_forwarded, read_request

Fields = list[tuple[bytes, bytes]]


def read(fields: Fields, own_target: str = "/decide", peer: str | None = PROXY) -> GateRequest:
    return read_request("GET", own_target, fields, peer, PROXIES)


def targets_of(uri: str | bytes) -> tuple[str, ...]:
    octets = uri.encode() if isinstance(uri, str) else uri
    return read([(b"x-original-uri", octets)]).targets


@pytest.mark.parametrize("field", URI_FIELDS)
def test_each_field_with_a_uri_names_the_target(field: bytes) -> None:
    request = read([(field, b"/page?a=b")])
    assert request.targets == ("/page?a=b",)
    assert request.target == "/page?a=b"
    assert is_forwarded([(field, b"/page?a=b")])


def test_without_such_a_field_the_request_is_for_the_gate_itself() -> None:
    fields = [(b"host", b"example.org"), (b"user-agent", b"curl/8.5.0")]
    assert not is_forwarded(fields)
    assert read(fields, "/own?x").targets == ("/own?x",)


def test_fields_that_agree_are_one_target() -> None:
    assert read([(field, b"/page") for field in URI_FIELDS]).targets == ("/page",)


def test_fields_that_contradict_each_other_all_count() -> None:
    fields = [(b"x-forwarded-uri", b"/open"), (b"x-original-uri", b"/private"), (b"x-original-uri", b"/other")]
    assert sorted(read(fields).targets) == ["/open", "/other", "/private"]


def test_a_second_field_is_no_way_around_a_rule() -> None:
    gate = gate_with("User-agent: *\nDisallow: /private\n")
    for more in ([(b"x-forwarded-uri", b"/open")], [(b"x-original-uri", b"/open")], [(b"x-original-url", b"/open")]):
        assert decided(gate, asked_for("/private", more=more)).code == "disallowed"
        reverse = asked_for("/open", more=[(more[0][0], b"/private")])
        assert decided(gate, reverse).code == "disallowed"
    beside = asked_for("/private", more=[(b"x-forwarded-uri", b"/robots.txt")])
    assert decided(gate, beside).code == "disallowed"


def test_too_many_targets_are_ambiguous() -> None:
    fields = [(b"x-original-uri", b"/%d" % number) for number in range(MOST_TARGETS)]
    assert len(read(fields).targets) == MOST_TARGETS
    request = read([*fields, (b"x-forwarded-uri", b"/more")])
    assert request.targets == ()
    assert request.target == ""
    decision = decided(gate_with(), request)
    assert (decision.code, decision.status) == ("ambiguous", 403)


TARGETS = [
    ("a URL", "https://example.org/page?a=b", ("/page?a=b",)),
    ("a URL in capitals", "HTTP://EXAMPLE.ORG/Page", ("/Page",)),
    ("a URL without a path", "https://example.org", ("/",)),
    ("a URL with a query only", "https://example.org?a=b", ("/?a=b",)),
    ("a URL with a port", "http://example.org:8080/page", ("/page",)),
    ("another scheme", "ftp://example.org/page", ("/page",)),
    ("nothing", "", ("/",)),
    ("spaces", "  ", ("/",)),
    ("spaces around", " \t/page ", ("/page",)),
    ("no slash", "page", ("/page",)),
    ("the form of OPTIONS", "*", ("/*",)),
    ("UTF-8", "/café", ("/caf%C3%A9",)),
    ("UTF-8 that ends like a space", "/voilà", ("/voil%C3%A0",)),
    ("UTF-8 that ends like a line break", "/Å", ("/%C3%85",)),
    ("Cyrillic", "/стих", ("/%D1%81%D1%82%D0%B8%D1%85",)),
    ("ISO 8859-1", b"/caf\xe9", ("/caf%E9",)),
    ("every octet beyond ASCII", b"/\x80\xff", ("/%80%FF",)),
    ("a URL in a query", "/page?of=https://b.test//x", ("/page?of=https://b.test//x",)),
    ("dots in a query", "/page?of=/../x", ("/page?of=/../x",)),
    ("a hidden file", "/.well-known/x", ("/.well-known/x",)),
    ("dots in a name", "/a..b/...", ("/a..b/...",)),
    ("a dot segment", "/./page", ("/./page", "/page")),
    ("two dots", "/open/../private", ("/open/../private", "/private")),
    ("two dots at the end", "/a/b/..", ("/a/b/..", "/a/")),
    ("a dot at the end", "/a/.", ("/a/.", "/a/")),
    ("dots above the root", "/../../x", ("/../../x", "/x")),
    ("only dots", "/..", ("/..", "/")),
    ("two slashes", "//private", ("//private", "/private")),
    ("many slashes", "/a////b//", ("/a////b//", "/a/b/")),
    ("slashes before dots", "/a//../b", ("/a//../b", "/b")),
    ("an encoded slash", "/a%2Fb", ("/a%2Fb", "/a/b")),
    ("an encoded slash in small letters", "/a%2fb", ("/a%2fb", "/a/b")),
    ("encoded dots", "/open/%2e%2E/private", ("/open/%2e%2E/private", "/private")),
    ("a half encoded dot", "/open/.%2e/private", ("/open/.%2e/private", "/private")),
    ("an encoded dot in a name", "/a%2ehtml", ("/a%2ehtml", "/a.html")),
    ("all encoded", "/open%2f%2e%2e%2fprivate", ("/open%2f%2e%2e%2fprivate", "/private")),
    ("encoded twice", "/open/%252e%252e/private", ("/open/%252e%252e/private",)),
    ("a query after dots", "/a/../b?c=..", ("/a/../b?c=..", "/b?c=..")),
    ("backslashes", "/open\\..\\private", ("/open\\..\\private", "/private")),
    ("encoded backslashes", "/open%5C..%5cprivate", ("/open%5C..%5cprivate", "/private")),
    ("a backslash in a query", "/page?of=a%5Cb", ("/page?of=a%5Cb",)),
    ("a backslash before dots", "/a\\b/../c", ("/a\\b/../c", "/c", "/a/c")),
]


@pytest.mark.parametrize(("uri", "expected"), [case[1:] for case in TARGETS], ids=[case[0] for case in TARGETS])
def test_the_targets_of_a_uri(uri: str | bytes, expected: tuple[str, ...]) -> None:
    assert targets_of(uri) == expected


@pytest.mark.parametrize(
    "uri",
    [
        "//private",
        "/open/../private",
        "/open/%2e%2e/private",
        "/open/..%2Fprivate",
        "/open%2F..%2F%2Fprivate",
        "/./private",
        "/%70rivate",
        "https://example.org/private",
        "/open\\..\\private",
    ],
)
def test_no_way_of_writing_a_url_leads_around_a_rule(uri: str) -> None:
    gate = gate_with("User-agent: *\nDisallow: /private\n")
    assert decided(gate, asked_for(uri)).code == "disallowed"


def test_a_rule_for_a_last_letter_holds_for_its_raw_octets() -> None:
    gate = gate_with("User-agent: *\nDisallow: /voilà\nDisallow: /стих\n")
    assert decided(gate, asked_for("/voilà")).code == "disallowed"
    assert decided(gate, asked_for("/стих")).code == "disallowed"
    assert decided(gate, asked_for("/voil")).code == "allowed"


@pytest.mark.parametrize("unit", ["a", "/", "/..", "%2e%2E/", "%2f", "é", "\\", "?", "://", "a b"])
def test_a_uri_of_64_kb_is_read_and_decided(unit: str) -> None:
    uri = "/" + unit * (65_536 // len(unit.encode()))
    assert targets_of(uri)
    gate = gate_with("User-agent: *\nDisallow: /*/x*y*z$\nDisallow: /private\n")
    assert decided(gate, asked_for(uri)).status in (200, 403)


@given(st.binary(max_size=60))
@example(b"/\xa0")
@example(b"http://\xff/")
def test_a_target_is_a_path_in_ascii(uri: bytes) -> None:
    targets = targets_of(uri)
    assert 1 <= len(targets) <= 3
    assert all(target.startswith("/") and target.isascii() for target in targets)


segments = st.sampled_from(["a", "b", "..", ".", "", "%2e%2e", "%2E", "a%2Fb", "c.html"])


@given(st.lists(segments, min_size=1, max_size=8))
def test_the_served_target_is_served_as_it_is(parts: list[str]) -> None:
    """Its dot segments and slashes are resolved, so reading it again gives no other target."""
    last = targets_of("/" + "/".join(parts))[-1]
    assert targets_of(last) == (last,)


# ---- the host -------------------------------------------------------------------------------------------------------

HOSTS = [
    ("a name", "example.org", "example.org"),
    ("capitals", "EXAMPLE.Org", "example.org"),
    ("a port", "example.org:8443", "example.org"),
    ("a final dot", "example.org.", "example.org"),
    ("a final dot and a port", "example.org.:443", "example.org"),
    ("spaces", " example.org ", "example.org"),
    ("IPv4", "192.0.2.1:80", "192.0.2.1"),
    ("IPv6 in brackets", "[2001:DB8::1]", "2001:db8::1"),
    ("IPv6 with a port", "[2001:db8::1]:443", "2001:db8::1"),
    ("IPv6 without brackets", "2001:db8::1", "2001:db8::1"),
    ("an open bracket", "[2001:db8::1", "2001:db8::1"),
    ("IDNA", "xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
    ("UTF-8", "münchen.example", "xn--mnchen-3ya.example"),
    ("UTF-8 in capitals, with a port", "MÜNCHEN.example:443", "xn--mnchen-3ya.example"),
    ("Cyrillic", "пример.рф", "xn--e1afmkfd.xn--p1ai"),
    ("a list", "client.test, example.org", "example.org"),
    ("nothing", "", ""),
    ("only a port", ":80", ""),
]


@pytest.mark.parametrize(("text", "expected"), [case[1:] for case in HOSTS], ids=[case[0] for case in HOSTS])
def test_the_host(text: str, expected: str) -> None:
    assert read(fields_of({"Host": text})).host == expected


def test_a_host_that_no_name_can_be_stays_as_it_is() -> None:
    assert host_of("\xff\xfe.example") in ("\xff\xfe.example", "xn--.example", "xn--0ca9a.example")
    assert host_of("a b\xff") == "a b\xff"


def test_the_host_of_the_proxy_counts_before_that_of_the_connection() -> None:
    fields = [(b"host", b"gate.internal"), (b"x-forwarded-host", b"Example.ORG:443")]
    request = read(fields)
    assert (request.host, request.authority) == ("example.org", "Example.ORG:443")


def test_of_a_repeated_host_the_last_counts() -> None:
    assert read([(b"x-forwarded-host", b"spoofed.test"), (b"x-forwarded-host", b"example.org")]).host == HOST
    assert read([(b"x-forwarded-host", b"spoofed.test, example.org")]).host == HOST


def test_without_any_host_it_is_empty() -> None:
    request = read([(b"x-original-uri", b"/")])
    assert (request.host, request.authority) == ("", "")


@given(st.text(alphabet=st.characters(max_codepoint=255), max_size=40))
def test_reading_a_host_never_raises(text: str) -> None:
    assert host_of(text) == host_of(f" {text}\t")


# ---- other fields ---------------------------------------------------------------------------------------------------


def test_the_method() -> None:
    assert read([]).method == "GET"
    assert read([(b"x-original-method", b"POST")]).method == "POST"
    assert read([(b"x-forwarded-method", b"HEAD")]).method == "HEAD"


def test_of_several_user_agents_the_first_counts() -> None:
    assert read([(b"user-agent", b" A/1 "), (b"user-agent", b"B/1")]).user_agent == "A/1"
    assert read([]).user_agent == ""
    assert read([(b"user-agent", b"\xe9")]).user_agent == "é"


def test_a_server_that_understands_only_403_says_so() -> None:
    assert read([(b"x-goodbot-server", b" NGINX")]).status_in_field
    assert not read([(b"x-goodbot-server", b"caddy")]).status_in_field
    assert not read([]).status_in_field


def test_the_fields_of_a_signature_are_joined() -> None:
    assert read([(b"signature", b"sig1=:AA==:")]).signature is None
    fields = [(b"signature-input", b"a=()"), (b"signature", b"a=:AA==:"), (b"signature-input", b"b=()")]
    signature = read(fields).signature
    assert signature is not None
    assert signature == ("a=(), b=()", "a=:AA==:", None)


def test_fields_that_the_gate_does_not_know_change_nothing() -> None:
    more = [(b"cookie", b"a=b"), (b"x-original-uri-2", b"/x"), (b"forwarded", b"for=192.0.2.1"), (b"", b"\xff")]
    assert asked_for("/page", more=more) == asked_for("/page")
    assert asked_for("/page").client == STRANGER
