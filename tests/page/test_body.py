"""A body that several readers share is decoded once."""

import gzip

from goodbot.page import Body, read_body, read_page
from goodbot.page.fingerprint import body_text
from goodbot.page.page_words import text_in
from goodbot.url import Url
from goodbot.values import Response

HERE = Url("http://example.org/")


def answer(kind: str, body: bytes, *headers: tuple[str, str]) -> Response:
    return Response(200, (("Content-Type", kind), *headers), body)


def test_what_readers_share_is_decoded_once() -> None:
    html = "<title>Робот</title><p>Привет"
    body = Body(
        answer("text/html; charset=koi8-r", gzip.compress(html.encode("koi8-r")), ("Content-Encoding", "gzip")), 99
    )
    assert (body.text, body.encoding, body.content) == (html, "koi8-r", html.encode("koi8-r"))
    assert text_in(body) is body.text
    assert body.text is body.text
    assert body.content is body.content
    assert read_body(HERE, body, "goodbot") == read_page(HERE, body.response, "goodbot", 99)
    assert body_text(body) == body_text(body.response) == "Робот Привет"


def test_only_the_first_bytes_count() -> None:
    assert Body(answer("text/html", b"<p>one<p>two"), 6).text == "<p>one"


def test_meta_is_markup_only_in_html() -> None:
    meta = b"<meta charset=koi8-r>\xf2"
    assert Body(answer("text/html", meta), 99).encoding == "koi8-r"
    assert Body(answer("text/plain", meta), 99).encoding != "koi8-r"


def test_other_documents_have_no_words() -> None:
    assert text_in(Body(answer("image/png", b"x"), 99)) == ""
