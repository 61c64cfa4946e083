"""Plain text: its text, and the addresses in it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.extract import MAX_LINKS
from goodbot.page.plain import MAX_URL_CHARS, read_plain


def urls(text: str) -> list[str]:
    return [link.href for link in read_plain(text).links]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see http://a.example/b for it", ["http://a.example/b"]),
        ("at the end http://a.example/b", ["http://a.example/b"]),
        ("HTTPS://A.example/B", ["HTTPS://A.example/B"]),
        ("a sentence http://a.example/b.", ["http://a.example/b"]),
        ("really http://a.example/b?!", ["http://a.example/b"]),
        ("one http://a.example/b, two http://a.example/c; and", ["http://a.example/b", "http://a.example/c"]),
        ("http://a.example/b?q=1&r=2#part", ["http://a.example/b?q=1&r=2#part"]),
        ("(see http://a.example/b)", ["http://a.example/b"]),
        ("http://a.example/heron_(bird)", ["http://a.example/heron_(bird)"]),
        ("(http://a.example/heron_(bird)).", ["http://a.example/heron_(bird)"]),
        ("[1] http://[::1]:8080/b]", ["http://[::1]:8080/b"]),
        ("<http://a.example/b>", ["http://a.example/b"]),
        ("<URL:http://a.example/b>", ["http://a.example/b"]),
        ('"http://a.example/b"', ["http://a.example/b"]),
        ("'http://a.example/b'", ["http://a.example/b"]),
        ("*http://a.example/b*", ["http://a.example/b"]),
        ("«http://a.example/b»", ["http://a.example/b"]),
        ("见 http://a.example/b。还有", ["http://a.example/b"]),
        ("http://пример.example/страница", ["http://пример.example/страница"]),
        ("http://a.example/b http://a.example/b", ["http://a.example/b"]),
        ("http://a.example/\nb", ["http://a.example/"]),
        ("xhttp://a.example/b", []),
        ("ftp://a.example/b mailto:a@example.org www.example.org", []),
        ("http://" + "a" * MAX_URL_CHARS, []),
    ],
)
def test_addresses_in_text_are_links(text: str, expected: list[str]) -> None:
    assert urls(text) == expected


def test_the_text_is_as_it_was_and_without_text_links_remain() -> None:
    found = read_plain("\n  A list\n\n  of http://a.example/b\0\n")
    assert (found.text, found.title, found.headings) == ("A list\n\n  of http://a.example/b", "", [])
    assert (read_plain("x http://a.example/b", text=False).text, urls("x http://a.example/b")) == (
        "",
        ["http://a.example/b"],
    )


@pytest.mark.parametrize(
    "text",
    [
        "http://" * 280_000,
        "h" * 2_000_000,
        ("http://a" + "(" * 3_000 + ")" * 4_000 + " ") * 280,
        "http://a" + "." * 2_000_000,
        "".join(f"http://a/{number} " for number in range(130_000)),
    ],
    ids=["schemes", "letters", "brackets", "dots", "many"],
)
def test_the_worst_texts_are_read_once(text: str) -> None:
    assert len(urls(text)) <= MAX_LINKS


@given(st.text(alphabet=st.sampled_from("htps:/.()[]<> \n\0a。é"), max_size=300))
def test_every_address_found_stands_in_the_text(text: str) -> None:
    for url in urls("http://a " + text):
        assert url in "http://a " + text.replace("\0", "")
        assert not url.endswith((".", ":")) or url.lower() in ("http://", "https://")
