"""TDMRep, the TDM Reservation Protocol: the file, and the META and HTTP fields that take precedence over it."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion.robotstxt.robots_txt import RobotsTxt
from goodbot.exclusion.uses.tdm import TDM_LIMIT_BYTES, TDM_RULES, TdmRule, TdmRules

POLICY = "https://provider.example/policy.json"


def file(*rules: Any) -> str:
    return json.dumps(rules)


def rule(location: Any, value: Any = 1, policy: Any = None) -> dict[str, Any]:
    return {"location": location, "tdm-reservation": value} | ({"tdm-policy": policy} if policy is not None else {})


REPORT = file(
    rule("/directory-a/"),
    rule("/directory-b/html/", 1, POLICY),
    rule("/directory-b/images/*.jpg", 0),
)

LOCATIONS = [
    # file, URL, the location that counts, where the report says it
    (REPORT, "https://h/directory-a/x.pdf", "/directory-a/", "example of three groups"),
    (REPORT, "https://h/directory-b/html/x", "/directory-b/html/", "example of three groups"),
    (REPORT, "https://h/directory-b/images/a/b.jpg", "/directory-b/images/*.jpg", "example of three groups"),
    (REPORT, "https://h/directory-b/images/b.png", None, "no match"),
    (REPORT, "https://h/", None, "no match"),
    (file(rule("/")), "https://h", "/", "example of one rule"),
    (file(rule("/", 0), rule("/a")), "/a", "/", "the first in sequence"),
    (file(rule("/a"), rule("/")), "/a", "/a", "the first in sequence"),
    (file(rule("*b"), rule("/a")), "/ab", "*b", "the first in sequence"),
    (file(rule("/a"), rule("*b")), "/ab", "/a", "the first in sequence"),
    (file(rule("/a")), "/A", None, "case"),
    (file(rule("/a$")), "/ab", None, "$"),
    (file(rule("/a$")), "/a", "/a$", "$"),
    (file(rule("/a/*/c")), "/a/b/cd", "/a/*/c", "*"),
    (file(rule("/path/foo-%24")), "/path/foo-$", "/path/foo-%24", "special signs meant literally"),
    (file(rule("/%62%61%7A")), "/baz", "/%62%61%7A", "percent-encoding"),
    (file(rule("/a?b=1")), "/a?b=1&c", "/a?b=1", "path and query"),
    (file(rule("/ü")), "/%C3%BC", "/ü", "percent-encoding"),
    (file(rule("a")), "/a", None, "our reading: a path begins with /"),
    (file(rule("")), "/a", None, "our reading: an empty location is no rule"),
]


@pytest.mark.parametrize(("body", "url", "location", "where"), LOCATIONS)
def test_location(body: str, url: str, location: str | None, where: str) -> None:
    found = TdmRules.parse(body).find(url)
    assert (found and found.location) == location
    assert TdmRules.parse(body.encode()).find(url) == found


VALUES = [
    # tdm-reservation, tdm-policy, what is read
    (1, POLICY, True, POLICY),
    (0, POLICY, False, POLICY),
    (1, None, True, None),
    (1, f" {POLICY} ", True, POLICY),
    (1, "", True, None),
    (1, 7, True, None),
    (1, ["x"], True, None),
    (2, None, None, None),
    (-1, None, None, None),
    (True, None, None, None),
    (False, None, None, None),
    (1.0, None, None, None),
    ("1", None, None, None),
    ([1], None, None, None),
    ({}, None, None, None),
    (None, None, None, None),
    (10**400, None, None, None),
]


@pytest.mark.parametrize(("value", "policy", "reserved", "read"), VALUES)
def test_values(value: Any, policy: Any, reserved: bool | None, read: str | None) -> None:
    assert TdmRules.parse(file(rule("/", value, policy))).rules == (TdmRule("/", reserved, read),)


DAMAGE: list[str | bytes] = [
    "",
    "[",
    "{}",
    "1",
    "null",
    '"/"',
    "[1, null, [], {}]",
    '{"location": "/", "tdm-reservation": 1}',
    '[{"location": 1, "tdm-reservation": 1}]',
    '[{"location": null}]',
    '[{"location": ["/"]}]',
    '[{"tdm-reservation": 1}]',
    '[{"location": "/", "tdm-reservation": NaN}]',
    '[{"location": "/", "tdm-reservation": -Infinity}]',
    '[{"location": "/", "tdm-reservation": ' + "1" * 5_000 + "}]",
    '[{"location": "/", "tdm-reservation": 1},]',
    "<html>",
    "[" * 100_000,
    '{"a":' * 80_000,
    file(rule("/")) + " " * TDM_LIMIT_BYTES,
    "[" * 1_000_000,
    b"\xff\xfe",
    b"\x00" * 1_000,
    b'[{"location": "/\xff"}]',
    "\ud800",
]


@pytest.mark.parametrize("body", DAMAGE)
def test_damage_holds_no_rules(body: str | bytes) -> None:
    assert TdmRules.parse(body) == TdmRules()
    assert TdmRules.parse(body).find("/") is None


READABLE: list[tuple[str | bytes, int]] = [
    ("\ufeff" + file(rule("/")), 1),
    (b"\xef\xbb\xbf" + file(rule("/")).encode(), 1),
    (file(rule("/")).encode("utf-16"), 1),
    (file(1, rule("/a"), "x", rule(5), rule("/b", 7)), 2),
    ('[{"location": "/\\ud800", "tdm-reservation": 1}]', 1),
    (file(*[rule("/")] * 9_000), 9_000),
    ("[" + ",".join(['{"location":"/"}'] * (TDM_RULES + 5)) + "]", TDM_RULES),
]


@pytest.mark.parametrize(("body", "rules"), READABLE)
def test_what_is_read(body: str | bytes, rules: int) -> None:
    assert len(TdmRules.parse(body).rules) == rules


Pairs = list[tuple[str, str]]
ONE, ZERO = [("tdm-reservation", "1")], [("TDM-Reservation", " 0 ")]
ALL_ONE, ALL_ZERO = file(rule("/", 1, "/file")), file(rule("/", 0, "/file"))

PLACES: list[tuple[Pairs, Pairs, str, str, str | None]] = [
    # META, HTTP fields, file, what both AI uses come to, the policy
    ([], [], "", "unknown", None),
    (ONE, [], "", "disallowed", None),
    (ZERO, [], "", "allowed", None),
    ([], ONE, "", "disallowed", None),
    ([], ZERO, "", "allowed", None),
    ([], [], ALL_ONE, "disallowed", "/file"),
    ([], [], ALL_ZERO, "allowed", None),
    # the document's own metadata, then the field, then the file
    (ZERO, ONE, ALL_ONE, "allowed", None),
    (ONE, ZERO, ALL_ZERO, "disallowed", None),
    ([], ZERO, ALL_ONE, "allowed", None),
    ([], ONE, ALL_ZERO, "disallowed", None),
    # absence resets nothing; our reading: nor does a value that is none
    ([("tdm-reservation", "2")], ONE, ALL_ZERO, "disallowed", None),
    ([("tdm-reservation", "")], ZERO, ALL_ONE, "allowed", None),
    ([], [("tdm-reservation", "true")], ALL_ONE, "disallowed", "/file"),
    ([("tdm-reservation", "01"), ("tdm-policy", "/p")], [], "", "unknown", "/p"),
    # several of one place: our reading, any 1 counts
    ([*ZERO, *ONE], [], "", "disallowed", None),
    ([], [*ONE, *ZERO], "", "disallowed", None),
    ([], [("tdm-reservation", "0, 1")], "", "disallowed", None),
    ([], [("tdm-reservation", "0, x")], "", "allowed", None),
    # the policy: each property for itself, none where the value is 0
    ([*ONE, ("tdm-policy", " /p ")], [], "", "disallowed", "/p"),
    (ONE, [("Tdm-Policy", "/h")], ALL_ONE, "disallowed", "/h"),
    (ONE, [], ALL_ONE, "disallowed", "/file"),
    (ONE, [], ALL_ZERO, "disallowed", None),
    ([*ZERO, ("tdm-policy", "/p")], ONE, ALL_ONE, "allowed", None),
    ([("tdm-policy", "/p")], ONE, "", "disallowed", "/p"),
    ([("tdm-policy", "")], [*ONE, ("tdm-policy", "/h")], "", "disallowed", "/h"),
]


@pytest.mark.parametrize(("metas", "headers", "body", "value", "policy"), PLACES)
def test_places(metas: Pairs, headers: Pairs, body: str, value: str, policy: str | None) -> None:
    tdm = TdmRules.parse(body)
    preferences = RobotsTxt.parse("").preferences("/x", "bot", headers=headers, metas=metas, tdm=tdm)
    assert preferences == {"search": "unknown", "ai-input": value, "ai-train": value}
    assert preferences.tdm_policy == policy


def test_statements_that_do_not_count_are_listed_with_the_reason() -> None:
    preferences = RobotsTxt.parse("").preferences("/x", "bot", headers=ZERO, metas=ONE, tdm=TdmRules.parse(ALL_ZERO))
    of_training = [source for source in preferences.sources if source.use == "ai-train"]
    before = "META tdm-reservation takes precedence"
    assert [(source.origin, source.value, source.text, source.note) for source in of_training] == [
        ("META tdm-reservation", "disallowed", "tdm-reservation: 1", ""),
        ("HTTP field tdm-reservation", "unknown", "tdm-reservation: 0", before),
        ("tdmrep.json", "unknown", "/ tdm-reservation: 0", before),
    ]
    assert {source.section for source in of_training} == {"TDMRep"}


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["location", "tdm-reservation", "x"]), inner),
    max_leaves=20,
)


@given(st.one_of(st.binary(), st.text(), JSON.map(json.dumps)), st.text())
def test_never_raises(body: bytes | str, url: str) -> None:
    rules = TdmRules.parse(body)
    RobotsTxt.parse("").preferences(url, "bot", tdm=rules)
    assert all(rule.location for rule in rules.rules)
