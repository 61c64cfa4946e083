"""The URLs in mail and news: what is quoted, coded, of several parts, or made to be slow."""

import base64
import io
import quopri
import tracemalloc
from typing import SupportsIndex

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.mail import (
    MESSAGE_BYTES,
    _without_tail,
    in_html,
    in_text,
    looks_like_mail,
    read_mail,
    read_message,
    split_messages,
)
from goodbot.url import Url

HEAD = b"From: a@h.example\nTo: b@h.example\nSubject: x\n"


def texts(found: "object") -> list[str | None]:
    return [url and url.text for url in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "urls"),
    [
        ("see http://h.example/a, or <https://h.example/b>.", ["http://h.example/a", "https://h.example/b"]),
        ("(http://h.example/a_(b)) http://h.example/c).", ["http://h.example/a_(b)", "http://h.example/c"]),
        ("HTTP://H.EXAMPLE/A?b=1&c=2#d!", ["http://h.example/A?b=1&c=2"]),
        ('"http://h.example/é"', ["http://h.example/%C3%A9"]),
        ("http://h.example/" + "x" * 9000, [None]),
        ("http:// https://) www.h.example mailto:a@h.example ftp://h.example/", [None]),
    ],
)
def test_urls_in_text(text: str, urls: list[str | None]) -> None:
    assert texts(in_text(text)) == urls


class Counted(str):
    """A text that counts the characters that were searched or copied."""

    work = 0

    def count(self, *wanted: object) -> int:
        type(self).work += len(self)
        return super().count(*wanted)  # type: ignore[arg-type]

    def __getitem__(self, key: SupportsIndex | slice) -> "Counted":
        found = Counted(super().__getitem__(key))
        type(self).work += len(found)
        return found


@pytest.mark.parametrize("tail", [")", "]", ".", ")]", "))]."])
def test_a_long_tail_is_taken_off_in_one_pass(tail: str) -> None:
    Counted.work = 0
    url = Counted("http://h.example/" + tail * 2000)
    assert _without_tail(url) == "http://h.example/"
    assert Counted.work < 10 * len(url)


@given(st.text("a()[].,", max_size=30))
def test_a_bracket_ends_the_tail_if_it_closes_one_of_the_url(text: str) -> None:
    expected = text
    while expected and expected[-1] in ".,)]":
        opening = {")": "(", "]": "["}.get(expected[-1])
        if opening and expected.count(opening) >= expected.count(expected[-1]):
            break
        expected = expected[:-1]
    assert _without_tail(text) == expected


def test_links_of_a_page_are_resolved_if_it_says_to_what() -> None:
    page = "<a href=/a>a</a><a href='https://h.example/b'>b</a><a href=javascript:1>c</a><img src=/d>"
    assert texts(in_html(page)) == [None, "https://h.example/b", None]
    assert texts(in_html(f"<base href=http://h.example/x/>{page}"))[0] == "http://h.example/a"


MULTIPART = b"""Content-Type: multipart/alternative; boundary=b

--b
Content-Type: text/plain; charset=koi8-r
Content-Transfer-Encoding: quoted-printable

%b
--b
Content-Type: text/html
Content-Transfer-Encoding: base64

%b
--b
Content-Type: application/octet-stream

http://h.example/attached
--b--
"""


@pytest.mark.parametrize(
    ("message", "urls"),
    [
        (HEAD + b"\nhttp://h.example/1\n", ["http://h.example/1"]),
        (
            HEAD + b"Content-Transfer-Encoding: quoted-printable\n\nhttp://h.example/?a=3D1&b=\n=3D2 x",
            ["http://h.example/?a=1&b=2"],
        ),
        (
            HEAD + b"Content-Transfer-Encoding: base64\n\n" + base64.encodebytes(b"http://h.example/1"),
            ["http://h.example/1"],
        ),
        (
            HEAD
            + MULTIPART
            % (
                quopri.encodestring("вот: http://h.example/1".encode("koi8-r")),
                base64.b64encode(b"<a href=http://h.example/2>x</a>"),
            ),
            ["http://h.example/1", "http://h.example/2"],
        ),
        (HEAD + b"Content-Type: text/html; charset=klingon\n\n<a href=http://h.example/1>", ["http://h.example/1"]),
        (HEAD + b"Content-Type: image/png\n\nhttp://h.example/1", []),
        (HEAD + b"Content-Transfer-Encoding: base64\n\n=http://h.example/1", []),
        (b"", []),
        (b"no head at all http://h.example/1", ["http://h.example/1"]),
    ],
)
def test_parts_of_a_message(message: bytes, urls: list[str]) -> None:
    assert texts(read_message(message)) == urls


ARCHIVES = {
    "mbox": b"From a@h Thu Jan  1\n"
    + HEAD
    + b"\nhttp://h.example/1\nFrom the text\n>From x\n\nFrom b@h Fri\n"
    + HEAD
    + b"\nhttp://h.example/2\n",
    "with CR LF": b"From a@h Thu\r\nSubject: x\r\n\r\nhttp://h.example/1\r\n\r\nFrom b@h Fri\r\nSubject: y\r\n\r\n"
    b"http://h.example/2\r\n",
    "a news batch": b"#! rnews 40\nPath: a\nSubject: x\n\nhttp://h.example/1\n\n#! rnews 40\nPath: b\n\nhttp://h.example/2\n",
    "one message": HEAD + b"\nhttp://h.example/1\n\nhttp://h.example/2\n",
}


@pytest.mark.parametrize("archive", ARCHIVES.values(), ids=ARCHIVES.keys())
def test_archives(archive: bytes) -> None:
    assert looks_like_mail(archive)
    assert texts(read_mail(io.BytesIO(archive).readline)) == ["http://h.example/1", "http://h.example/2"]


@pytest.mark.parametrize(
    "file",
    [
        b"",
        b"http://h.example/\n",
        b"Sitemap: http://h.example/s.xml\n",
        b"From: a@h.example\nhello\n",
        b"<html>",
        b"\0",
    ],
)
def test_what_is_no_mail(file: bytes) -> None:
    assert not looks_like_mail(file)


def test_a_message_is_read_up_to_its_bound_and_the_next_one_too() -> None:
    long = b"x" * 70 + b"\n"
    archive = b"From a\n\n" + long * 40_000 + b"http://h.example/0\n\nFrom b\n\nhttp://h.example/1\n"
    first, second = split_messages(io.BytesIO(archive).readline)
    assert (len(first), second) == (MESSAGE_BYTES, b"\nhttp://h.example/1\n")


@pytest.mark.parametrize(
    "part",
    [
        b"Content-Type: multipart/mixed; boundary=x\n\n--x\n",
        b"Content-Type: message/rfc822\n\n",
        b"--x\n",
        b"\n",
        b"From ",
        b"=?utf-8?b?",
        b"http://(((",
        b"<a href=http://h/>",
    ],
)
def test_a_message_made_to_be_slow_is_read(part: bytes) -> None:
    message = HEAD + part * (100_000 // len(part)) + b"\nhttp://h.example/1\n"
    tracemalloc.start()
    try:
        for _ in read_message(message):
            pass
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 30_000_000


@given(
    st.binary(max_size=300) | st.sampled_from(list(ARCHIVES.values())).map(lambda file: file.replace(b"a", b"\xff\0"))
)
def test_any_bytes_are_read(file: bytes) -> None:
    looks_like_mail(file)
    for url in read_mail(io.BytesIO(HEAD + MULTIPART[:60] + file).readline):
        assert url is None or isinstance(url, Url)
    for _ in read_mail(io.BytesIO(file).readline):
        pass


@given(st.text(max_size=200))
def test_any_text_is_searched(text: str) -> None:
    list(in_text(text))
    list(in_text("http://h/" + text))
    list(in_html(text))


def test_an_archive_of_any_length_is_read_in_flat_memory() -> None:
    message = b"From a\n" + HEAD + b"\nhttp://h.example/1\n\n"

    def peak_of(messages: int) -> int:
        file = io.BytesIO(message * messages)
        tracemalloc.start()
        try:
            for _ in read_mail(file.readline):
                pass
            return tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()

    assert peak_of(2000) < 2 * peak_of(200) + 100_000
