import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.obedience.nofollow_pages import NofollowPages, PageCopy

H = 3600
PAGE = "https://example.org/p"
NOFOLLOW = (("robots", "nofollow"),)
NOINDEX = (("robots", "noindex"),)
NONE_FOR_GOOGLEBOT = (("googlebot", "none"),)


def copy(hour: float, metas: tuple[tuple[str, str], ...] = (), header: str = "") -> PageCopy:
    return PageCopy(PAGE, hour * H, metas, (("X-Robots-Tag", header),) if header else ())


CASES = [
    pytest.param([copy(0, NOFOLLOW)], "CCBot", 5, True, id="nofollow"),
    pytest.param([copy(0, NOINDEX)], "CCBot", 5, False, id="noindex"),
    pytest.param([copy(0, (), "nofollow")], "CCBot", 5, True, id="header field"),
    pytest.param([copy(0, NOFOLLOW)], "CCBot", -1, False, id="before the first copy"),
    pytest.param([copy(0, NONE_FOR_GOOGLEBOT)], "CCBot", 5, False, id="for another robot"),
    pytest.param([copy(0, NONE_FOR_GOOGLEBOT)], "Googlebot", 5, True, id="for this robot"),
    pytest.param([copy(0), copy(40, NOFOLLOW)], "CCBot", 50, False, id="a copy of the last day allows it"),
    pytest.param([copy(0), copy(40, NOFOLLOW)], "CCBot", 70, True, id="a day later"),
    pytest.param([copy(0, NOFOLLOW), copy(50)], "CCBot", 40, False, id="the change may have come"),
    pytest.param([copy(0, NOFOLLOW), copy(50, NOFOLLOW), copy(90)], "CCBot", 40, True, id="the next copy is equal"),
    pytest.param([copy(50, NOFOLLOW), copy(0, NOFOLLOW)], "CCBot", 40, True, id="in any order"),
]


@pytest.mark.parametrize(("copies", "robot", "hour", "forbidden"), CASES)
def test_nofollow(copies: list[PageCopy], robot: str, hour: int, forbidden: bool) -> None:
    assert NofollowPages(copies).forbids(PAGE, robot, hour * H) is forbidden


def test_pages_without_nofollow_are_not_kept() -> None:
    pages = NofollowPages([copy(0, NOINDEX), PageCopy("https://example.org/q", 0, NOFOLLOW, ())])
    assert pages.urls == {"https://example.org/q"}
    assert not pages.forbids("https://example.org/unknown", "CCBot", 0)


@given(
    st.lists(
        st.builds(
            PageCopy,
            st.just(PAGE),
            st.floats(0, 1e10),
            st.just(()) | st.tuples(st.tuples(st.text(), st.text())),
            st.just(()),
        )
    ),
    st.text(),
    st.floats(-1e10, 1e10),
)
def test_any_text(copies: list[PageCopy], robot: str, at: float) -> None:
    assert NofollowPages(copies).forbids(PAGE, robot, at) in (True, False)
