"""Bytes → text. The sentences are ours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page import decode_text
from goodbot.page.encoding import charset_of, encoding_of

RUSSIAN = "Утром робот вежливо обошёл все страницы сайта и никого не разбудил."
SHORT = "Новости и расписание"
FRENCH = "Le robot a visité la forêt près du château, c'était très agréable."


@pytest.mark.parametrize(
    ("label", "name"),
    [
        ("UTF-8", "utf-8"),
        ("utf8", "utf-8"),
        ("iso-8859-1", "windows-1252"),
        ("latin1", "windows-1252"),
        ("us-ascii", "windows-1252"),
        ("cp1251", "windows-1251"),
        ("x-cp1251", "windows-1251"),
        ("koi8-r", "koi8-r"),
        ("koi", "koi8-r"),
        ("866", "ibm866"),
        ("gb2312", "gbk"),
        ("x-sjis", "shift_jis"),
        ("unicode", "utf-16le"),
        ("rot13", None),
        ("hex", None),
        ("bz2", None),
        ("idna", None),
        ("punycode", None),
        ("unicode_escape", None),
        ("utf-7", None),
        ("iso-2022-kr", None),
        ("whatwg-utf-8", None),
        ("", None),
        ("é\ud800", None),
        ("x" * 5000, None),
    ],
)
def test_labels(label: str, name: str | None) -> None:
    assert encoding_of(label) == name


@pytest.mark.parametrize(
    ("content_type", "name"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ('text/html;CHARSET="Windows-1251"; x=y', "windows-1251"),
        ("text/html; charset=koi8-r;boundary=1", "koi8-r"),
        ("text/html; charset='koi8-r'", "koi8-r"),
        ("text/html; charset=", None),
        ("text/html", None),
        (None, None),
    ],
)
def test_charset_parameter(content_type: str | None, name: str | None) -> None:
    assert charset_of(content_type) == name


META_1251 = b'<!doctype html><html><head><META content="text/html; charset=windows-1251" http-equiv=Content-Type>'


@pytest.mark.parametrize(
    ("name", "body", "content_type", "text", "encoding"),
    [
        ("mark first", b"\xef\xbb\xbf" + RUSSIAN.encode(), "text/html; charset=koi8-r", RUSSIAN, "utf-8"),
        ("mark 16le", b"\xff\xfe" + RUSSIAN.encode("utf-16le"), None, RUSSIAN, "utf-16le"),
        ("mark 16be", b"\xfe\xff" + RUSSIAN.encode("utf-16be"), None, RUSSIAN, "utf-16be"),
        ("header 16le", RUSSIAN.encode("utf-16le"), "text/html; charset=utf-16", RUSSIAN, "utf-16le"),
        ("header 16le is wrong", b"<p>plain</p>", "text/html; charset=utf-16", "<p>plain</p>", "utf-8"),
        ("header", RUSSIAN.encode("koi8-r"), "text/html; charset=koi8-r", RUSSIAN, "koi8-r"),
        ("latin-1 is windows-1252", b"\x93x\x94", "text/html; charset=iso-8859-1", "“x”", "windows-1252"),
        ("ascii keeps its label", b"abc", "text/html; charset=koi8-r", "abc", "koi8-r"),
        ("ascii", b"abc", None, "abc", "utf-8"),
        ("nothing", b"", None, "", "utf-8"),
        ("utf-8", RUSSIAN.encode(), None, RUSSIAN, "utf-8"),
        ("utf-8 called latin-1", RUSSIAN.encode(), "text/html; charset=iso-8859-1", RUSSIAN, "utf-8"),
        ("koi8-r called utf-8", RUSSIAN.encode("koi8-r"), "text/html; charset=utf-8", RUSSIAN, "koi8-r"),
        ("cp1251 called utf-8", RUSSIAN.encode("cp1251"), "text/html; charset=utf-8", RUSSIAN, "windows-1251"),
        ("unknown label", RUSSIAN.encode("cp1251"), "text/html; charset=rot13", RUSSIAN, "windows-1251"),
        ("looks like cp1251", SHORT.encode("cp1251"), None, SHORT, "windows-1251"),
        ("looks like koi8-r", SHORT.encode("koi8-r"), None, SHORT, "koi8-r"),
        ("looks like cp866", SHORT.encode("cp866"), None, SHORT, "ibm866"),
        ("looks like iso-8859-5", SHORT.encode("iso8859-5"), None, SHORT, "iso-8859-5"),
        ("looks like windows-1252", FRENCH.encode("cp1252"), None, FRENCH, "windows-1252"),
        ("cut in a character", RUSSIAN.encode()[:-2], None, RUSSIAN[:-2] + "\ufffd", "utf-8"),
        ("one bad byte", RUSSIAN.encode() + b"\xff", None, RUSSIAN + "\ufffd", "utf-8"),
        ("iso-2022-jp", "猫".encode("iso-2022-jp"), "text/html; charset=iso-2022-jp", "猫", "iso-2022-jp"),
    ],
)
def test_decoding(name: str, body: bytes, content_type: str | None, text: str, encoding: str) -> None:
    assert decode_text(body, content_type) == (text, encoding)


@pytest.mark.parametrize(
    ("head", "encoding"),
    [
        (META_1251, "windows-1251"),
        (b"<meta charset=windows-1251>", "windows-1251"),
        (b"<META/CHARSET='windows-1251' >", "windows-1251"),
        (b"<!-- <meta charset=koi8-r> --><meta charset=windows-1251>", "windows-1251"),
        (b"<meta charset=bogus><meta charset=windows-1251>", "windows-1251"),
        (b" " * 1500 + b"<meta charset=windows-1251>", "windows-1251"),
    ],
)
def test_meta(head: bytes, encoding: str) -> None:
    text, name = decode_text(head + b"\xf2\xe5\xf1\xf2")
    assert (text[-4:], name) == ("тест", encoding)


def test_header_before_meta() -> None:
    assert decode_text(META_1251 + RUSSIAN.encode("koi8-r"), "text/html; charset=koi8-r")[1] == "koi8-r"


def test_meta_means_nothing_in_plain_text() -> None:
    assert decode_text(META_1251 + RUSSIAN.encode("koi8-r"), html=False)[1] == "koi8-r"


def test_a_meta_that_says_utf_16_is_utf_8() -> None:
    assert decode_text(b"<meta charset=utf-16>" + RUSSIAN.encode()) == ("<meta charset=utf-16>" + RUSSIAN, "utf-8")


def test_deviation_valid_utf_8_is_utf_8_whatever_the_label() -> None:
    assert decode_text(META_1251 + RUSSIAN.encode())[1] == "utf-8"


@given(st.binary(max_size=400), st.one_of(st.none(), st.text(max_size=40), st.from_regex(r"charset=[a-z0-9-]{1,9}")))
def test_never_raises(body: bytes, content_type: str | None) -> None:
    text, name = decode_text(body, content_type)
    assert len(text) <= len(body)
    assert encoding_of(name) == name
    text.encode()


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\ufeff")))
def test_utf_8_round_trip(text: str) -> None:
    assert decode_text(text.encode(), html=False) == (text, "utf-8")


def test_a_label_of_blanks_takes_one_pass() -> None:
    """In two quantifiers side by side, 100 kB of blanks would take a minute and more."""
    assert charset_of("text/html; charset=" + " " * 1_000_000 + ";") is None
    assert charset_of("text/html; charset" + " " * 1_000_000 + '= " utf-8') == "utf-8"
