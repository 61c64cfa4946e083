"""Tests which traps are recognized by the URL alone."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.robot.lessons.url_shape import trap_in_url
from goodbot.url import MAX_URL_CHARS

HOST = "http://example.org"


@pytest.mark.parametrize(
    ("target", "said"),
    [
        ("/shop/a/b/a/b/a/b/", "/a/b occurs 3 times in a row"),
        ("/en/en/en/en/page", "/en occurs 4 times in a row"),
        ("/x/one/two/three/one/two/three/one/two/three", "/one/two/three occurs 3 times in a row"),
        ("/" + "folder/next/" * 20, "occurs 3 times in a row"),
        ("/" + "/".join(f"f{n}" for n in range(60)), "a path of 60 folders"),
        ("/list?" + "&".join(f"p{n}=1" for n in range(31)), "31 parameters"),
        ("/list?" + "sort=up&" * 5 + "q=1", "sort=up is repeated"),
        ("/list?" + "sort=up&page=1&" * 3, "is repeated"),
        ("/login?to=%2Flogin%3Fto%3D%252Flogin%253Fto%253D%2Flogin", "the page's own address and query"),
        ("/a?" + "x" * 2100, "more than 2048"),
    ],
)
def test_what_is_refused(target: str, said: str) -> None:
    reason = trap_in_url(HOST + target)
    assert reason is not None
    assert said in reason
    assert reason.startswith(("a trap: ", "a URL of "))


@pytest.mark.parametrize(
    "target",
    [
        "/",
        "/a/b/a/b/",
        "/en/en/en/",
        "/doc/html/libs/libs/libs/doc/index.html",
        "/2026/11/11/11/index.html",
        "/objects/1/1/1/1/1/1",
        "/pool/a/a/a/a/aaaa.html",
        "/org/example/a/org/example/b/org/example/c/index.html",
        "/api/java.base/java/lang/class-use/String.html",
        "/search?cat=1&cat=2&cat=3&cat=4&cat=5&cat=6",
        "/filter?" + "&".join(f"box={n}" for n in range(20)),
        "/login?to=%2Fwiki%2FLogin%3Faction%3Dview",
        "/login?to=%2Flogin%3Fto%3Dx",
        "/a?" + "x" * 1500,
    ],
)
def test_what_is_not(target: str) -> None:
    assert trap_in_url(HOST + target) is None


@given(st.lists(st.sampled_from(["a", "bb", "/", "//", "?", "&", "=", "%2F", "%3F", "1"]), max_size=200))
def test_no_address_makes_it_raise(parts: list[str]) -> None:
    trap_in_url(HOST + "/" + "".join(parts))


@pytest.mark.parametrize("piece", ["/", "a/", "a/b/", "?", "?a&", "%2F", "a=1&"])
def test_the_longest_addresses_are_judged(piece: str) -> None:
    assert trap_in_url(HOST + "/" + (piece * MAX_URL_CHARS)[: MAX_URL_CHARS - 30]) is not None
