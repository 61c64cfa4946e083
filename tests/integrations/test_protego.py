"""The drop-in for Protego: its interface and, where RFC 9309 does not say otherwise, its answers."""

import copy
import inspect
import pickle
from datetime import time
from pathlib import Path
from types import ModuleType

import protego as theirs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import LIMIT_BYTES
from goodbot.integrations import protego as ours

# ---- The interface --------------------------------------------------------------------------------------------------


def public(thing: object) -> set[str]:
    return {name for name in dir(thing) if not name.startswith("_")}


def parameters(function: object) -> list[tuple[str, object, object]]:
    assert callable(function)
    return [(each.name, each.kind, each.default) for each in inspect.signature(function).parameters.values()]


def test_public_names_are_those_of_protego() -> None:
    assert set(ours.__all__) == set(theirs.__all__)
    assert public(ours.Protego) == public(theirs.Protego)


@pytest.mark.parametrize("name", ["parse", "can_fetch", "crawl_delay", "request_rate", "visit_time", "__init__"])
def test_signatures_are_those_of_protego(name: str) -> None:
    assert parameters(getattr(ours.Protego, name)) == parameters(getattr(theirs.Protego, name))


@pytest.mark.parametrize("name", ["sitemaps", "preferred_host"])
def test_properties_are_those_of_protego(name: str) -> None:
    assert isinstance(getattr(ours.Protego, name), property)
    assert isinstance(getattr(theirs.Protego, name), property)


@pytest.mark.parametrize("name", ["RequestRate", "VisitTime"])
def test_named_tuples_are_those_of_protego(name: str) -> None:
    assert parameters(getattr(ours, name)) == parameters(getattr(theirs, name))


# ---- The same answers -----------------------------------------------------------------------------------------------

ROBOTS = """\
# every record Protego reads
User-agent: *
Disallow: /private
Allow: /private/open
Disallow: /*.pdf$
Disallow: /caf\u00e9
Disallow: /a%2fb
Crawl-delay: 2.5
Request-rate: 10/1m 0600-2359
Visit-time: 0600-0845

User-agent: FigTree
User-agent: FigLeaf
Disallow: /tmp
Crawl-delay: 4

User-agent: figtree
Disallow: /more
Visit-time: 2200 0500

Sitemap: https://example.org/one.xml
Host: example.org
Sitemap: https://example.org/two.xml
"""
URLS = [
    *("/", "/private", "/private/open", "/a.pdf", "/a.pdf?x", "/caf%C3%A9", "/caf\u00e9/x", "/a%2Fb", "/a/b", "/tmp"),
    *("/more", "/robots.txt", "https://example.org", "https://example.org/private#x", "https://example.org?x"),
]
AGENTS = ["x", "FigTree", "figleaf/2.0", "Mozilla/5.0 (compatible; FigTree/1.0)", ""]


def as_tuple(said: tuple[object, ...] | None) -> tuple[object, ...] | None:
    return said and tuple(said)


@pytest.mark.parametrize("agent", AGENTS)
def test_answers_are_the_same(agent: str) -> None:
    mine, other = ours.Protego.parse(ROBOTS), theirs.Protego.parse(ROBOTS)
    assert {url: mine.can_fetch(url, agent) for url in URLS} == {url: other.can_fetch(url, agent) for url in URLS}
    assert mine.crawl_delay(agent) == other.crawl_delay(agent)
    assert as_tuple(mine.request_rate(agent)) == as_tuple(other.request_rate(agent))
    assert as_tuple(mine.visit_time(agent)) == as_tuple(other.visit_time(agent))


def test_records_of_the_whole_file_are_the_same() -> None:
    mine, other = ours.Protego.parse(ROBOTS), theirs.Protego.parse(ROBOTS)
    sitemaps = mine.sitemaps
    assert next(sitemaps) == "https://example.org/one.xml"
    assert list(mine.sitemaps) == list(other.sitemaps)
    assert mine.preferred_host == other.preferred_host == "example.org"


def test_types_are_the_same() -> None:
    mine, other = ours.Protego.parse(ROBOTS), theirs.Protego.parse(ROBOTS)
    for a, b in ((mine.request_rate("x"), other.request_rate("x")), (mine.visit_time("x"), other.visit_time("x"))):
        assert a is not None
        assert b is not None
        assert [type(value) for value in a] == [type(value) for value in b]
    assert type(mine.crawl_delay("FigTree")) is type(other.crawl_delay("FigTree")) is float


@pytest.mark.parametrize("module", [ours, theirs], ids=["goodbot", "protego"])
@pytest.mark.parametrize("text", ["", "<html>\n<p>User-agent: *", "Disallow: /", "User-agent: y\nDisallow: /"])
def test_no_statement_is_unknown(module: ModuleType, text: str) -> None:
    for parser in (module.Protego.parse(text), module.Protego()):
        assert parser.can_fetch("/", "x")
        said = parser.crawl_delay("x"), parser.request_rate("x"), parser.visit_time("x"), parser.preferred_host
        assert said == (None, None, None, None)
        assert list(parser.sitemaps) == []


# ---- Other answers, on purpose --------------------------------------------------------------------------------------

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "protego.md").read_text(encoding="utf-8")

# text, agent, URL, what goodbot answers (Protego the opposite), why: as the page says
OTHERWISE = [
    (
        "User-agent: *\nAllow: /d/index.html\nDisallow: /d/",
        "x",
        "/d/",
        False,
        "a file name does not stand for its folder",
    ),
    ("User-agent: *\nDissallow: /x", "x", "/x", True, "misspelt fields have no meaning"),
    ("User-agent: *\nDisallow /x", "x", "/x", True, "a record has a colon"),
    (
        *("User-agent: x\nCrawl-delay: 1\nUser-agent: y\nDisallow: /", "x", "/", False),
        "only a rule ends the list of names",
    ),
    ("User-agent: fig/1.0\nDisallow: /", "fig", "/", False, "the version is not part of a token"),
    ("\ufeffUser-agent: *\nDisallow: /", "x", "/", False, "most sites that send one do so by accident"),
    ("User-agent: *\nDisallow: /x\u2028Disallow: /y", "x", "/y", True, "a line ends at CR, LF or CRLF"),
    ("User-agent: fig*tree\nDisallow: /", "figtree", "/", True, "no wildcards in names"),
    ("User-agent: fig, tree\nDisallow: /", "fig", "/", False, "a token ends at a space, a comma or any character"),
    ("User-agent: bot\nDisallow: /", "My/1.0 (bot)", "/", True, "the product token counts, not the whole value"),
    ("User-agent: fig\nDisallow: /", "FigTree", "/", True, "the whole token is compared"),
    ("User-agent: fig tree\nDisallow: /", "fig", "/", False, "a token ends at a space, a comma or any character"),
    ("User-agent: *\nDisallow: /q?a=b%2Fc", "x", "/q?a=b/c", False, "figure 4 of RFC 9309"),
    ("User-agent: *\nDisallow: /x%3Dy", "x", "/x=y", True, "an encoded reserved character differs"),
    ("User-agent: *\nDisallow: /x", "x", "//h/x", True, "a URL without a scheme is a path"),
]


@pytest.mark.parametrize(("text", "agent", "url", "may", "why"), OTHERWISE)
def test_answers_follow_rfc_9309(text: str, agent: str, url: str, may: bool, why: str) -> None:
    assert ours.Protego.parse(text).can_fetch(url, agent) is may
    assert theirs.Protego.parse(text).can_fetch(url, agent) is not may
    assert why in PAGE


# records of *, method, what goodbot answers, what Protego answers
PACES = [
    ("Crawl-delay: 5\nCrawl-delay: 3", "crawl_delay", 5.0, 3.0),
    ("Crawl-delay: 1e3", "crawl_delay", None, 1000.0),
    ("Crawl-delay: " + "9" * 400, "crawl_delay", 1e10, None),
    ("Crawl-delay: nan", "crawl_delay", None, None),
    ("Request-rate: 1/10\nRequest-rate: 5/1", "request_rate", (1, 10, None, None), (5, 1, None, None)),
    ("Request-rate: 1/2d", "request_rate", (1, 172800, None, None), (1, 172800, None, None)),
    ("Request-rate: 0/0", "request_rate", None, None),
    ("Request-rate: 1/1 0600-2400", "request_rate", (1, 1, time(6), time(23, 59)), None),
    ("Visit-time: 0600-2400", "visit_time", (time(6), time(23, 59)), None),
    ("Visit-time: 600-845", "visit_time", None, (time(6), time(8, 45))),
    ("Visit-time: 2500-9999", "visit_time", None, None),
    ("Visit-time: 0100-0200\nVisit-time: 0300-0400", "visit_time", (time(3), time(4)), (time(3), time(4))),
]


@pytest.mark.parametrize(("records", "method", "mine", "other"), PACES, ids=[row[0][:40] for row in PACES])
def test_delays_and_rates(records: str, method: str, mine: object, other: object) -> None:
    text = f"User-agent: *\n{records}"
    assert getattr(ours.Protego.parse(text), method)("x") == mine
    assert getattr(theirs.Protego.parse(text), method)("x") == other


def test_of_several_hosts_the_first() -> None:
    text = "Host: one.example\nHost: two.example"
    assert ours.Protego.parse(text).preferred_host == "one.example"
    assert theirs.Protego.parse(text).preferred_host == "two.example"


def test_500_kib_count() -> None:
    text = "User-agent: *\nDisallow: /early\n" + "#\n" * (LIMIT_BYTES // 2) + "Disallow: /late"
    parser = ours.Protego.parse(text)
    assert (parser.can_fetch("/early", "x"), parser.can_fetch("/late", "x")) == (False, True)


# ---- Bad input ------------------------------------------------------------------------------------------------------


@given(st.one_of(st.text(), st.text("\ud800\udcff:\n"), st.binary()), st.text(), st.text())
def test_no_text_raises(text: str | bytes, agent: str, url: str) -> None:
    parser = ours.Protego.parse(text)
    parser.can_fetch(url, agent)
    parser.crawl_delay(agent)
    parser.request_rate(agent)
    parser.visit_time(agent)
    list(parser.sitemaps)
    assert parser.preferred_host is None or parser.preferred_host


def test_input_that_is_not_text() -> None:
    for module in (ours, theirs):
        with pytest.raises(TypeError):
            module.Protego.parse(None)
    assert not ours.Protego.parse(b"User-agent: *\nDisallow: /\xff").can_fetch("/%FF", "x")


@pytest.mark.parametrize("agent", [None, b"x", 7])
def test_user_agents_that_are_no_text(agent: str) -> None:
    """Protego takes them as long as no group stands in the file."""
    assert theirs.Protego.parse("").can_fetch("/", agent)
    parser = ours.Protego.parse("User-agent: *\nDisallow: /a")
    assert (parser.can_fetch("/a", agent), parser.can_fetch("/b", agent)) == (False, True)


def test_pickled_and_copied() -> None:
    parser = ours.Protego.parse(ROBOTS)
    assert not parser.can_fetch("/private", "x")
    for other in (pickle.loads(pickle.dumps(parser)), copy.deepcopy(parser)):
        assert (other.can_fetch("/private", "x"), other.can_fetch("/", "x")) == (False, True)


def test_subclasses_are_made_by_parse() -> None:
    class Mine(ours.Protego):
        pass

    assert type(Mine.parse("")) is Mine
