"""Tests how parameters that change nothing are found."""

from goodbot.robot.lessons.parameters import PATHS, VALUES, Parameters, links_without

ORIGIN = "http://example.org"


def taught(visits: list[tuple[str, str, str, int]]) -> list[str]:
    """The evidence after these pages: target, parameter, value, what it says."""
    known = Parameters()
    found = (known.visited(f"{ORIGIN}{target}", ORIGIN, name, value, says) for target, name, value, says in visits)
    return [evidence for evidence in found if evidence is not None]


def under(path: str, count: int, says: int) -> list[tuple[str, str, str, int]]:
    """One page under so many values of `sid`."""
    return [(f"{path}?sid={n}&a=1", "sid", str(n), says) for n in range(count)]


def test_the_same_pages_under_many_values_teach_it() -> None:
    (evidence,) = taught([*under("/a", VALUES, 1), *under("/b", VALUES, 2)])
    assert evidence.startswith(
        "the parameter sid changes nothing: 4 values of it gave the same page at http://example.org/a?a=1"
    )


def test_what_does_not_teach_it() -> None:
    assert PATHS == 2
    assert taught(under("/a", 20, 1)) == []
    assert taught([*under("/a", VALUES - 1, 1), *under("/b", VALUES - 1, 1)]) == []
    assert taught([("/a?p=1", "p", "1", 1)] * 20 + [("/b?p=1", "p", "1", 1)] * 20) == []


def test_a_parameter_that_matters_once_is_asked_about_no_more() -> None:
    known = Parameters()
    url = f"{ORIGIN}/a?p=1&q=2"
    assert known.undecided(url, ORIGIN) == [("p", "1"), ("q", "2")]
    known.visited(url, ORIGIN, "p", "1", 1)
    known.visited(f"{ORIGIN}/a?p=2&q=2", ORIGIN, "p", "2", 2)
    assert known.undecided(url, ORIGIN) == [("q", "2")]
    assert known.undecided(url, "http://example.com") == [("p", "1"), ("q", "2")]


def test_a_page_that_has_changed_says_nothing_about_its_parameters() -> None:
    known = Parameters()
    known.visited(f"{ORIGIN}/a?p=1", ORIGIN, "p", "1", 1)
    known.visited(f"{ORIGIN}/a?p=1", ORIGIN, "p", "1", 2)
    assert known.undecided(f"{ORIGIN}/a?p=1", ORIGIN) == [("p", "1")]


def test_links_are_compared_without_the_parameter() -> None:
    assert links_without(["/a?sid=1", "/b?sid=1&x=2"], "sid") == links_without(["/b?x=2&sid=9", "/a"], "sid")
    assert links_without(["/a?page=2"], "sid") != links_without(["/a?page=3"], "sid")
