"""What pages let robots do, remembered in a file and compared."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.history.page_states import PAGES, Earlier, PageHistory, PageState, page_changes, statements

URL = "https://www.example.org/page"
OPEN = PageState(URL, 1.0, URL, 200, None, None, (), ())
CASES = [
    ("nothing", OPEN, [], ""),
    ("noindex", replace(OPEN, metas=(("robots", "noindex"),)), [("*", "index", False)], ""),
    ("one robot", replace(OPEN, metas=(("googlebot", "nofollow"),)), [("Googlebot", "follow", False)], ""),
    ("field", replace(OPEN, headers=(("X-Robots-Tag", "bingbot: noarchive"),)), [("bingbot", "archive", False)], ""),
    ("number", replace(OPEN, metas=(("robots", "max-snippet:9"),)), [("*", "max_snippet", 9)], ""),
    ("no effect", replace(OPEN, metas=(("robots", "index, follow"),)), [], ""),
    ("status", replace(OPEN, status=404, metas=(("robots", "noindex"),)), [], "status 404"),
    ("no answer", replace(OPEN, status=None, failure="timeout"), [], ""),
    ("disallowed", replace(OPEN, status=None, disallowed="Disallow: /"), [], "disallowed by robots.txt"),
]


@pytest.mark.parametrize(("new", "effects", "after"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_changes_of_a_page(new: PageState, effects: list[tuple[str, str, object]], after: str, tmp_path: Path) -> None:
    history = PageHistory(tmp_path / "site")
    assert history.add(OPEN) == Earlier()
    earlier = history.add(new)
    assert earlier == Earlier(OPEN, OPEN)
    changes = page_changes(earlier, new)
    assert [(change.robot.lower(), change.effect, change.after) for change in changes.effects] == [
        (robot.lower(), effect, value) for robot, effect, value in effects
    ]
    assert (changes.after, bool(changes)) == (after, bool(effects or after))


CLOSED = replace(OPEN, metas=(("robots", "nofollow"),))
GONE = replace(OPEN, status=404)
DOWN = replace(OPEN, status=None, failure="connection refused")
RUNS = [
    ("the same page again", [CLOSED, GONE, CLOSED], ["", "status 404", "status 200"], [[], [], []]),
    ("other directives after a 404", [CLOSED, GONE, OPEN], ["", "status 404", "status 200"], [[], [], ["follow"]]),
    (
        "other directives after 404s",
        [CLOSED, GONE, GONE, OPEN],
        ["", "status 404", "", "status 200"],
        [[]] * 3 + [["follow"]],
    ),
    ("a failure changes nothing", [OPEN, DOWN, DOWN, OPEN], [""] * 4, [[]] * 4),
    ("other directives after a failure", [OPEN, DOWN, CLOSED], [""] * 3, [[], [], ["follow"]]),
    ("failures first", [DOWN, OPEN, CLOSED], [""] * 3, [[], [], ["follow"]]),
    ("another page between", [CLOSED, replace(OPEN, url=f"{URL}2"), CLOSED], [""] * 3, [[]] * 3),
]


@pytest.mark.parametrize(("states", "after", "effects"), [case[1:] for case in RUNS], ids=[case[0] for case in RUNS])
def test_a_page_is_compared_with_the_last_answer_and_the_last_page(
    states: list[PageState], after: list[str], effects: list[list[str]], tmp_path: Path
) -> None:
    history = PageHistory(tmp_path / "site")
    changes = [page_changes(history.add(state), state) for state in states]
    assert [one.after for one in changes] == after
    assert [[effect.effect for effect in one.effects] for one in changes] == effects


def test_only_what_addresses_robots_is_kept() -> None:
    metas = [("viewport", "x"), ("Robots", "noindex"), ("description", "x"), ("GPTBot", "noindex")]
    headers = [("Server", "x"), ("x-robots-tag", "noindex"), ("Robots-Tag", "x")]
    assert statements(metas, headers) == ((metas[1], metas[3]), (headers[1], headers[2]))


@given(st.binary(max_size=300))
def test_any_bytes_can_lie_in_the_file(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / PAGES).write_bytes(content)
        PageHistory(Path(name)).add(OPEN)
        assert PageHistory(Path(name)).add(OPEN) == Earlier(OPEN, OPEN)
