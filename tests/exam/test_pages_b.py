"""What the sites with large or odd bodies are made of."""

import zlib

import pytest

from exam.scripted import Driver, examine
from goodbot.exam.exam_values import ExamRequest
from goodbot.exam.sites import bombs
from goodbot.exam.sites.pages import bomb_br, hundred_thousand_links


@pytest.mark.parametrize(
    ("header", "accepted"),
    [
        ("gzip, br", True),
        ("GZIP, BR;q=0.1", True),
        ("br ; q=1", True),
        ("br;q=0", False),
        ("br; q=0.000", False),
        ("gzip, brotli", False),
        ("*", False),
        ("", False),
        (";,;q=,\xff", False),
    ],
)
def test_who_accepts_a_coding(header: str, accepted: bool) -> None:
    assert bombs.accepts(ExamRequest("", "GET", "/", (("Accept-Encoding", header),), 1, 0.0), "br") is accepted


@pytest.mark.parametrize("coding", ["gzip", "br", "zstd"])
def test_a_bomb_is_small(coding: str) -> None:
    assert len(bombs.compressed(coding)) < 300_000


def test_a_bomb_unfolds_to_what_it_says() -> None:
    decoder, data, size = zlib.decompressobj(31), bombs.compressed("gzip"), 0
    while not decoder.eof:
        size += len(decoder.decompress(data, 2**20))
        data = decoder.unconsumed_tail
    assert bombs.DECOMPRESSED_BYTES < size < bombs.DECOMPRESSED_BYTES + 1000


async def test_who_does_not_accept_a_coding_gets_a_plain_page() -> None:
    answers: list[bytes] = []

    async def take(driver: Driver) -> None:
        answers.extend([await driver.get("/bomb"), await driver.get("/bomb", "", "Accept-Encoding: br")])

    await examine(bomb_br.SITE, [take])
    assert b"Content-Encoding" not in answers[0]
    assert b"\r\nContent-Encoding: br\r\n" in answers[1]


async def test_a_hundred_thousand_links_fit_in_two_megabytes() -> None:
    answers: list[bytes] = []

    async def take(driver: Driver) -> None:
        answers.append(await driver.get("/"))

    await examine(hundred_thousand_links.SITE, [take])
    assert answers[0].count(b"<a href=") == hundred_thousand_links.LINKS
    assert answers[0].endswith(b"<a href=30>x</a>")
    assert len(answers[0]) < 2 * 10**6
