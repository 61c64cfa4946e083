"""The drop-in for `urllib.robotparser`: the same interface, over a real server on loopback, answers by RFC 9309."""

import asyncio
import contextlib
import copy
import gc
import inspect
import pickle
import socket
import time
import urllib.error
import urllib.request
import urllib.robotparser
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import LIMIT_BYTES
from goodbot.integrations import robotparser
from goodbot.integrations.protego import Protego
from goodbot.integrations.robotparser import RobotFileParser
from webserver import Exchange, Route, WebServer, answer, closing, kept_port, resetting, silence

ROBOTS = b"""\
# A site that answers everybody
User-agent: *
Crawl-delay: 3
Request-rate: 9/30
Disallow: /search
Allow: /search/about

User-agent: HelpBot
User-agent: ToolBot
Crawl-delay: 2.5
Disallow: /tools

Sitemap: https://example.org/map%20one.xml
Sitemap: https://example.org/two.xml
"""


@pytest.fixture(autouse=True)
def no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.fixture
def impatient() -> Iterator[None]:
    """As in a program that limits how long `read` waits."""
    socket.setdefaulttimeout(0.3)
    yield
    socket.setdefaulttimeout(None)


def parsed(*lines: str) -> RobotFileParser:
    parser = RobotFileParser()
    parser.parse(lines)
    return parser


async def read(parser: RobotFileParser) -> None:
    await asyncio.to_thread(parser.read)


# ---- The interface --------------------------------------------------------------------------------------------------


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def parameters(function: object) -> list[tuple[str, object, object]]:
    assert callable(function)
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


METHODS = sorted({"__init__", "__str__", *public(urllib.robotparser.RobotFileParser)})


@pytest.mark.parametrize("name", METHODS)
def test_signatures_are_those_of_the_standard_library(name: str) -> None:
    theirs = getattr(urllib.robotparser.RobotFileParser, name)
    assert parameters(getattr(RobotFileParser, name)) == parameters(theirs)


def test_the_constructor_and_the_named_tuple_take_the_same() -> None:
    assert parameters(RobotFileParser) == parameters(urllib.robotparser.RobotFileParser)
    assert parameters(robotparser.RequestRate) == parameters(urllib.robotparser.RequestRate)
    assert robotparser.__all__ == urllib.robotparser.__all__


def test_attributes_are_there_with_the_same_first_values() -> None:
    theirs = urllib.robotparser.RobotFileParser("http://127.0.0.1:1/robots.txt")
    ours = RobotFileParser("http://127.0.0.1:1/robots.txt")
    names = public(theirs) - set(METHODS) - {"groups"}  # CPython 3.15 keeps its merged groups there
    assert {"url", "host", "path", "last_checked", "allow_all", "disallow_all", "sitemaps", "entries"} < names
    assert {name: getattr(ours, name) for name in names} == {name: getattr(theirs, name) for name in names}


# ---- The calls of CPython's documentation ---------------------------------------------------------------------------


async def test_the_documented_calls() -> None:
    async with WebServer({"/robots.txt": answer(ROBOTS)}) as server:
        rp = RobotFileParser()
        rp.set_url(server.url("/robots.txt"))
        assert (rp.url, rp.host, rp.path) == (server.url("/robots.txt"), f"127.0.0.1:{server.port}", "/robots.txt")
        assert (rp.mtime(), rp.can_fetch("*", server.url("/"))) == (0, False)
        before = time.time()
        await read(rp)
    assert before <= rp.mtime() <= time.time()
    rate = rp.request_rate("*")
    assert rate is not None
    assert (rate.requests, rate.seconds, type(rate.seconds)) == (9, 30, int)
    delay = rp.crawl_delay("*")
    assert (delay, type(delay), rp.crawl_delay("toolbot")) == (3, int, 2.5)
    assert rp.request_rate("ToolBot/1.0") is None
    assert rp.can_fetch("*", server.url("/search?city=Turin")) is False
    assert rp.can_fetch("*", server.url("/")) is True
    assert rp.can_fetch("*", server.url("/search/about")) is True
    assert rp.can_fetch("HelpBot/2.1 (+https://example.org/)", "/tools/x") is False
    assert rp.site_maps() == ["https://example.org/map%20one.xml", "https://example.org/two.xml"]
    assert (rp.allow_all, rp.disallow_all) == (False, False)
    assert server.targets == ["/robots.txt"]


def test_modified_says_when() -> None:
    rp = RobotFileParser()
    assert (rp.crawl_delay("x"), rp.request_rate("x"), rp.site_maps()) == (None, None, None)
    before = time.time()
    rp.modified()
    assert before <= rp.mtime() == rp.last_checked <= time.time()
    assert rp.can_fetch("x", "/")  # as the standard library: nothing is said


def test_flags_of_the_program_come_first() -> None:
    rp = parsed("User-agent: *", "Disallow: /")
    rp.allow_all = True
    assert rp.can_fetch("x", "/")
    rp.disallow_all = True
    assert not rp.can_fetch("x", "/")


# ---- What the answer to `read` means --------------------------------------------------------------------------------

# status of the answer, may fetch, allow_all, disallow_all, section of RFC 9309
STATUSES = [
    (200, False, False, False, "2.3.1.1"),
    (401, True, True, False, "2.3.1.3; the standard library closes the site"),
    (403, True, True, False, "2.3.1.3; the standard library closes the site"),
    (404, True, True, False, "2.3.1.3"),
    (410, True, True, False, "2.3.1.3"),
    (429, False, False, True, "2.3.1.4, our choice; the standard library opens the site"),
    (500, False, False, True, "2.3.1.4"),
    (503, False, False, True, "2.3.1.4"),
]


@pytest.mark.parametrize(("status", "may", "opened", "closed", "section"), STATUSES)
async def test_statuses(status: int, may: bool, opened: bool, closed: bool, section: str) -> None:
    async with WebServer({"/robots.txt": answer(b"User-agent: *\nDisallow: /x", status)}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        await read(rp)
    assert (rp.can_fetch("a", "/x"), rp.allow_all, rp.disallow_all) == (may, opened, closed), section
    assert (rp.mtime() > 0) == (status == 200)


async def test_redirects_are_followed() -> None:
    there = answer(b"", 301, [("Location", "/elsewhere.txt")])
    async with WebServer({"/robots.txt": there, "/elsewhere.txt": answer(ROBOTS)}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        await read(rp)
        assert server.targets == ["/robots.txt", "/elsewhere.txt"]
    assert rp.can_fetch("a", "/") is True
    assert rp.can_fetch("a", "/search") is False


async def test_redirects_without_end_open_the_site() -> None:
    """RFC 9309 §2.3.1.2; the standard library leaves it closed."""
    async with WebServer({"/robots.txt": answer(b"", 302, [("Location", "/robots.txt")])}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        await read(rp)
        assert 5 <= len(server.targets) <= 12
    assert (rp.can_fetch("a", "/"), rp.allow_all) == (True, True)


async def drip(exchange: Exchange) -> None:
    """A body that never ends, one octet at a time."""
    await exchange.send(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await exchange.send(b"#")
        await asyncio.sleep(0.05)


NO_ANSWERS: dict[str, Route] = {
    "silence": silence,
    "reset": resetting(),
    "left": closing(b""),
    "no HTTP": closing(b"SSH-2.0-server\r\n\r\n"),
    "half a body": closing(b"HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\nUser-agent: *\n"),
    "half a chunk": closing(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n40\r\nUser-agent: *\n"),
    "no end": drip,
    "200 headers": closing(b"HTTP/1.1 200 OK\r\n" + b"X: y\r\n" * 200 + b"\r\n"),
    "coded": answer(b"\x1f\x8b\x08", 200, [("Content-Encoding", "gzip")]),
}


@pytest.mark.usefixtures("impatient")
@pytest.mark.parametrize("case", NO_ANSWERS)
async def test_no_answer_raises_and_closes(case: str) -> None:
    async with WebServer({"/robots.txt": NO_ANSWERS[case]}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        with pytest.raises(urllib.error.URLError) as caught:
            await read(rp)
    assert caught.value.__cause__ is not None
    assert (rp.can_fetch("a", "/"), rp.allow_all, rp.disallow_all, rp.mtime()) == (False, False, False, 0)


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")  # urllib leaves its connection open
@pytest.mark.parametrize("target", ["http://[::1/robots.txt", "http://127.0.0.1:port/", "http://127.0.0.1:99999/"])
async def test_redirects_to_invalid_urls(target: str) -> None:
    async with WebServer({"/robots.txt": answer(b"", 302, [("Location", target)])}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        with pytest.raises(urllib.error.URLError):
            await read(rp)
    assert not rp.can_fetch("a", "/")
    gc.collect()


async def test_no_server_listens() -> None:
    with kept_port() as port, pytest.raises(urllib.error.URLError):
        await read(RobotFileParser(f"http://127.0.0.1:{port}/robots.txt"))


def test_a_site_opened_by_hand_after_a_failure() -> None:
    """What programs write: `except URLError: rp.allow_all = True`."""
    rp = RobotFileParser("file:///robots.txt")
    with pytest.raises(urllib.error.URLError):
        rp.read()
    assert not rp.can_fetch("a", "/")
    rp.allow_all = True
    assert rp.can_fetch("a", "/")


@pytest.mark.parametrize("url", ["file:///etc/hostname", "ftp://127.0.0.1/robots.txt", "data:,User-agent", "about:x"])
def test_only_http_and_https(url: str) -> None:
    with pytest.raises(urllib.error.URLError, match="http and https"):
        RobotFileParser(url).read()


def test_without_a_url_it_is_the_error_of_the_standard_library() -> None:
    with pytest.raises(ValueError, match="unknown url type"):
        RobotFileParser().read()


@pytest.mark.parametrize("length", [True, False], ids=["with its length", "until the end"])
async def test_a_body_of_1_mb_is_cut_at_500_kib(length: bool) -> None:
    body = b"User-agent: *\nDisallow: /early\n" + b"# padding\n" * 100_000 + b"Disallow: /late\n"
    assert len(body) > 2 * LIMIT_BYTES - 50_000
    route = answer(body) if length else closing(b"HTTP/1.1 200 OK\r\n\r\n" + body)
    async with WebServer({"/robots.txt": route}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        await read(rp)
    assert (rp.can_fetch("a", "/early"), rp.can_fetch("a", "/late")) == (False, True)


async def test_the_last_good_copy_applies_while_the_server_fails() -> None:
    async with WebServer({"/robots.txt": answer(ROBOTS)}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        await read(rp)
        read_at = rp.mtime()
        server.routes["/robots.txt"] = answer(b"", 500)
        await read(rp)
        assert (rp.can_fetch("a", "/"), rp.can_fetch("a", "/search"), rp.mtime()) == (True, False, read_at)
        assert len(rp.sitemaps) == 2
        server.routes["/robots.txt"] = closing(b"")
        with pytest.raises(urllib.error.URLError):
            await read(rp)
        assert (rp.can_fetch("a", "/"), rp.can_fetch("a", "/search")) == (True, False)
        server.routes["/robots.txt"] = answer(b"", 404)
        await read(rp)
        assert (rp.can_fetch("a", "/search"), rp.site_maps()) == (True, None)
        server.routes["/robots.txt"] = answer(ROBOTS)
        await read(rp)  # the standard library would stay open for ever
        assert (rp.can_fetch("a", "/search"), rp.allow_all) == (False, False)


async def test_the_copy_of_another_site_is_no_good_copy() -> None:
    async with WebServer({"/robots.txt": answer(ROBOTS), "/other/robots.txt": answer(b"", 503)}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        await read(rp)
        rp.set_url(server.url("/other/robots.txt"))
        await read(rp)
    assert not rp.can_fetch("a", "/")


async def test_headers_of_the_program_are_sent() -> None:
    """By a Request, or by an opener that was installed: read() uses urlopen."""
    async with WebServer({"/robots.txt": answer(ROBOTS)}) as server:
        request = urllib.request.Request(server.url("/robots.txt"), headers={"User-Agent": "MyBot/1.0"})
        await read(RobotFileParser(request))
        opener = urllib.request.build_opener()
        opener.addheaders = [("User-Agent", "MyBot/2.0")]
        urllib.request.install_opener(opener)
        await read(RobotFileParser(server.url("/robots.txt")))
        urllib.request.install_opener(urllib.request.build_opener())
        assert [exchange.header("User-Agent") for exchange in server.exchanges] == ["MyBot/1.0", "MyBot/2.0"]


async def test_octets_are_not_changed() -> None:
    body = b"User-agent: *\r\nDisallow: /\xff\x85x\rDisallow: /caf\xc3\xa9\xe2\x80\xa8y\nDisallow: /z"
    async with WebServer({"/robots.txt": answer(b"\xef\xbb\xbf" + body)}) as server:
        rp = RobotFileParser(server.url("/robots.txt"))
        await read(rp)
    asked = ["/%FF%85x", "/%FF%85", "/caf%C3%A9%E2%80%A8y", "/caf%C3%A9", "/z"]
    assert [rp.can_fetch("a", url) for url in asked] == [False, True, False, True, False]


# pattern, URL, may fetch: a lone surrogate stands for an octet that was no UTF-8
SURROGATES = [
    ("/\udcff", "/\udcff/x", False),
    ("/%FF", "/\udcff", False),
    ("/\udcff", "/%FF", False),
    ("/\udcff", "/\udcfe", True),
    ("/é\udcff", "/%C3%A9\udcff", False),
    ("/\ud800", "/\ud800", False),
    ("/\udcff", "/\udcff\ud800", False),
    ("/\ud800", "/\udcff", True),
]


@pytest.mark.parametrize(("pattern", "url", "may"), SURROGATES, ids=[ascii(case) for case in SURROGATES])
def test_lone_surrogates_compare_alike_in_rule_and_url(pattern: str, url: str, may: bool) -> None:
    lines = ["User-agent: *", f"Disallow: {pattern}"]
    assert parsed(*lines).can_fetch("x", url) is may
    assert Protego.parse("\n".join(lines)).can_fetch(url, "x") is may
    theirs = urllib.robotparser.RobotFileParser()
    with contextlib.suppress(UnicodeEncodeError):  # raised by CPython up to 3.13
        theirs.parse(lines)
        theirs.modified()
        assert theirs.can_fetch("x", url) is may


# ---- Answers that are not those of the standard library -------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "urllib-robotparser.md").read_text(encoding="utf-8")

# lines, agent, URL, may fetch, what CPython 3.11 does instead, as the page says
OTHERWISE = [
    (["User-agent: *", "Disallow: /a", "Allow: /a/b"], "x", "/a/b", True, "the first rule wins"),
    (["User-agent: *", "Disallow: /*.pdf$"], "x", "/a.pdf", False, "no wildcards"),
    (["User-agent: *", "", "Disallow: /a"], "x", "/a", False, "a blank line ends the group"),
    (["User-agent: x", "Crawl-delay: 1", "User-agent: y", "Disallow: /"], "x", "/", False, "it separates the two"),
    (["User-agent: x", "Allow: /", "User-agent: x", "Disallow: /a"], "x", "/a", False, "the first group only"),
    (["User-agent: bot", "Disallow: /"], "x-bot", "/", True, "a part of the name is enough"),
    (["User-agent: bot/1.0", "Disallow: /"], "bot", "/", False, "the group does not apply"),
    (["\ufeffUser-agent: *", "Disallow: /"], "x", "/", False, "makes the first line unreadable"),
    (["User-agent: x", "Disallow: /"], "Mozilla/5.0 (compatible; x/1.0)", "/", False, "Mozilla is the name"),
    (["User-agent: *", "Disallow: /a%2Fb"], "x", "/a/b", True, "%2F is a slash"),
    (["User-agent: *", "Disallow: /x"], "x", "//h/x", True, "treats it as `/x`"),
    (["User-agent: *", "Disallow: /x"], "x", "http:/x", True, "treats it as `/x`"),
    (["User-agent: *", "Disallow: /x"], "x", " /x", True, "treats it as `/x`"),
    (["User-agent: *", "Disallow: /x"], "x", "x", False, "allows it"),
    (["User-agent: *", "Disallow: /c%23d"], "x", "/c#d", True, "`#` is a character of the path"),
    (["User-agent: *", "Disallow: /?q"], "x", "http://example.org?q", False, "the path is empty"),
    (["User-agent: *", "Disallow: /"], "x", "/robots.txt", True, "robots.txt is like any other page"),
]


@pytest.mark.parametrize(("lines", "agent", "url", "may", "instead"), OTHERWISE)
def test_answers_follow_rfc_9309(lines: list[str], agent: str, url: str, may: bool, instead: str) -> None:
    assert parsed(*lines).can_fetch(agent, url) == may
    assert f"| {instead} |" in PAGE


def test_parsed_again_the_last_text_counts() -> None:
    rp = parsed("User-agent: *", "Disallow: /a", "Sitemap: one")
    rp.parse(["User-agent: *", "Disallow: /b", "Sitemap: two"])
    assert (rp.can_fetch("x", "/a"), rp.can_fetch("x", "/b"), rp.site_maps()) == (True, False, ["two"])


# record of the group of *, crawl_delay, request_rate
PACES = [
    ("Crawl-delay: 10", 10, None),
    ("Crawl-delay: 0.5", 0.5, None),
    ("Crawl-delay: 1\nCrawl-delay: 7", 7, None),
    ("Crawl-delay: 1e999", None, None),
    ("Crawl-delay: -1", None, None),
    ("Crawl-delay: \u00b2", None, None),  # int() of it raises in CPython 3.11
    ("Crawl-delay: " + "9" * 400, 10**10, None),
    ("Crawl-delay: " + "9" * 5000, 10**10, None),  # int() of it raises in CPython 3.11
    ("Request-rate: 1/10", None, (1, 10)),
    ("Request-rate: 1/10m 0600-0845", None, (1, 600)),
    ("Request-rate: 9/10\nRequest-rate: 1/10\nRequest-rate: 2/1", None, (1, 10)),
    ("Request-rate: 0/0", None, None),
    ("Request-rate: " + "9" * 400 + "/1", None, (10**10, 1)),
]


@pytest.mark.parametrize(("record", "delay", "rate"), PACES, ids=[record[:40] for record, _, _ in PACES])
def test_delays_and_rates(record: str, delay: float | None, rate: tuple[int, float] | None) -> None:
    rp = parsed("User-agent: *", *record.split("\n"))
    assert (rp.crawl_delay("x"), rp.request_rate("x")) == (delay, rate)
    assert type(rp.crawl_delay("x")) is type(delay)


# ---- What was read, to look at --------------------------------------------------------------------------------------


def test_str_is_a_robots_txt() -> None:
    assert str(parsed(*ROBOTS.decode().splitlines())) == (
        "User-agent: HelpBot\nUser-agent: ToolBot\nCrawl-delay: 2.5\nDisallow: /tools\n\n"
        "User-agent: *\nCrawl-delay: 3\nRequest-rate: 9/30\nDisallow: /search\nAllow: /search/about"
    )


def test_names_that_share_rules_but_not_delays() -> None:
    rp = parsed("User-agent: a", "Comment: x", "User-agent: b", "Crawl-delay: 1", "User-agent: c", "Disallow: /x")
    assert [(entry.useragents, entry.delay) for entry in rp.entries] == [(["a"], None), (["b"], 1), (["c"], None)]
    assert len({id(entry.rulelines) for entry in rp.entries}) == 1
    assert str(rp) == "User-agent: b\nCrawl-delay: 1\nUser-agent: a\nUser-agent: c\nDisallow: /x"
    assert [rp.crawl_delay(agent) for agent in "abc"] == [None, 1, None]
    default = parsed("User-agent: a", "Crawl-delay: 1", "User-agent: *", "Disallow: /x").default_entry
    assert default is not None
    assert (default.useragents, default.delay) == (["*"], None)


def test_entries() -> None:
    rp = parsed(*ROBOTS.decode().splitlines(), "User-agent: *", "Disallow: /more")
    (named,) = rp.entries
    assert (named.useragents, named.delay, named.req_rate) == (["HelpBot", "ToolBot"], 2.5, None)
    assert [(line.path, line.allowance) for line in named.rulelines] == [("/tools", False)]
    default = rp.default_entry
    assert default is not None
    assert (default.useragents, default.delay, default.req_rate) == (["*"], 3, (9, 30))
    assert [str(line) for line in default.rulelines] == [
        "Disallow: /search",
        "Allow: /search/about",
        "Disallow: /more",
    ]


AGENTS = ["*", "a", "b", "ab"]
PATHS = ["/", "/a", "/b", "/ab", "/a/b?c=d", "/%FF"]
LINES = st.lists(
    st.one_of(
        st.sampled_from(["User-agent: a", "User-agent: *", "User-agent: b", "Disallow:", "Crawl-delay: 1", "Host: x"]),
        st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), st.text("/ab*$%F\xff", max_size=5)),
    ),
    max_size=12,
)


@given(LINES)
def test_str_has_the_same_rules(lines: list[str]) -> None:
    rp = parsed(*lines)
    again = parsed(*str(rp).split("\n"))
    for agent in AGENTS:
        assert [again.can_fetch(agent, path) for path in PATHS] == [rp.can_fetch(agent, path) for path in PATHS]
        assert again.crawl_delay(agent) == rp.crawl_delay(agent)


def test_pickled_and_copied() -> None:
    rp = parsed(*ROBOTS.decode().splitlines())
    assert not rp.can_fetch("a", "/search")
    for other in (pickle.loads(pickle.dumps(rp)), copy.deepcopy(rp), copy.copy(rp)):
        assert (other.can_fetch("a", "/search"), other.can_fetch("a", "/"), other.mtime()) == (False, True, rp.mtime())


# ---- Bad input ------------------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.text(), st.binary(), st.characters(categories=["Cs"]))), st.text(), st.text())
def test_no_text_raises(lines: list[str | bytes], agent: str, url: str) -> None:
    rp = RobotFileParser()
    rp.parse(lines)
    rp.can_fetch(agent, url)
    rp.crawl_delay(agent)
    rp.request_rate(agent)
    rp.site_maps()
    str(rp)


def test_lines_may_be_bytes_or_one_text() -> None:
    for lines in (ROBOTS, ROBOTS.decode(), ROBOTS.splitlines(keepends=True), iter(ROBOTS.decode().split("\n"))):
        rp = RobotFileParser()
        rp.parse(lines)  # type: ignore[arg-type]  # a whole body of bytes is an iterable of int
        assert (rp.can_fetch("HelpBot", "/tools"), rp.can_fetch("x", "/search")) == (False, False)


def test_invalid_lines_raise_type_error() -> None:
    with pytest.raises(TypeError, match="NoneType"):
        RobotFileParser().parse([None])  # type: ignore[list-item]


# The standard library takes these where no group names a robot.
@pytest.mark.parametrize("agent", [None, b"x", 7, "", "\ud800"])
def test_user_agents_without_a_name(agent: str) -> None:
    rp = parsed("User-agent: *", "Disallow: /a", "Crawl-delay: 2")
    assert (rp.can_fetch(agent, "/a"), rp.can_fetch(agent, "/b"), rp.crawl_delay(agent)) == (False, True, 2)


def test_invalid_urls() -> None:
    rp = parsed("User-agent: *", "Disallow: /\u00e9", "Disallow: /%FF")
    asked = ["http://[::1", "http://example.org:port/", b"/\xff", b"/\xc3\xa9", "/\u00e9", "", "\ud800"]
    assert [rp.can_fetch("x", url) for url in asked] == [True, True, False, False, False, True, True]  # type: ignore[arg-type]
