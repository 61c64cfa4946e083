"""The parts of a verdict: line, pattern, group, and the rules that lost."""

from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import DIALECTS, LOST_MOST, RobotsTxt, Rule

TEXT = """User-agent: you

User-agent: Me
User-agent: he
Disallow: /a
Allow: /a/b
Disallow: /a/b
Disallow: /*/b$
Allow: /c

User-agent: me
Disallow: /
"""


def test_the_rule_and_the_rules_that_lost() -> None:
    verdict = RobotsTxt.parse(TEXT).verdict("http://h/a/b", "me/1.0")
    assert (verdict.allowed, verdict.line, verdict.rule, verdict.pattern) == (False, 8, "Disallow: /*/b$", "/*/b$")
    assert (verdict.group_line, verdict.group_agents) == (1, ("you", "Me", "he"))
    assert verdict.lost == (
        Rule(True, "/a/b", 6),
        Rule(False, "/a/b", 7),
        Rule(False, "/a", 5),
        Rule(False, "/", 12),
    )


def test_the_group_is_that_of_the_deciding_rule() -> None:
    verdict = RobotsTxt.parse(TEXT).verdict("/x", "me")
    assert (verdict.line, verdict.group_line, verdict.group_agents) == (12, 11, ("me",))
    assert "the 2 groups for me (from line 1)" in verdict.reason


def test_without_a_rule_and_without_a_group() -> None:
    none = RobotsTxt.parse(TEXT).verdict("/x", "you")
    assert (none.rule, none.pattern, none.group_line, none.lost) == (None, None, 1, ())
    nobody = RobotsTxt.parse(TEXT).verdict("/x", "other")
    assert (nobody.group_line, nobody.group_agents, nobody.lost) == (None, (), ())


def test_first_match_loses_in_order() -> None:
    verdict = RobotsTxt.parse(TEXT, "1996").verdict("/a/b", "he")
    assert (verdict.line, verdict.lost) == (5, (Rule(True, "/a/b", 6), Rule(False, "/a/b", 7)))
    assert RobotsTxt.parse(TEXT, "1994").verdict("/a/b", "he").lost == (Rule(False, "/a/b", 7),)


def test_one_path_of_several_on_a_line() -> None:
    verdict = RobotsTxt.parse("User-agent: *\nDisallow: /a /b /b/", "kollar").verdict("/b/", "me")
    assert (verdict.rule, verdict.pattern, verdict.lost) == ("Disallow: /b", "/b", (Rule(False, "/b/", 2),))


def test_an_index_page_is_named_once() -> None:
    text = "User-agent: *\nAllow: /*/index.html\nDisallow: /"
    verdict = RobotsTxt.parse(text, "google").verdict("/a/index.html/", "me")
    assert (verdict.rule, verdict.lost) == ("Allow: /*/index.html", (Rule(False, "/", 3),))
    assert RobotsTxt.parse(text, "google").verdict("/a/", "me").rule == "Allow: /*/index.html"


def test_the_empty_path_of_the_book() -> None:
    verdict = RobotsTxt.parse("User-agent: *\nDisallow:", "book").verdict("/", "me")
    assert (verdict.allowed, verdict.rule, verdict.pattern) == (False, "Disallow:", "")
    assert verdict.reason.startswith("Disallow: (line 2) is the first rule that matches")


def test_the_rules_that_lost_are_bounded() -> None:
    text = "User-agent: *\n" + "".join(f"Disallow: /{'x' * n}\n" for n in range(100_000 // 200))
    for dialect in DIALECTS:
        verdict = RobotsTxt.parse(text, dialect).verdict("/" + "x" * 500, "me")
        assert len(verdict.lost) == LOST_MOST


LINES = st.lists(
    st.builds(
        "{}: {}".format,
        st.sampled_from(["Allow", "Disallow"]),
        st.sampled_from(["/", "/a", "/a", "/ab", "/a*", "/*b", "/ab$", "/index.html", "", "/a /ab"]),
    ),
    max_size=10,
)


@given(LINES, st.sampled_from(["/", "/a", "/ab", "/abb", "/index.html"]), st.sampled_from(list(DIALECTS)))
def test_removing_the_rules_that_lost_keeps_the_verdict(lines: list[str], url: str, dialect: str) -> None:
    verdict = RobotsTxt.parse("\n".join(["User-agent: *", *lines]), dialect).verdict(url, "me")
    kept = f"{'Allow' if verdict.allowed else 'Disallow'}: {verdict.pattern}" if verdict.rule else "Foo: 1"
    alone = RobotsTxt.parse(f"User-agent: *\n{kept}", dialect).verdict(url, "me")
    assert (alone.allowed, alone.rule) == (verdict.allowed, verdict.rule)
    assert (verdict.rule is not None) or not verdict.lost


PATHS = ("/a", "/a*", "/*a$", "/a/b", "/index.html", "/a%2Fb", "/A", "")


@given(
    st.lists(st.tuples(st.sampled_from(("Allow", "Disallow")), st.sampled_from(PATHS)), min_size=1, max_size=4),
    st.lists(st.integers(0, 3), max_size=60),
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from(("/a", "/a/b", "/", "/index.html", "/A?a")),
)
def test_a_rule_repeated_many_times_changes_no_verdict(
    rules: list[tuple[str, str]], further: list[int], dialect: str, url: str
) -> None:
    lines = ["User-agent: me", *(f"{field}: {path}" for field, path in rules * (2 * LOST_MOST + 2))]
    more = [*lines, *(lines[1 + place % len(rules)] for place in further)]
    few, many = (RobotsTxt.parse("\n".join(text), dialect) for text in (lines, more))
    assert few.verdict(url, "me") == many.verdict(url, "me")
    assert few.allows(url, "other") == many.allows(url, "other")
