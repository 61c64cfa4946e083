"""Which verdicts differ between two files, and for whom."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import Access, RobotsTxt, format_robotstxt
from goodbot.watch.history.verdict_changes import VerdictChange, verdict_changes

ALL = "User-agent: *\n"
GPT = "User-agent: GPTBot\n"


def access(text: str) -> Access:
    return Access.from_response(200, (), text.encode(), 0.0)


def said(changes: tuple[VerdictChange, ...]) -> list[str]:
    return [
        f"{','.join(change.robots)} {change.paths[0]} {'was ' if change.is_gone else ''}{change.line}"
        for change in changes
    ]


CASES: list[tuple[str, str, str, list[str], list[str]]] = [
    ("nothing", ALL + "Disallow: /a\n", ALL + "Disallow: /a\n", [], []),
    ("comment", ALL + "Disallow: /a\n", f"# x\n{ALL}Disallow: /a # y\n", [], []),
    ("order", ALL + "Disallow: /a\nAllow: /ab\n", ALL + "Allow: /ab\nDisallow: /a\n", [], []),
    ("closed", ALL + "Disallow: /a\n", ALL + "Disallow: /a\nDisallow: /blog/\n", [], ["* /blog/ 3"]),
    ("opened", ALL + "Disallow: /a\nDisallow: /blog/\n", ALL + "Disallow: /a\n", ["* /blog/ was 3"], []),
    ("allow", ALL + "Disallow: /a\n", ALL + "Disallow: /a\nAllow: /a/b\n", ["* /a/b 3"], []),
    ("allow gone", ALL + "Disallow: /a\nAllow: /a/b\n", ALL + "Disallow: /a\n", [], ["* /a/b 2"]),
    ("useless rule", ALL + "Disallow: /\n", ALL + "Disallow: /\nDisallow: /a\n", [], []),
    ("end", ALL + "Disallow: /a$\n", ALL + "Disallow: /a\n", [], ["* /ax 2"]),
    ("slash", ALL + "Disallow: /a/\n", ALL + "Disallow: /a\n", [], ["* /a 2"]),
    ("wildcard", ALL, ALL + "Disallow: /*.pdf$\n", [], ["* /.pdf 2"]),
    ("below", ALL + "Disallow: /b/\n", ALL + "Disallow: /b/\nAllow: /*/rss\n", ["* /b//rss 3"], []),
    ("robot", ALL + "Disallow: /a\n", f"{ALL}Disallow: /a\n\n{GPT}Disallow: /a\nDisallow: /b\n", [], ["GPTBot /b 6"]),
    (
        "freed",
        ALL + "Disallow: /a\n",
        f"{ALL}Disallow: /a\n\n{GPT}Disallow: /b\n",
        ["GPTBot /a was 2"],
        ["GPTBot /b 5"],
    ),
    ("all others", f"{ALL}Allow: /\n\n{GPT}Disallow: /\n", f"{ALL}Disallow: /\n\n{GPT}Disallow: /\n", [], ["* / 2"]),
    ("two", ALL, f"{ALL}Allow: /\n\n{GPT}User-agent: CCBot\nDisallow: /\n", [], ["GPTBot,CCBot / 6"]),
    ("merged", f"{GPT}Disallow: /a\n", f"{GPT}Disallow: /a\n\n{GPT}Disallow: /c\n", [], ["GPTBot /c 5"]),
]


@pytest.mark.parametrize(("old", "new", "opened", "closed"), [case[1:] for case in CASES], ids=[c[0] for c in CASES])
def test_changes(old: str, new: str, opened: list[str], closed: list[str]) -> None:
    found = verdict_changes(access(old), access(new))
    assert (said(found.opened), said(found.closed), found.is_bounded) == (opened, closed, False)


def test_others_are_named() -> None:
    (change,) = verdict_changes(
        access(f"{ALL}Allow: /\n\n{GPT}Allow: /\n"), access(f"{ALL}Disallow: /\n\n{GPT}Allow: /\n")
    ).closed
    assert (change.robots, change.excepted) == (("*",), ("GPTBot",))


def test_an_outage_without_a_copy_closes_everything() -> None:
    down = Access.from_failure("connect", 1.0)
    (change,) = verdict_changes(Access.from_response(404, (), b"", 0.0), down).closed
    assert (change.robots, change.rule, change.reason) == (("*",), None, down.reason)
    (opened,) = verdict_changes(down, Access.from_response(404, (), b"", 0.0)).opened
    assert (opened.rule, opened.is_gone, opened.reason) == (None, True, f"before: {down.reason}")


def test_an_outage_with_a_copy_changes_nothing() -> None:
    good = access(ALL + "Disallow: /a\n")
    assert not verdict_changes(good, Access.from_response(503, (), b"", 10.0, last_good=good))


TIMING = [
    ("delay", ALL + "Crawl-delay: 5\n", ALL + "Crawl-delay: 10\n", "*", "Crawl-delay 5 s", "Crawl-delay 10 s"),
    ("rate", ALL, ALL + "Request-rate: 1/5m 0600-0845\n", "*", "", "Request-rate 1/300s 0600-0845"),
    ("visit", ALL + "Visit-time: 0600-0845\n", ALL, "*", "Visit-time 0600-0845", ""),
    (
        "one",
        f"{GPT}Disallow: /\n",
        f"{GPT}Disallow: /\nCrawl-delay: 2\n",
        "GPTBot",
        "",
        "Crawl-delay 2 s",
    ),
]


@pytest.mark.parametrize(
    ("old", "new", "robots", "before", "after"), [c[1:] for c in TIMING], ids=[c[0] for c in TIMING]
)
def test_timing(old: str, new: str, robots: str, before: str, after: str) -> None:
    found = verdict_changes(access(old), access(new))
    (change,) = found.timing
    assert (",".join(change.robots), change.before, change.after) == (robots, before, after)
    assert not found.opened
    assert not found.closed


# ---- properties -----------------------------------------------------------------------------------------------------

paths = st.sampled_from(["/", "/a", "/a/", "/a/b", "/*", "/*.x", "/*.x$", "/a$", "/a*b", "/b?c=", "*", "a", "/%61", ""])
rules = st.tuples(st.sampled_from(["Allow", "Disallow"]), paths).map(lambda rule: f"{rule[0]}: {rule[1]}")
names = st.lists(st.sampled_from(["*", "GPTBot", "ccbot", "CCBot/2"]), min_size=1, max_size=2)
groups = st.tuples(names, st.lists(st.one_of(rules, st.just("Crawl-delay: 3")), max_size=4)).map(
    lambda group: "\n".join([*(f"User-agent: {name}" for name in group[0]), *group[1], "", ""])
)
files = st.lists(groups, max_size=3).map("".join)


@given(files, files)
def test_what_is_reported_agrees_with_verdicts(old: str, new: str) -> None:
    before, after = access(old), access(new)
    found = verdict_changes(before, after)
    for changes, allowed in ((found.opened, True), (found.closed, False)):
        for change in changes:
            for robot in change.robots:
                agent = "anybot" if robot == "*" else robot
                for path in change.paths:
                    assert after.verdict(path, agent).allowed is allowed
                    assert before.verdict(path, agent).allowed is not allowed


@given(files, files)
def test_no_change_of_plain_paths_is_missed(old: str, new: str) -> None:
    before, after = access(old), access(new)
    found = verdict_changes(before, after)
    asked = ["/", "/a", "/a/", "/a/b", "/ab", "/x", "/q.x", "/a/q.x", "/b?c=1"]
    for agent, robot in (("anybot", "*"), ("GPTBot", "GPTBot"), ("CCBot", "ccbot")):
        opens = [before.verdict(path, agent).allowed < after.verdict(path, agent).allowed for path in asked]
        closes = [before.verdict(path, agent).allowed > after.verdict(path, agent).allowed for path in asked]
        for changes, differs in ((found.opened, any(opens)), (found.closed, any(closes))):
            named = {name.lower() for change in changes for name in change.robots}
            others = {name.lower() for change in changes if "*" in change.robots for name in change.excepted}
            is_unnamed = robot.lower() not in f"{old}{new}".lower() and robot != "*"
            if differs:
                assert robot.lower() in named or (is_unnamed and "*" in named and robot.lower() not in others)


@given(st.binary(max_size=300), st.binary(max_size=300))
def test_any_bytes_can_be_compared(old: bytes, new: bytes) -> None:
    verdict_changes(Access.from_response(200, (), old, 0.0), Access.from_response(200, (), new, 0.0))


@given(files)
def test_a_file_equals_itself_and_its_formatted_self(text: str) -> None:
    assert not verdict_changes(access(text), access(text))
    formatted = access(format_robotstxt(RobotsTxt.parse(text)).decode())
    assert not verdict_changes(access(text), formatted)
    assert not verdict_changes(formatted, access(text))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Disallow: /p{}\n", "Disallow: /q{}\n"),
        ("Disallow: /*p{}\n", "Disallow: /*q{}\n"),
    ],
)
@pytest.mark.long
def test_large_files_are_bounded(old: str, new: str) -> None:
    one, two = (access(ALL + "".join(form.format(line) for line in range(27_000))) for form in (old, new))
    found = verdict_changes(one, two)
    assert found.is_bounded
    assert found.opened
