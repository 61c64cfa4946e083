"""Following the fix of a finding changes no verdict of any robot, except those that the fix mentions (RFC 9309)."""

import random
import re
from collections.abc import Callable, Iterable

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from goodbot.check import Finding, Subject, check
from goodbot.check.checker import KINDS
from goodbot.check.fixes import apply_fixes
from goodbot.check.names import token_of
from goodbot.exclusion import DIALECTS, RobotsTxt

Follow = Callable[[str, Finding], str | None]
"""Takes a file and a finding in it, and returns the file after the fix was followed; None if the fix says that it
changes verdicts."""


def lines_of(body: str) -> list[str]:
    return body.split("\n")


def put(body: str, number: int, *text: str) -> str:
    """Replaces a line with other lines, or none."""
    lines = lines_of(body)
    lines[number - 1 : number] = text
    return "\n".join(lines)


def line_named(finding: Finding) -> int:
    found = re.search(r"\bline (\d+)", finding.message)
    assert found
    return int(found[1])


def fixed(body: str, finding: Finding) -> str:
    others = [code for code in KINDS if code != finding.code]
    return apply_fixes(Subject(body.encode()), others).decode()


def removed(body: str, finding: Finding) -> str | None:
    fix = finding.fix or ""
    if "replace it with `Disallow:`" in fix:
        return put(body, finding.line, "Disallow:")
    if "remove this group" in fix:
        groups = RobotsTxt.parse(body).groups
        own = next(group for group in reversed(groups) if group.line <= finding.line)
        gone = {own.line, *(line for line, _, _ in own.records)}
        return "\n".join(line for number, line in enumerate(lines_of(body), 1) if number not in gone)
    return put(body, finding.line) if re.search(r"\bremove (it|this line)\b", fix) else None


def opposite_removed(body: str, finding: Finding) -> str:
    """Follows `remove the Disallow rule` for one of two lines."""
    closes = [line for line in (finding.line, line_named(finding)) if "disallow" in lines_of(body)[line - 1].lower()]
    return put(body, closes[0])


def rewritten(body: str, finding: Finding) -> str | None:
    """Follows `write X` for the value of the line."""
    found = re.match(r"write `(.*?)`: .*nothing changes", finding.fix or "")
    line = lines_of(body)[finding.line - 1]
    return put(body, finding.line, f"{line.partition(':')[0]}: {found[1]}") if found else None


def percent_encoded(body: str, finding: Finding) -> str | None:
    """Follows `write %XX` for the characters found, and percent-encodes letters beyond ASCII."""
    fix, line = finding.fix or "", lines_of(body)[finding.line - 1]
    start, end = finding.column - 1, (finding.end_column or 1) - 1
    found = re.search(r"write ((?:%[0-9A-F]{2})+)[^;]* nothing changes|write (%24) .* nothing changes", fix)
    if fix.startswith("percent-encode them"):
        new = "".join(f"%{octet:02X}" for octet in line[start:end].encode())
    elif found:
        new = found[1] or found[2]
    else:
        return None
    return put(body, finding.line, line[:start] + new + line[end:])


def blank_line_removed(body: str, finding: Finding) -> str:
    above = lines_of(body)[: finding.line - 1]
    return put(body, max(number for number, line in enumerate(above, 1) if not line.strip(" \t")))


def space_before_sharp(body: str, finding: Finding) -> str:
    line = lines_of(body)[finding.line - 1]
    return put(body, finding.line, f"{line[: finding.column - 1]} {line[finding.column - 1 :]}")


def longer_first(body: str, finding: Finding) -> str:
    line = lines_of(body)[finding.line - 1]
    first = line_named(finding)
    return put(put(body, finding.line), first, line, lines_of(body)[first - 1])


def in_one_group(body: str, finding: Finding) -> str:
    """Moves all records for a robot into one group, and removes its name and the groups for it alone elsewhere."""
    name = named_on(lines_of(body)[finding.line - 1]) or ""
    kept, own = lines_of(body), [f"User-agent: {name}"]
    groups = RobotsTxt.parse(body).groups
    for group, next_ in zip(groups, [*(group.line for group in groups[1:]), len(kept) + 1], strict=True):
        if name not in map(token_of, group.agents):
            continue
        own += [f"{field}: {value}" for _, field, value in group.records]
        alone = {token_of(agent) for agent in group.agents} <= {name, ""}
        gone = {line for line, _, _ in group.records} if alone else set[int]()
        for number in range(group.line, next_):
            is_name = named_on(kept[number - 1])
            if number in gone or is_name == name or (alone and is_name is not None):
                kept[number - 1] = ""
    return "\n".join([*own, "Disallow:", *kept])


def named_on(line: str) -> str | None:
    """Returns the token on a User-agent line; None for other lines."""
    field, colon, value = line.partition("#")[0].partition(":")
    return token_of(value.strip(" \t")) if colon and field.strip(" \t").lower() == "user-agent" else None


FOLLOW: dict[str, Follow] = {
    **dict.fromkeys(("R101", "R105", "R202", "R502"), fixed),
    **dict.fromkeys(("R307", "R401", "R402", "R501", "R504", "R509"), removed),
    **dict.fromkeys(("R302", "R303", "R405"), rewritten),
    **dict.fromkeys(("R404", "R406"), percent_encoded),
    "R208": blank_line_removed,
    "R209": space_before_sharp,
    "R305": in_one_group,
    "R503": opposite_removed,
    "R505": longer_first,
}
"""How to follow the fixes that say that nothing changes."""

SAYS: dict[str, str] = {
    "R102": "its rules then apply",
    "R103": "robots then read the line without it",
    "R104": "the rule then matches",
    "R106": "robots then read what you see",
    "R107": "which matches more URLs",
    "R201": "the line then applies",
    "R203": "robots ignore the line",
    "R204": "each of them then applies",
    "R205": "the rule then applies",
    "R206": "the rules then apply",
    "R207": "allows everything",
    "R301": "the group then applies to that robot",
    "R303": "the group then applies to them",
    "R304": "does not find this group",
    "R306": "they then apply",
    "R310": "the group then applies to all of them",
    "R307": "verdicts then change only for a robot called anthropic-ai",
    "R401": "this rule matches nothing",
    "R402": "the rule then matches",
    "R403": "the rules then match what you mean",
    "R404": "the rule then matches only URLs that end there",
    "R406": "the rule then matches those URLs instead",
    "R407": "the other URLs are then allowed",
    "R408": "then no longer applies",
    "R409": "allow the files",
    "R501": "this rule then applies",
    "R503": "the path is then disallowed",
    "R506": "disallow only the paths that robots must not fetch",
    "R507": "allow the page",
    "R509": "everything is then allowed",
    "R209": "the rule then matches only URLs that contain %23",
    "R605": "they may then fetch it",
}
"""What a fix says about the verdicts that it changes."""

NO_RULES = ("R108", "R308", "R309", "R508", "R510", "R601", "R602", "R603", "R604", "R606", "R607", "R608")
"""The fixes of these findings do not edit a rule or a name."""

AGENTS = ("*", "stranger")
PATHS = ("/", "/a", "/a/", "/a/b", "/a/b/c", "/ab", "/b", "/robots.txt", "/x?u=:q", "/x?u=%3Aq")


def urls_of(robots: Iterable[RobotsTxt]) -> list[str]:
    """Returns the URLs that the rules are written for, and similar ones."""
    urls = dict.fromkeys(PATHS)
    for rule in (rule for each in robots for rule in each.rules):
        plain = rule.pattern.rstrip("$")
        for path in (plain, plain.replace("*", ""), plain.replace("*", "/b")):
            urls |= dict.fromkeys(f"{path if path.startswith('/') else f'/{path}'}{end}" for end in ("", "/c", "c"))
    return list(urls)


def dialects_of(finding: Finding) -> Iterable[str]:
    """Returns the dialects in which the fix changes nothing: all, if it does not name RFC 9309."""
    fix = (finding.fix or "").replace("under RFC 9309 nothing changes", "")
    return DIALECTS if "nothing changes" in fix else ("rfc9309",)


def assert_nothing_changes(before: str, after: str, finding: Finding) -> None:
    for dialect in dialects_of(finding):
        assert_nothing_changes_in(dialect, before, after, finding)


def assert_nothing_changes_in(dialect: str, before: str, after: str, finding: Finding) -> None:
    one, other = RobotsTxt.parse(before, dialect), RobotsTxt.parse(after, dialect)
    agents = {token_of(name) for each in (one, other) for group in each.groups for name in group.agents} - {""}
    urls = urls_of((one, other))
    if finding.code == "R307":
        agents -= {finding.message.partition(" ")[0].lower()}
    if finding.code == "R504" and "/robots.txt.bak" in (finding.fix or ""):
        urls = [url for url in urls if not url.startswith("/robots.txt")]
    for agent in (*agents, *AGENTS):
        for url in urls:
            assert one.allows(url, agent) is other.allows(url, agent), (finding, dialect, agent, url, before, after)


def follow_each(body: str, codes: Iterable[str] = FOLLOW) -> list[str]:
    """Follows each fix of these kinds alone, and returns the codes of those that could be followed."""
    followed = []
    for finding in check(Subject(body.encode())):
        after = FOLLOW[finding.code](body, finding) if finding.code in codes and finding.code in FOLLOW else None
        if after is not None:
            assert_nothing_changes(body, after, finding)
            followed.append(finding.code)
    return followed


def follow_all(body: str) -> None:
    """Removes all rules that are reported as useless, at once."""
    found = [each for each in check(Subject(body.encode())) if each.code in ("R501", "R504")]
    after = body
    for finding in reversed(found):
        after = removed(after, finding) or ""
    if found:
        assert_nothing_changes(body, after, found[0] if "R504" not in {each.code for each in found} else itself(found))


def itself(found: list[Finding]) -> Finding:
    return next((each for each in found if "/robots.txt.bak" in (each.fix or "")), found[0])


@pytest.mark.parametrize("code", [code for code in KINDS if "R1" <= code < "R7"])
def test_every_fix_changes_nothing_or_says_what_it_changes(code: str) -> None:
    (finding, *_) = [each for each in check(KINDS[code].example) if each.code == code]
    said = f"{finding.message} {finding.affected} {finding.fix}"
    assert sum((code in FOLLOW or code in SAYS, code in NO_RULES)) == 1
    assert SAYS.get(code, "") in said
    if code in FOLLOW and code not in ("R303", "R402", "R406"):
        assert follow_each(KINDS[code].example.body.decode("utf-8-sig" if code != "R101" else "utf-8"), (code,))


BODIES: list[tuple[str, str, list[str]]] = [
    # subject, file, codes of R5 that are expected
    (
        "another robot of the group has no rule that covers it",
        "User-agent: A\nUser-agent: B\nDisallow: /a/b/\n\nUser-agent: A\nDisallow: /a/\n",
        [],
    ),
    (
        "another robot of the group has no rule that opens it",
        "User-agent: A\nUser-agent: B\nDisallow: /a\n\nUser-agent: A\nAllow: /*a\n",
        [],
    ),
    (
        "another group of the same robot opens a part",
        "User-agent: A\nDisallow: /a\nDisallow: /a/b\n\nUser-agent: A\nAllow: /*c\n",
        [],
    ),
    ("octets count, not letters", "User-agent: *\nDisallow: /abc\nDisallow: /abc/d\nAllow: /*é\n", []),
    (
        "the only rule of a group keeps it from the next",
        "User-agent: A\nDisallow: /a\n\nUser-agent: A\nDisallow: /a/b\n\nUser-agent: B\nDisallow: /\n",
        ["R504"],
    ),
    (
        "an Allow beside a Disallow of the same path",
        "User-agent: *\nAllow: /a/b\nDisallow: /a/b\nAllow: /a\n",
        ["R503"],
    ),
    ("query values in two forms", "User-agent: *\nDisallow: /x?u=%3A\nAllow: /*?u=:\n", []),
    ("order in two groups", "User-agent: A\nUser-agent: B\nDisallow: /\n\nUser-agent: A\nAllow: /a\n", []),
    ("what begins like robots.txt", "User-agent: *\nDisallow: /robots.txt\nDisallow: /a\n", ["R504"]),
]


@pytest.mark.parametrize(("about", "body", "codes"), BODIES, ids=[case[0] for case in BODIES])
def test_a_fix_is_right_for_all_robots_of_a_group(about: str, body: str, codes: list[str]) -> None:
    follow_each(body)
    follow_all(body)
    found = {each.code for each in check(Subject(body.encode()), ["R6", "R506", "R510"]) if each.code[:2] == "R5"}
    assert sorted(found) == codes


NAMES = ("A", "A", "B", "B/2.0", "*", "Cbot*", "anthropic-ai", "C, D", '"A"')
PATTERNS = (
    *("/", "/a", "/a/", "/a/b", "/a/b/c", "/b", "/*b", "/a*", "/*/c$", "/ab**", "/a/b*", "/a/b$", "/%61", "*a*"),
    *("/é", "/%C3%A9*", "/a b", "/a|b", "/a$b", "/a$*", "/a *", "/x?u=:", "/x?u=%3A", "/*u=:", "/x?u=", "", "", "/a#b"),
    *("/robots.txt", "/robots.txt$", "a", "./", "https://example.org/", "/%25a", "/#!/x", "/robots.txt/a"),
)
LINES = st.one_of(
    st.builds("User-agent: {}".format, st.sampled_from(NAMES)),
    st.builds(
        "{}: {}".format, st.sampled_from(("Disallow", "Disallow", "Allow", "Disallow ")), st.sampled_from(PATTERNS)
    ),
    st.sampled_from(("", "# c", "Crawl-delay: 1", "Content-Usage: train-ai=n", "Sitemap: https://e.org/s", "foo: bar")),
)
NESTED = ("/a", "/a/b", "/a/b", "/*c", "/*b")


def groups(seed: int) -> str:
    """Returns three groups that share robots and nest their paths."""
    chance = random.Random(seed)
    parts = []
    for names in (("A", "B"), *chance.sample(("A", "B", "AB"), 2)):
        parts += [f"User-agent: {name}" for name in names]
        fields = chance.choices(("Disallow", "Disallow", "Allow"), k=chance.choice((1, 2)))
        parts += [f"{field}: {chance.choice(NESTED)}" for field in fields]
    return "\n".join(parts)


FILES = st.one_of(
    st.lists(LINES, min_size=4, max_size=16).map(lambda lines: "\n".join(["User-agent: A", *lines])),
    st.integers(0, 2**32).map(groups),
)
"""Any lines, and groups that share robots and nest their paths."""


@pytest.mark.long
@settings(deadline=None, max_examples=120)
@example("User-agent: A\nDisallow: /a\nUser-agent: anthropic-ai\nDisallow: /\nUser-agent: B\nDisallow: /b\n")
@example("User-agent: A\nDisallow: ./\nUser-agent: B\nDisallow: /b\n")
@given(FILES)
def test_following_a_fix_changes_only_what_it_says(body: str) -> None:
    follow_each(body)
    follow_all(body)


@pytest.mark.long
@settings(deadline=None, max_examples=2_000)
@given(FILES)
def test_following_a_fix_changes_only_what_it_says_long(body: str) -> None:
    follow_each(body)
    follow_all(body)
