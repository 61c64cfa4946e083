"""What pages let robots do, remembered in a file and compared."""

import tempfile
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.history.page_states import PAGES, PageHistory, PageState, page_changes, statements

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
    ("no answer", replace(OPEN, status=None, failure="timeout"), [], "no answer"),
    ("disallowed", replace(OPEN, status=None, disallowed="Disallow: /"), [], "disallowed by robots.txt"),
]


@pytest.mark.parametrize(("new", "effects", "after"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_changes_of_a_page(new: PageState, effects: list[tuple[str, str, object]], after: str, tmp_path: Path) -> None:
    history = PageHistory(tmp_path / "site")
    assert history.add(OPEN) is None
    assert history.add(new) == OPEN
    assert history.add(OPEN) == new
    changes = page_changes(OPEN, new)
    assert [(change.robot.lower(), change.effect, change.after) for change in changes.effects] == [
        (robot.lower(), effect, value) for robot, effect, value in effects
    ]
    assert (changes.after, bool(changes)) == (after, bool(effects or after))


def test_only_what_addresses_robots_is_kept() -> None:
    metas = [("viewport", "x"), ("Robots", "noindex"), ("description", "x"), ("GPTBot", "noindex")]
    headers = [("Server", "x"), ("x-robots-tag", "noindex"), ("Robots-Tag", "x")]
    assert statements(metas, headers) == ((metas[1], metas[3]), (headers[1], headers[2]))


@given(st.binary(max_size=300))
def test_any_bytes_can_lie_in_the_file(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / PAGES).write_bytes(content)
        PageHistory(Path(name)).add(OPEN)
        assert PageHistory(Path(name)).add(OPEN) == OPEN
