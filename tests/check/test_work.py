"""The cost of checks, counted in calls of Python functions and not in time."""

import pytest

from counting import calls
from goodbot.check import Subject, check
from goodbot.exclusion import RobotsTxt
from goodbot.exclusion.robotstxt.matching import Compiled
from goodbot.exclusion.robotstxt.modern import RFC9309

SHAPES: list[tuple[str, str, int]] = [
    # name, what is repeated, calls for each line at most
    ("Disallow", "Disallow: /a\n", 120),
    ("Allow", "Allow: /a\n", 120),
    ("all", "Disallow: /\n", 120),
    ("pairs", "Disallow: /a\nAllow: /a\n", 240),
    ("wildcards", "Disallow: /*a*b$\n", 120),
    ("User-agent", "User-agent: a\n", 60),
    ("groups", "User-agent: a\nDisallow: /a\n", 300),
    ("Sitemap", "Sitemap: https://a.example/s\n", 120),
    ("no record", "hello\n", 30),
    ("unknown", "foo: bar\n", 60),
    ("outside", "Clean-param: a /b\n", 60),
]


@pytest.mark.long
@pytest.mark.parametrize(("repeated", "most"), [shape[1:] for shape in SHAPES], ids=[shape[0] for shape in SHAPES])
def test_equal_lines_cost_the_same_each_however_many(repeated: str, most: int) -> None:
    few, many = (
        calls(lambda times=times: check(Subject(("User-agent: *\n" + repeated * times).encode())))  # type: ignore[misc]
        for times in (1500, 2500)
    )
    assert (many - few) / 1000 <= most


@pytest.mark.long
@pytest.mark.parametrize(("form", "most"), [("/a{}", 180), ("/a{}*/b$", 120), ("/*/a{}*b", 120)])
def test_different_lines_cost_the_same_each_however_many(form: str, most: int) -> None:
    def file(times: int) -> bytes:
        return ("User-agent: *\n" + "".join(f"Disallow: {form.format(n)}\n" for n in range(times))).encode()

    few, many = (calls(lambda times=times: check(Subject(file(times)))) for times in (1500, 2500))  # type: ignore[misc]
    assert (many - few) / 1000 <= most


@pytest.mark.long
def test_equal_rules_are_compiled_a_few_times_only() -> None:
    few, many = (RobotsTxt.parse("User-agent: *\n" + "Disallow: /a\n" * times) for times in (100, 35_000))
    compiled = [Compiled.of(file.groups, RFC9309).weight_bytes for file in (few, many)]
    assert compiled[0] == compiled[1] > 0
