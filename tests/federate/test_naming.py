"""Names of services: each is different, and says no host twice."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.federate.naming import ServiceFacts, different_names
from goodbot.url import Url

HOME, OTHER = "http://127.0.0.1:9121/", "http://127.0.0.1:9121/os.xml"
HOST = "127.0.0.1:9121"
LONG = f"http://127.0.0.1:9121/{'x' * 60}"

# stated name (empty: none) and URL of each service, what they are called
NAMES: list[tuple[str, list[tuple[str, str]], list[str]]] = [
    ("different", [("A", HOME), ("B", OTHER)], ["A", "B"]),
    ("without names", [("", HOME), ("", OTHER)], [f"{HOST}/", f"{HOST}/os.xml"]),
    ("the same path", [("", f"{HOME}f?a"), ("", f"{HOME}f?b")], [f"{HOST}/f (1)", f"{HOST}/f (2)"]),
    ("a long path", [("", LONG), ("", f"{LONG}y")], [f"{HOST} (1)", f"{HOST} (2)"]),
    ("different hosts", [("A", HOME), ("a", "https://a.example/")], [f"A ({HOST})", "a (a.example)"]),
    ("one host", [("A", HOME), ("A", OTHER)], [f"A ({HOST}/)", f"A ({HOST}/os.xml)"]),
    ("our own index", [("This Index", HOME)], [f"This Index ({HOST})"]),
    ("a name that is its host", [(HOST, HOME), ("", OTHER)], [f"{HOST}/", f"{HOST}/os.xml"]),
    (
        "one takes the name that another would get",
        [("A", HOME), ("A", "https://a.example/"), (f"A ({HOST})", OTHER)],
        [f"A ({HOST}/)", "A (a.example)", f"A ({HOST}) ({HOST}/os.xml)"],
    ),
]


def called(services: list[tuple[str, str]]) -> list[str]:
    hosts = [Url(url).authority for _, url in services]
    return different_names(
        [ServiceFacts(name or host, host, Url(url)) for (name, url), host in zip(services, hosts, strict=True)]
    )


@pytest.mark.parametrize(("services", "names"), [row[1:] for row in NAMES], ids=[row[0] for row in NAMES])
def test_names(services: list[tuple[str, str]], names: list[str]) -> None:
    assert called(services) == names


_NAMED = st.tuples(
    st.sampled_from(["", "A", "a", "this index", f"A ({HOST})", f"{HOST} (1)", f"{HOST}/ (1)"]) | st.text(max_size=9),
    st.sampled_from([HOME, OTHER, f"{HOME}?a", f"{HOME}?b", LONG, "https://a.example/"]),
)


@given(st.lists(_NAMED, max_size=12))
def test_names_are_always_different(services: list[tuple[str, str]]) -> None:
    folded = ["this index", *(name.casefold() for name in called(services))]
    assert len(set(folded)) == len(services) + 1
