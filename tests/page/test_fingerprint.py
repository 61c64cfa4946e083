"""What two texts have in common, and what a page says beside its links."""

import os
import subprocess
import sys
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.fingerprint import SHORT_WORDS, body_text, fingerprint, stable_fingerprint
from goodbot.values import Response

WORDS = [f"word{number}" for number in range(400)]
TEXT = " ".join(WORDS)


def html(body: str, kind: str = "text/html; charset=utf-8") -> Response:
    """An answer."""
    return Response(200, (("Content-Type", kind),), body.encode())


@pytest.mark.parametrize(
    ("name", "other", "least", "most"),
    [
        ("the same", TEXT, 1, 1),
        ("the same but for blanks", TEXT.replace(" ", "\n  "), 1, 1),
        ("one word of four hundred", TEXT.replace("word7 ", "bird "), 0.95, 0.999),
        ("forty words of four hundred", " ".join([*(f"bird{n}" for n in range(40)), *WORDS[40:]]), 0.65, 0.93),
        ("half of it", " ".join(WORDS[:200]), 0, 0),
        ("another text", " ".join(f"bird{n}" for n in range(400)), 0, 0.2),
    ],
)
def test_how_alike_two_texts_are(name: str, other: str, least: float, most: float) -> None:
    assert least <= fingerprint(TEXT).likeness(fingerprint(other)) <= most, name


def test_short_texts_are_the_same_or_not_alike() -> None:
    words = WORDS[: SHORT_WORDS - 1]
    short = fingerprint(" ".join(words))
    assert short.likeness(fingerprint(" ".join(words))) == 1
    assert short.likeness(fingerprint(" ".join([*words[:-1], "bird"]))) == 0
    assert short.bands() == ()


def test_the_same_words_in_another_order_are_not_the_same_text() -> None:
    likeness = fingerprint(TEXT).likeness(fingerprint(" ".join(reversed(WORDS))))
    assert 0.99 <= likeness < 1


def test_texts_alike_are_found_under_one_of_their_bands() -> None:
    one, other = fingerprint(TEXT), fingerprint(TEXT.replace("word7 ", "bird "))
    assert set(one.bands()) & set(other.bands())
    assert not set(one.bands()) & set(fingerprint(" ".join(f"bird{n}" for n in range(400))).bands())


def test_a_text_without_blanks_is_compared_by_its_letters() -> None:
    text = "".join(chr(0x4E00 + 7 * number) for number in range(300))
    assert fingerprint(text).likeness(fingerprint(text[:150] + "一" + text[151:])) > 0.95
    assert fingerprint(text).likeness(fingerprint(text[::-1])) < 0.5


def test_what_differs_between_the_ends_is_not_the_same() -> None:
    long = "many words " * 20_000
    assert fingerprint(long + "a" + long).likeness(fingerprint(long + "b" + long)) < 1


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("<html><head><title>t</title></head><body><h1>One</h1><p>two</body>", "One two"),
        ("<BODY><P>One <A HREF=x>link</A> two", "One two"),
        ("<body>One<script>var a = '<p>';</script><style>p {}</style><!-- no --> two", "One two"),
        ("<body>One <a name=x>link</a><abbr>two</abbr> <span>three</span><strong>four</strong>", "One two three four"),
        ("<body>One <a href=x>never closed <p>two", "One"),
        ("<body>One <script>never closed <p>two", "One"),
        ("<body>1 < 2 <p", "1 < 2"),
        ("no markup at all", "no markup at all"),
    ],
)
def test_what_a_page_says_beside_its_links(body: str, expected: str) -> None:
    assert body_text(html(body)) == expected


def test_plain_text_says_all_and_other_documents_nothing() -> None:
    assert body_text(html("one <b> two", "text/plain")) == "one <b> two"
    assert body_text(html("one", "image/png")) == body_text(html("{}", "application/json")) == ""


@given(st.text(max_size=300), st.text(max_size=300))
def test_likeness_is_a_share_and_the_same_both_ways(one: str, other: str) -> None:
    first, second = fingerprint(one), fingerprint(other)
    assert 0 <= first.likeness(second) == second.likeness(first) <= 1
    assert first.likeness(fingerprint(one)) == 1


@given(st.binary(max_size=400), st.sampled_from(["text/html", "text/plain", "", "application/xhtml+xml"]))
def test_no_bytes_make_it_raise(body: bytes, kind: str) -> None:
    fingerprint(body_text(Response(200, (("Content-Type", kind),), body)))


@pytest.mark.parametrize("piece", ["<a ", "<a>", "<", "<!--", "<script", "<style ", "</a>", "<s", "a", "<a x </b"])
def test_hostile_markup_is_looked_at_once(piece: str) -> None:
    before = time.process_time()
    body_text(html("<body>" + piece * (1_000_000 // len(piece))))
    assert time.process_time() - before < 5  # quadratic would be minutes


def test_stable_fingerprints_are_equal_in_all_processes() -> None:
    long = "many words " * 3000
    program = (
        "from goodbot.page.fingerprint import stable_fingerprint\n"
        f"for text in ({TEXT!r}, 'short', '\\ud800', {long!r}):\n"
        "    mark = stable_fingerprint(text)\n"
        "    print(mark, mark.bands())"
    )
    found = {
        subprocess.run(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": seed}, check=True, capture_output=True
        ).stdout
        for seed in ("1", "2")
    }
    assert len(found) == 1


@pytest.mark.parametrize("text", ["short", TEXT, "many words " * 3000])
def test_stable_fingerprints_differ_in_the_number_of_the_text_only(text: str) -> None:
    stable, own = stable_fingerprint(text), fingerprint(text)
    assert (stable.words, stable.chars, stable.sketch) == (own.words, own.chars, own.sketch)
    assert stable.exact == stable_fingerprint(f"{text}").exact != stable_fingerprint(f"{text} more").exact
