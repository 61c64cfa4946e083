"""What content may be used for: robots.txt, HTTP fields and META, alone and together.

Sources: draft-ietf-aipref-attach-05, draft-ietf-aipref-vocab-07, contentsignals.org, RSL 1.0.
TDMRep for itself: test_tdm.py.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion.robotstxt.dialects import DIALECTS
from goodbot.exclusion.robotstxt.robots_txt import RobotsTxt
from goodbot.exclusion.uses.preferences import USES, Preferences, PreferenceSource
from goodbot.exclusion.uses.statements import USAGE_LIMIT_CHARS
from goodbot.exclusion.uses.tdm import TdmRules

Pairs = list[tuple[str, str]]

PAGE = Path(__file__).parents[3] / "docs" / "conformance" / "preferences.md"
SIGNS = {"allowed": "+", "disallowed": "-", "unknown": "?"}


def short(preferences: Preferences) -> str:
    """`+-?`: search allowed, AI input disallowed, AI training unknown."""
    return "".join(SIGNS[preferences[use]] for use in USES)


def of_lines(*lines: str, url: str = "/x", agent: str = "mybot", dialect: str = "rfc9309") -> Preferences:
    return RobotsTxt.parse("\n".join(lines), dialect).preferences(url, agent)


# ---- Content-Usage --------------------------------------------------------------------------------------------------

ATTACHMENT_EXAMPLE = """\
User-Agent: *
Allow: /
Disallow: /never/
Content-Usage: train-ai=n
Content-Usage: /ai-ok/ train-ai=y

User-Agent: ExampleBot
Allow: /
Content-Usage: train-ai=y
"""


@pytest.mark.parametrize(
    ("agent", "url", "expected"),
    [
        ("AnyBot", "/test", "??-"),
        ("AnyBot", "/never/test", "???"),
        ("AnyBot", "/ai-ok/test", "??+"),
        ("ExampleBot", "/test", "??+"),
        ("ExampleBot", "/never/test", "??+"),
        ("ExampleBot/1.0 (+https://example.org)", "/ai-ok/test", "??+"),
    ],
)
def test_example_of_the_draft(agent: str, url: str, expected: str) -> None:
    assert short(RobotsTxt.parse(ATTACHMENT_EXAMPLE).preferences(url, agent)) == expected


USAGES = [
    # the value of Content-Usage, what it comes to, where
    ("train-ai=n", "??-", "vocab: labels"),
    ("train-ai=y", "??+", "vocab: labels"),
    ("search=n", "-??", "vocab: labels"),
    ("train-ai=y, search=n", "-?+", "vocab: exemplary format"),
    ("train-ai=y,search=y", "+?+", "vocab: exemplary format"),
    ("train-ai=n;reason=x;y", "??-", "vocab: parameters are ignored"),
    ("search=y;n", "+??", "vocab: parameters are ignored"),
    ("train-ai=y, train-ai=n", "??-", "vocab: of a repeated key the last"),
    ("train-ai=n, train-ai=y", "??+", "vocab: of a repeated key the last"),
    ("train-ai=n, train-ai=?1", "???", "vocab: of a repeated key the last"),
    ("train-ai=n, other=y, ai-input=n, genai=n", "??-", "vocab: unknown labels are ignored"),
    ("ai-train=n", "???", "vocab: train-ai is the label"),
    ("ai-input=n", "???", "vocab: no such label"),
    ("train-ai=N", "???", "vocab: case"),
    ("train-ai=no", "???", "vocab: y and n only"),
    ('train-ai="n"', "???", "vocab: tokens only"),
    ("train-ai", "???", "vocab: true is no token"),
    ("train-ai=?0", "???", "vocab: tokens only"),
    ("train-ai=0", "???", "vocab: tokens only"),
    ("train-ai=(n)", "???", "vocab: tokens only"),
    ("train-ai=@1, search=n", "-??", "vocab: any type parses"),
    ('train-ai=%"n", search=n', "-??", "vocab: any type parses"),
    ("Train-AI=n", "???", "RFC 9651: no such key, so all is unknown"),
    ("train-ai=n, Search=n", "???", "vocab: parse failure"),
    ("train-ai=n,", "???", "vocab: parse failure"),
    ("train-ai=n search=n", "???", "vocab: parse failure"),
    ("train-ai=n, x=é", "???", "vocab: parse failure"),
    ("train-ai=n; search=n", "??-", "RFC 9651: that is a parameter"),
    ("train-ai=n # all of it, search=n", "??-", "attach: the value ends at #"),
    ("", "???", "attach: empty"),
    # paths
    ("/ train-ai=n", "??-", "attach: a path"),
    ("/x train-ai=n", "??-", "attach: a path"),
    ("/x\ttrain-ai=n", "??-", "attach: a blank or a tab ends it"),
    ("/x \t train-ai=n", "??-", "attach: blanks"),
    ("/x\t train-ai=n, search=y", "+?-", "attach: blanks"),
    ("/y train-ai=n", "???", "attach: another path"),
    ("/X train-ai=n", "???", "RFC 9309: case"),
    ("/x$ train-ai=n", "??-", "RFC 9309: the end"),
    ("/*x train-ai=n", "??-", "RFC 9309: any run"),
    ("/%78 train-ai=n", "??-", "RFC 9309: percent-encoding"),
    ("/x", "???", "attach: no preferences"),
    ("/xtrain-ai=n", "???", "attach: no blank, so that all is path"),
    ("*x train-ai=n", "???", "attach: a path begins with /"),
    ("x train-ai=n", "???", "attach: a path begins with /"),
]


@pytest.mark.parametrize(("value", "expected", "where"), USAGES)
def test_content_usage(value: str, expected: str, where: str) -> None:
    assert short(of_lines("User-agent: *", f"Content-Usage: {value}")) == expected


PATHS = [
    # Content-Usage lines of one group, URL, what they come to, where
    (["train-ai=n", "/ train-ai=y"], "/x", "??+", "no path is the shortest"),
    (["/ train-ai=y", "train-ai=n"], "/x", "??+", "order means nothing"),
    (["/a train-ai=n", "/ab train-ai=y"], "/abc", "??+", "the longest counts"),
    (["/ab train-ai=y", "/a train-ai=n"], "/abc", "??+", "order means nothing"),
    (["/a train-ai=n", "/ab train-ai=y"], "/ac", "??-", "the longest that matches"),
    (["/a search=n", "/ab train-ai=y"], "/abc", "??+", "a longer path hides the whole statement"),
    (["/a train-ai=y", "/a train-ai=n"], "/a", "??-", "equal paths: any n"),
    (["/a train-ai=n", "/a train-ai=y"], "/a", "??-", "equal paths: any n"),
    (["/a train-ai=y", "/a search=n"], "/a", "-?+", "equal paths apply separately"),
    (["/a* train-ai=y", "/ab train-ai=n"], "/abc", "??-", "our reading: equally long paths as equal ones"),
    (["train-ai=y", "train-ai=n"], "/a", "??-", "none and none are equal"),
    (["/%61 train-ai=n", "/a train-ai=y"], "/a", "??-", "octets of the compared form"),
    (["/ü train-ai=n", "/*** train-ai=y"], "/%C3%BC", "??-", "octets of the compared form"),
    (["/a broken=", "/ train-ai=n"], "/a", "???", "the longest counts, also if it cannot be read"),
    (["/?a=b train-ai=n"], "/?a=b&c", "??-", "path and query"),
    (["/x train-ai=n"], "https://example.org/x#y", "??-", "a whole URL"),
]


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("values", "url", "expected", "where"), PATHS)
def test_paths(dialect: str, values: list[str], url: str, expected: str, where: str) -> None:
    """The same in every dialect: its comparison is that of RFC 9309."""
    lines = [f"Content-Usage: {value}" for value in values]
    # Conner and the book read an empty path otherwise, and 1994 wants a Disallow.
    assert short(of_lines("User-agent: *", "Disallow: /closed", *lines, url=url, dialect=dialect)) == expected


CLOSED = [
    # lines, URL, what they come to
    (["Disallow: /", "Content-Usage: train-ai=y"], "/x", "???"),
    (["Disallow: /", "Content-Usage: /x train-ai=n"], "/x", "???"),
    (["Disallow: /x", "Content-Usage: train-ai=n"], "/y", "??-"),
    (["Disallow: /", "Allow: /x", "Content-Usage: train-ai=n"], "/x", "??-"),
    (["Disallow: /"], "/x", "???"),
    (["Disallow: /", "Content-Signal: ai-train=no"], "/x", "??-"),
]


@pytest.mark.parametrize(("lines", "url", "expected"), CLOSED)
def test_closed_urls(lines: list[str], url: str, expected: str) -> None:
    """Content-Usage says nothing about URLs that may not be crawled; Content-Signal has no such exception."""
    assert short(of_lines("User-agent: *", *lines, url=url)) == expected


GROUPS = """\
Content-Usage: search=n
Content-Signal: search=no

User-agent: *
Disallow: /closed
Content-Usage: train-ai=n
Content-Signal: ai-input=no

User-agent: Mybot
Disallow: /closed
Content-Usage: train-ai=y

User-agent: otherbot
Disallow: /closed

User-agent: mybot
Disallow: /closed
Content-Signal: ai-input=yes
"""
FIRST_RECORD = {"1994", "1996", "book", "kollar", "conner"}


@pytest.mark.parametrize("dialect", DIALECTS)
def test_groups(dialect: str) -> None:
    """The groups that apply to the robot depend on the dialect: all of its token, or the first record."""
    robots = RobotsTxt.parse(GROUPS, dialect)
    assert short(robots.preferences("/x", "mybot/2.0")) == ("??+" if dialect in FIRST_RECORD else "?++")
    assert short(robots.preferences("/x", "otherbot")) == "???"
    assert short(robots.preferences("/x", "nobody")) == "?--"


def test_groups_named_by_a_part_of_the_name() -> None:
    lines = ("User-agent: Rex", "Disallow: /closed", "Content-Usage: train-ai=n")
    found = {dialect: short(of_lines(*lines, agent="Lycos_Spider_(Rex)/1.0", dialect=dialect)) for dialect in DIALECTS}
    assert {dialect for dialect, value in found.items() if value == "??-"} == {"1994", "kollar", "book"}


# ---- Content-Signal -------------------------------------------------------------------------------------------------

SIGNALS = [
    ("search=yes, ai-input=no, ai-train=no", "+--"),
    ("search=yes,ai-train=no", "+?-"),
    ("ai-train=no", "??-"),
    ("ai-input=yes", "?+?"),
    ("Search = YES\t, AI-Train =No", "+?-"),
    ("search=yes, ai-train=no, use=reference", "+?-"),
    ("search=yes, search=no", "-??"),
    ("search=no, search=yes", "-??"),
    ("search=y, ai-input, ai-train=", "???"),
    ("search=yes; ai-train=no", "???"),
    ("train-ai=no", "???"),
    ("/x search=no", "???"),
    (", ,=,", "???"),
    ("", "???"),
]


@pytest.mark.parametrize(("value", "expected"), SIGNALS)
def test_content_signal(value: str, expected: str) -> None:
    assert short(of_lines("User-agent: *", f"content-signal: {value}")) == expected


def test_several_content_signals_count_together() -> None:
    lines = ("User-agent: *", "Content-Signal: search=no", "Allow: /", "Content-Signal: search=yes, ai-train=yes")
    assert short(of_lines(*lines)) == "-?+"


USE = "use={0} says how far the content may be used ({1}); it neither allows nor disallows AI input"
LEVELS = [
    ("search=yes,ai-train=no,use=reference", "+?-", USE.format("reference", "index, quote in part and link back")),
    ("use=immediate", "???", USE.format("immediate", "interact only: neither store nor reuse anything")),
    ("Use = FULL", "???", USE.format("full", "summarize and reproduce")),
    ("use=reference, ai-input=yes", "?+?", USE.format("reference", "index, quote in part and link back")),
    ("use=some", "???", "its use is none of immediate, reference, full"),
]


@pytest.mark.parametrize(("value", "expected", "note"), LEVELS)
def test_use_is_shown_and_explained(value: str, expected: str, note: str) -> None:
    """As Cloudflare's managed robots.txt has it: a level, which neither allows nor disallows one of the three uses."""
    preferences = of_lines("User-agent: *", f"Content-Signal: {value}")
    assert short(preferences) == expected
    (source,) = [source for source in preferences.sources if source.note]
    assert (source.use, source.value, source.line, source.note) == ("ai-input", "unknown", 2, note)
    assert preferences["ai-input"] != "unknown" or note in preferences.reasons["ai-input"]


HOLDERS = ("User-agent: a", "Content-Signal: search=no", "User-agent: b", "Content-Usage: train-ai=n", "User-agent: c")


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        (
            "rfc9309",
            {"a": "-?-", "b": "??-", "c": "???"},
        ),  # a rule: for all names above, and it ends them
        ("google", {"a": "-??", "b": "??-", "c": "???"}),  # an unknown record: for the name above it
        ("1994", {"a": "-??", "b": "??-", "c": "???"}),
    ],
)
def test_to_which_robots_preferences_apply(dialect: str, expected: dict[str, str]) -> None:
    robots = RobotsTxt.parse("\n".join([*HOLDERS, "Disallow: /closed"]), dialect)
    assert {agent: short(robots.preferences("/x", agent)) for agent in expected} == expected
    closed = {agent for agent in expected if not robots.allows("/closed", agent)}
    assert closed == ({"c"} if dialect == "rfc9309" else {"a", "b", "c"})


# ---- HTTP fields and META -------------------------------------------------------------------------------------------

FIELDS: list[tuple[Pairs, str]] = [
    ([("Content-Usage", "train-ai=n")], "??-"),
    ([("content-usage", " search=y\t")], "+??"),
    ([("Content-Usage", "train-ai=n"), ("Content-Usage", "search=y")], "+?-"),
    ([("Content-Usage", "train-ai=y"), ("Content-Usage", "train-ai=n")], "??-"),
    ([("Content-Usage", "train-ai=n"), ("Content-Usage", "train-ai=y")], "??+"),
    ([("Content-Usage", "train-ai=n"), ("Content-Usage", "Search=y")], "???"),
    ([("Content-Usage", "train-ai=n"), ("Content-Usage", " ")], "??-"),
    ([("Content-Usage", "/x train-ai=n")], "???"),
    ([("Content-Usage", "train-ai=n # no")], "???"),
    ([("Content-Usage", "")], "???"),
    ([("X-Content-Usage", "train-ai=n")], "???"),
    ([("Content-Signal", "search=no")], "-??"),
    ([("content-signal", " AI-Train = No\t, search=yes, ai-input=yes")], "++-"),
    ([("Content-Signal", "search=yes"), ("Content-Signal", "ai-train=no")], "+?-"),
    ([("Content-Signal", "search=no"), ("Content-Signal", "search=yes")], "-??"),
    ([("Content-Signal", "search=no"), ("Content-Signal", "?")], "-??"),
    ([("Content-Signal", "use=reference")], "???"),
    ([("Content-Signal", "search=disallow")], "???"),
    ([("Content-Signal", "")], "???"),
    ([("X-Content-Signal", "search=no")], "???"),
    ([("Content-Usage", "search=y"), ("Content-Signal", "search=no")], "-??"),
    ([("Content-Usage", "search=n"), ("Content-Signal", "search=yes")], "-??"),
]


@pytest.mark.parametrize(("headers", "expected"), FIELDS)
def test_http_fields(headers: Pairs, expected: str) -> None:
    assert short(RobotsTxt.parse("").preferences("/x", "bot", headers=headers)) == expected


NOAI: list[tuple[Pairs, Pairs, str]] = [
    ([("robots", "noai")], [], "??-"),
    ([("robots", "NoAI, noimageai")], [], "??-"),
    ([("robots", "noimageai")], [], "???"),
    ([("MyBot", "noai")], [], "??-"),
    ([("otherbot", "noai")], [], "???"),
    ([], [("X-Robots-Tag", "noai")], "??-"),
    ([], [("X-Robots-Tag", "mybot: noai")], "??-"),
    ([], [("X-Robots-Tag", "otherbot: noai")], "???"),
    ([("robots", "noindex, nofollow")], [], "???"),
]


@pytest.mark.parametrize(("metas", "headers", "expected"), NOAI)
def test_noai(metas: Pairs, headers: Pairs, expected: str) -> None:
    assert short(RobotsTxt.parse("").preferences("/x", "mybot/1.0", headers=headers, metas=metas)) == expected


LICENSES = [
    # Link fields, what is found
    (['</l.xml>; rel="license"; type="application/rsl+xml"'], ["/l.xml"]),
    (["<https://e/l>;rel=license;type=application/rsl+xml"], ["https://e/l"]),
    (['<a>; REL="next License" ; TYPE="Application/RSL+XML;charset=utf-8"'], ["a"]),
    (['<a>; rel="license"; type="text/html"'], []),
    (['<a>; rel="license"'], []),
    (['<a>; type="application/rsl+xml"'], []),
    (['<a>; rel="licenses"; type="application/rsl+xml"'], []),
    (['<a>; rel="next"; rel="license"; type="application/rsl+xml"'], []),
    (['<n>; rel=next, <a>; rel=license; type="application/rsl+xml", <b>'], ["a"]),
    (['<a,b;c>; title="x, <y>; \\"z"; rel=license; type="application/rsl+xml"'], ["a,b;c"]),
    (['<>; rel="license"; type="application/rsl+xml"'], []),
    (['<a> ; rel = license ; type = "application/rsl+xml"'], ["a"]),
    (['<a>; rel="license; type=application/rsl+xml'], []),
    (['<a; rel="license"; type="application/rsl+xml"'], []),
    (['a; rel="license"; type="application/rsl+xml"'], []),
    (['<a>; rel=license; type="application/rsl+xml"'] * 2, ["a"]),
    (["", ",", "<", "<a>;", "<a>;;=;", '<b>; rel=license;; type="application/rsl+xml"'], ["b"]),
]


@pytest.mark.parametrize(("fields", "found"), LICENSES)
def test_licenses_in_link_fields(fields: list[str], found: list[str]) -> None:
    headers = [("link", field) for field in fields]
    assert RobotsTxt.parse("").preferences("/x", "bot", headers=headers).licenses == tuple(found)


def test_licenses_of_the_file_come_first() -> None:
    robots = RobotsTxt.parse(
        "License: https://other.example/ü l.xml\nUser-agent: x\nlicense: /b\nLicense:\nLicense: /b"
    )
    headers = [("Link", '</c>; rel=license; type="application/rsl+xml"')]
    preferences = robots.preferences("/x", "mybot", headers=headers)
    assert preferences.licenses == ("https://other.example/ü l.xml", "/b", "/c")
    assert short(preferences) == "???"


# ---- All together ---------------------------------------------------------------------------------------------------

YES_USAGE, NO_USAGE = "Content-Usage: train-ai=y", "Content-Usage: train-ai=n"
YES_SIGNAL, NO_SIGNAL = "Content-Signal: ai-train=yes", "Content-Signal: ai-train=no"
USAGE = "Content-Usage"
RESERVED = TdmRules.parse('[{"location": "/", "tdm-reservation": 1}]')
NOT_RESERVED = TdmRules.parse('[{"location": "/", "tdm-reservation": 0}]')

JOINED: list[tuple[list[str], Pairs, Pairs, TdmRules | None, str]] = [
    # robots.txt, HTTP fields, META, tdmrep.json, what they come to
    ([], [], [], None, "???"),
    ([YES_USAGE], [(USAGE, "train-ai=n")], [], None, "??-"),
    ([NO_USAGE], [(USAGE, "train-ai=y")], [], None, "??-"),
    ([YES_USAGE], [(USAGE, "train-ai=y")], [], None, "??+"),
    ([YES_USAGE], [(USAGE, "search=n")], [], None, "-?+"),
    ([YES_USAGE], [(USAGE, "train-ai=")], [], None, "??+"),
    ([YES_USAGE, NO_SIGNAL], [], [], None, "??-"),
    ([NO_USAGE, YES_SIGNAL], [], [], None, "??-"),
    ([YES_USAGE, YES_SIGNAL], [], [], None, "??+"),
    ([YES_USAGE, YES_SIGNAL], [(USAGE, "train-ai=y")], [("robots", "noai")], None, "??-"),
    ([YES_SIGNAL], [("X-Robots-Tag", "noai")], [], None, "??-"),
    ([YES_USAGE], [], [], RESERVED, "?--"),
    ([NO_USAGE], [], [], NOT_RESERVED, "?+-"),
    ([YES_USAGE], [("tdm-reservation", "1")], [], NOT_RESERVED, "?--"),
    ([YES_USAGE], [("tdm-reservation", "1")], [("tdm-reservation", "0")], RESERVED, "?++"),
    (["Content-Signal: search=yes, ai-input=yes"], [], [("tdm-reservation", "1")], None, "+--"),
    (["Content-Signal: search=yes"], [(USAGE, "search=n, train-ai=y")], [], None, "-?+"),
]


@pytest.mark.parametrize(("lines", "headers", "metas", "tdm", "expected"), JOINED)
def test_joined(lines: list[str], headers: Pairs, metas: Pairs, tdm: TdmRules | None, expected: str) -> None:
    robots = RobotsTxt.parse("\n".join(["User-agent: *", *lines]))
    assert short(robots.preferences("/x", "mybot", headers=iter(headers), metas=iter(metas), tdm=tdm)) == expected


def test_sources_and_reasons() -> None:
    robots = RobotsTxt.parse(
        "User-agent: *\nContent-Signal: search=yes, ai-train=maybe\n"
        "Content-Usage: train-ai=n\nContent-Usage: /x train-ai=y # ok\nContent-Usage: /y train-ai=n\n"
    )
    preferences = robots.preferences(
        "/x",
        "mybot",
        headers=[("Content-Signal", "ai-input=no"), (USAGE, "train-ai=n"), (USAGE, "search=y")],
        metas=[("tdm-reservation", "1")],
    )
    signal, usage = "Content-Signal: search=yes, ai-train=maybe", "Content-Usage: /x train-ai=y"
    field = "Content-Usage: train-ai=n, search=y"
    of_field, attach = "HTTP field Content-Usage", "draft-ietf-aipref-attach-05"
    of_meta = ("META tdm-reservation", None, "tdm-reservation: 1", "TDMRep")
    neither, longer = "its value is neither yes nor no", "a longer path counts"
    assert preferences.sources == (
        PreferenceSource("search", "allowed", "robots.txt", 2, signal, "contentsignals.org"),
        PreferenceSource("ai-train", "unknown", "robots.txt", 2, signal, "contentsignals.org", neither),
        PreferenceSource("ai-train", "unknown", "robots.txt", 3, "Content-Usage: train-ai=n", attach, longer),
        PreferenceSource("ai-train", "allowed", "robots.txt", 4, usage, attach),
        PreferenceSource("ai-train", "disallowed", of_field, None, field, attach),
        PreferenceSource("search", "allowed", of_field, None, field, attach),
        PreferenceSource(
            "ai-input",
            "disallowed",
            "HTTP field Content-Signal",
            None,
            "Content-Signal: ai-input=no",
            "contentsignals.org",
        ),
        PreferenceSource("ai-input", "disallowed", *of_meta),
        PreferenceSource("ai-train", "disallowed", *of_meta),
    )
    assert preferences.reasons == {
        "search": f"{signal} (robots.txt, line 2) and 1 more allow search, and no statement disallows it "
        "(draft-ietf-aipref-vocab-07).",
        "ai-input": "Content-Signal: ai-input=no (HTTP field Content-Signal) and 1 more disallow ai-input, which "
        "outweighs any statement that allows it (draft-ietf-aipref-vocab-07).",
        "ai-train": f"{field} (HTTP field Content-Usage) and 1 more disallow ai-train, which outweighs any "
        "statement that allows it (draft-ietf-aipref-vocab-07).",
    }


NO_DICTIONARY = "it is not a valid dictionary of RFC 9651"

UNKNOWN = [
    # a record, the reason, the section of the source
    (
        "Content-Usage: train-ai=",
        f"Content-Usage: train-ai= (robots.txt, line 2) says nothing about ai-train: {NO_DICTIONARY}.",
        "draft-ietf-aipref-vocab-07",
    ),
    (
        "Content-Usage: train-ai",
        "Content-Usage: train-ai (robots.txt, line 2) says nothing about ai-train: its value is neither y nor n.",
        "draft-ietf-aipref-attach-05",
    ),
    (
        "Content-Signal: ai-train",
        "Content-Signal: ai-train (robots.txt, line 2) says nothing about ai-train: its value is neither yes nor no.",
        "contentsignals.org",
    ),
    ("Allow: /", "No statement about ai-train was found.", None),
]


@pytest.mark.parametrize(("record", "reason", "section"), UNKNOWN)
def test_unknown_has_a_reason(record: str, reason: str, section: str | None) -> None:
    preferences = of_lines("User-agent: *", record)
    assert preferences["ai-train"] == "unknown"
    assert preferences.reasons["ai-train"] == reason
    assert {source.section for source in preferences.sources} == ({section} if section else set())
    assert all(source.value == "unknown" and source.note for source in preferences.sources)


def test_it_is_a_mapping() -> None:
    preferences = of_lines("User-agent: *", "Content-Usage: train-ai=n")
    as_dict = {"search": "unknown", "ai-input": "unknown", "ai-train": "disallowed"}
    assert preferences == as_dict
    assert preferences == of_lines("User-agent: *", "Content-Signal: ai-train=no")
    assert preferences != Preferences()
    assert (dict(preferences), list(preferences), len(preferences)) == (as_dict, list(USES), 3)
    assert repr(preferences) == f"Preferences({as_dict})"
    assert "train-ai" not in preferences
    with pytest.raises(KeyError):
        preferences["train-ai"]


def test_every_section_is_on_the_page() -> None:
    page = PAGE.read_text("utf-8")
    sections = ("draft-ietf-aipref-attach-05", "draft-ietf-aipref-vocab-07", "contentsignals.org", "noai", "TDMRep")
    assert [section for section in (*sections, "RSL 1.0", "RFC 9651") if f"`{section}`" not in page] == []


# ---- Bad input ------------------------------------------------------------------------------------------------------

LONG = 1_000_000
HOSTILE: list[tuple[str, Pairs, Pairs]] = [
    ("User-agent: *\n" + "Content-Usage: /x train-ai=n\n" * 10_000, [], []),
    ("User-agent: *\n" + "".join(f"Content-Usage: /*{n}*x train-ai=n\n" for n in range(10_000)), [], []),
    ("User-agent: *\nContent-Usage: /x " + "train-ai=n," * 90_000, [], []),
    ("User-agent: *\nContent-Usage: /" + "a*" * 50_000 + " train-ai=n", [], []),
    ("User-agent: *\nContent-Signal: " + "ai-train=no," * 80_000, [], []),
    ("License: " + "x" * LONG, [], []),
    ("", [(USAGE, "train-ai=n")] * 10_000, []),
    *(("", [(USAGE, sign * (LONG // len(sign)))], []) for sign in ("a", "a,", "a=(", "a;", " ", '"', "a=:", "\u0661")),
    *(("", [("Link", sign * (LONG // len(sign)))], []) for sign in ("<", "<>", "<a>;", '<a>;x="', ";", " ", '"', "\\")),
    *(("", [("tdm-reservation", sign * (LONG // len(sign)))], []) for sign in ("1", "1,", "2,", " ")),
    ("", [("tdm-policy", "p" * LONG)], []),
    ("", [], [("tdm-reservation", str(n)) for n in range(10_000)]),
    ("", [], [("robots", "noai"), ("tdm-policy", "")] * 5_000),
    ("", [("", ""), ("\ud800", "\ud800"), (USAGE, "\ud800")], [("\ud800", "\ud800")]),
    ("User-agent: *\nContent-Usage: /\ud800 train-ai=n\nContent-Signal: \x00=\x00", [], []),
]


@pytest.mark.parametrize(("body", "headers", "metas"), HOSTILE)
def test_hostile_input_is_answered(body: str, headers: Pairs, metas: Pairs) -> None:
    preferences = RobotsTxt.parse(body).preferences("/x" + "a" * 1_000, "bot", headers=headers, metas=metas)
    assert set(preferences.values()) <= {"allowed", "disallowed", "unknown"}
    assert all(len(source.text) <= 160 and source.text.isprintable() for source in preferences.sources)


def test_preferences_that_are_too_long_are_unknown() -> None:
    fits = "train-ai=n;x=" + "a" * (USAGE_LIMIT_CHARS - 13)
    for value, expected in ((fits, "??-"), (fits + "a", "???")):
        assert short(RobotsTxt.parse("").preferences("/x", "bot", headers=[(USAGE, value)])) == expected


RECORDS = st.sampled_from(
    [
        "User-agent: *",
        "User-agent: mybot",
        "Disallow: /closed",
        "Content-Usage: train-ai=y",
        "Content-Usage: /x search=n, train-ai=y",
        "Content-Usage: / train-ai=n",
        "Content-Usage: broken=",
        "Content-Signal: search=yes, ai-input=yes, ai-train=yes",
        "Content-Signal: ai-input=no",
        "License: /l",
        "",
    ]
)
BODIES = st.one_of(st.text(max_size=60), st.lists(RECORDS, max_size=8).map("\n".join))
NAMES = st.sampled_from(["Content-Usage", "X-Robots-Tag", "tdm-reservation", "tdm-policy", "Link", "robots"])
VALUES = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        ["train-ai=y", "search=n", "search=y, train-ai=y", "noai", "0", "1", "2", '<a>; rel="license"', "a="]
    ),
)
PAIRS = st.lists(st.tuples(st.one_of(NAMES, st.text(max_size=5)), VALUES), max_size=5)
TDM = st.sampled_from([None, RESERVED, NOT_RESERVED])


@given(BODIES, st.text(max_size=20), st.text(max_size=20), PAIRS, PAIRS, TDM, st.sampled_from(list(DIALECTS)))
def test_never_raises(
    body: str, url: str, agent: str, headers: Pairs, metas: Pairs, tdm: TdmRules | None, dialect: str
) -> None:
    preferences = RobotsTxt.parse(body, dialect).preferences(url, agent, headers=headers, metas=metas, tdm=tdm)
    for use, value in preferences.items():
        counted = {source.value for source in preferences.sources if source.use == use} or {"unknown"}
        assert value == next(each for each in ("disallowed", "allowed", "unknown") if each in counted)
        assert all(bool(source.note) == (source.value == "unknown") for source in preferences.sources)
        assert preferences.reasons[use].endswith(".")


MORE: list[tuple[str, str, str]] = [
    # where, a statement that disallows, what
    ("line", "Content-Usage: train-ai=n", "ai-train"),
    ("line", "Content-Usage: /x search=n", "search"),
    ("line", "Content-Signal: search=no", "search"),
    ("line", "Content-Signal: ai-input=no", "ai-input"),
    ("Content-Usage", "train-ai=n", "ai-train"),
    ("Content-Usage", "search=n", "search"),
    ("X-Robots-Tag", "noai", "ai-train"),
    ("tdm-reservation", "1", "ai-input"),
    ("META", "1", "ai-train"),
]


@given(st.lists(RECORDS, max_size=6), PAIRS, PAIRS, TDM, st.sampled_from(MORE))
def test_one_more_that_disallows_never_allows(
    lines: list[str], headers: Pairs, metas: Pairs, tdm: TdmRules | None, more: tuple[str, str, str]
) -> None:
    where, statement, use = more
    lines = [*lines, "User-agent: mybot", "Allow: /x"]

    def ask(lines: list[str], headers: Pairs, metas: Pairs) -> Preferences:
        return RobotsTxt.parse("\n".join(lines)).preferences("/x", "mybot", headers=headers, metas=metas, tdm=tdm)

    before = ask(lines, headers, metas)
    if where == "line":
        after = ask([*lines, statement], headers, metas)
    elif where == "META":
        after = ask(lines, headers, [*metas, ("tdm-reservation", statement)])
    else:
        after = ask(lines, [*headers, (where, statement)], metas)
    assert after[use] != "allowed" or before[use] == "allowed"
