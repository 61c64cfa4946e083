"""Tests which families of URLs are closed, and which are not."""

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.fingerprint import fingerprint
from goodbot.robot.lessons.url_families import WINDOW, UrlFamilies, UrlFamily, evidence_of, families_of

HOST = "http://example.org"
TEXT = " ".join(f"word{number}" for number in range(80))


@pytest.mark.parametrize(
    ("target", "family", "tree"),
    [
        ("/", "/", ""),
        ("/page12", "/page0", ""),
        ("/gone/12", "/gone/0", "/gone/**"),
        ("/gone/tag-12.html", "/gone/tag-0.html", "/gone/**"),
        ("/gone/tags", "/gone/*", "/gone/**"),
        ("/gone/december-2026", "/gone/*", "/gone/**"),
        ("/gone/tag-20261", "/gone/tag-0", "/gone/**"),
        ("/gone/2026-12-24", "/gone/*", "/gone/**"),
        ("/gone/ten-thousand-tags-12", "/gone/*", "/gone/**"),
        ("/a/b/c.html", "/a/b/*", "/a/**"),
        ("/list?page=2&sort=up", "/list?page&sort", ""),
        ("/shop/item7.php?sort=up&page=2&page=3", "/shop/item0.php?page&sort", "/shop/**"),
    ],
)
def test_the_family_of_a_url(target: str, family: str, tree: str) -> None:
    assert families_of(HOST + target) == (HOST + family, HOST + tree if tree else "")


@given(st.text(alphabet="/?&=a1*", max_size=60))
def test_every_url_has_a_family(target: str) -> None:
    assert families_of(f"{HOST}/{target}")[0].startswith(HOST)


def looked(texts: list[str], titles: list[str] | None = None, *, leads_on: bool = False) -> UrlFamily:
    """A family of which all these pages were looked at."""
    family = UrlFamily(WINDOW, 2, HOST)
    for number, text in enumerate(texts):
        family.pages += 1
        title = titles[number] if titles else "title"
        family.look(f"{HOST}/{number}", title, partial(fingerprint, text), lambda: leads_on)
    return family


def test_the_same_text_forty_times_closes_a_family() -> None:
    family = looked(["Sorry."] * WINDOW)
    assert family.says_nothing_new()
    assert (
        "40 pages of http://example.org/x/* were visited, and only 2 of the last 40 said anything new"
        in evidence_of(HOST + "/x/*", family)
    )


def test_texts_that_differ_in_one_word_do_too() -> None:
    assert looked([f"{TEXT} {number}" for number in range(WINDOW)]).says_nothing_new()


@pytest.mark.parametrize(
    "family",
    [
        looked(["Sorry."] * (WINDOW - 1)),
        looked([f"Berth {number} is let." for number in range(100)]),
        looked(
            [f"{TEXT}{number}" for number in range(100)], [f"Berth {'abcdefghij'[n % 10]}{n // 10}" for n in range(100)]
        ),
        looked(["A list."] * 100, leads_on=True),
    ],
    ids=["too few", "short texts that differ", "other titles", "links to new pages elsewhere"],
)
def test_what_stays_open(family: UrlFamily) -> None:
    assert not family.says_nothing_new()


def test_a_family_that_has_something_to_say_is_looked_at_now_and_then_only() -> None:
    families, looks = UrlFamilies(), 0
    for number in range(1000):
        for name, family in families.visited(f"{HOST}/doc/{number}"):
            if family.needs_look():
                looks += name.endswith("/*")
                family.look(
                    HOST,
                    f"title {name}",
                    partial(fingerprint, f"{number} {TEXT} {number}" * (number + 1)),
                    lambda: True,
                )
    assert looks < 120
