"""The keys and numbers of documents, hosts, languages and translations."""

import re

import pytest
import tantivy
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.keys import (
    MAX_KEY_CHARS,
    MAX_SITE_TERMS,
    address_words,
    cleaned,
    depth_of,
    document_key,
    escaped,
    extension_of,
    hash_of,
    key_pattern,
    language_in,
    site_terms,
    tongue_name,
    tongue_of,
    untranslated,
)
from goodbot.index.languages import STEMMERS
from goodbot.url import Url


def test_numbers_of_texts_stay_the_same() -> None:
    """They are on disk."""
    assert hash_of("") == 6510301506637419378
    assert hash_of("https://example.org/") == 6656227044410844087
    assert hash_of("\ud800") != hash_of("\ud801")


@given(st.lists(st.text(), unique=True, max_size=30))
def test_numbers_have_63_bits_and_differ(texts: list[str]) -> None:
    numbers = [hash_of(text) for text in texts]
    assert len({*numbers}) == len(texts)
    assert all(0 <= number < 1 << 63 for number in numbers)


def test_short_ids_are_their_own_keys_and_longer_ones_digests() -> None:
    longest = "x" * MAX_KEY_CHARS
    assert document_key(longest) == longest
    assert document_key("ключ") == "ключ"
    assert re.fullmatch("blake2:[0-9a-f]{64}", document_key(longest + "y"))
    assert document_key(longest + "y") != document_key(longest + "z")


@given(st.text(alphabet=st.characters(), max_size=20).map(lambda text: text * 100) | st.text(alphabet=st.characters()))
def test_keys_can_be_encoded_and_are_short(text: str) -> None:
    assert len(document_key(text).encode()) <= 4 * MAX_KEY_CHARS


def test_lone_surrogates_are_replaced_and_nothing_else() -> None:
    assert cleaned("a\ud800b\udfffc") == "a?b?c"
    assert cleaned("naïve 🙂 \0") == "naïve 🙂 \0"


PATTERNS = [
    ("example.org", "http://example.org/", True),
    ("example.org", "https://example.org:8443/x?y", True),
    ("example.org", "http://exampleXorg/", False),
    ("example.org", "http://www.example.org/", False),
    ("example.org", "http://example.org.example/", False),
    ("example.org", "http://other.example/http://example.org/", False),
    ("127.0.0.1:80", "http://127.0.0.1/", True),
    ("127.0.0.1:80", "https://127.0.0.1/", False),
    ("127.0.0.1:80", "http://127.0.0.1:8080/", False),
    ("127.0.0.1:443", "https://127.0.0.1/", True),
    ("127.0.0.1:8080", "http://127.0.0.1:8080/", True),
    ("127.0.0.1:8080", "http://127.0.0.1/", False),
    ("[::1]:80", "http://[::1]/", True),
    ("[::1]:81", "http://[::1]:81/x", True),
]


@pytest.mark.parametrize(("host", "key", "matches"), PATTERNS)
def test_the_keys_of_a_host(host: str, key: str, matches: bool) -> None:
    assert (re.fullmatch(key_pattern(host), key) is not None) is matches


@given(st.text())
def test_an_escaped_text_matches_itself(text: str) -> None:
    assert re.fullmatch(escaped(text), text)


def test_the_engine_takes_every_escaped_character() -> None:
    """It refuses escapes of characters that need none, such as `<`, a control character or an emoji."""
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("key", tokenizer_name="raw")
    schema = builder.build()
    index = tantivy.Index(schema)
    writer = index.writer(15_000_000, 1)
    characters = [chr(code) for code in (*range(0x300), 0x2028, 0x200B, 0xE000, 0xFFFD, 0x1F600, 0x3DDA6, 0x10FFFF)]
    for character in characters:
        document = tantivy.Document()
        document.add_text("key", f"a{character}b")
        writer.add_document(document)
    writer.commit()
    index.reload()
    searcher = index.searcher()
    queries = [tantivy.Query.regex_query(schema, "key", escaped(f"a{character}b")) for character in characters]
    assert [len(searcher.search(query, 5).hits) for query in queries] == [1] * len(characters)


def test_what_is_special_in_patterns_is_escaped() -> None:
    assert escaped("a.b*c_d-é") == r"a\.b\*c_d-é"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("https://www.example.org/", ["www.example.org", "example.org", "org"]),
        ("https://example.org:8443/", ["example.org", "example.org:8443", "org"]),
        ("http://localhost/", ["localhost"]),
        ("http://127.0.0.1:8020/", ["127.0.0.1", "127.0.0.1:8020"]),
        ("http://[::1]/", ["::1", "[::1]"]),
    ],
)
def test_the_sites_that_a_page_belongs_to(url: str, expected: list[str]) -> None:
    assert site_terms(Url(url)) == expected


def test_a_host_of_many_labels_has_a_bounded_number_of_sites() -> None:
    host = "a." * 100 + "example"
    assert len(site_terms(Url(f"http://{host}/"))) == 1 + MAX_SITE_TERMS


ADDRESSES = [
    ("https://www.example.org/guide/crawl-delay.html", "example.org /guide/crawl-delay", "html", 1),
    ("https://example.org/guide/start/", "example.org /guide/start/", "", 2),
    ("https://example.org/%D0%BA%D0%BE%D1%82.PDF?x=y.txt", "example.org /кот", "pdf", 0),
    ("https://example.org/v1.2/release-notes", "example.org /v1.2/release-notes", "", 1),
    ("https://example.org/README.markdown", "example.org /README.markdown", "markdown", 0),
    ("https://example.org/file.not-an-extension", "example.org /file.not-an-extension", "", 0),
    ("https://example.org/file.verylongone", "example.org /file.verylongone", "", 0),
]


@pytest.mark.parametrize(("url", "words", "extension", "depth"), ADDRESSES)
def test_what_an_address_says(url: str, words: str, extension: str, depth: int) -> None:
    assert (address_words(Url(url)), extension_of(Url(url)), depth_of(Url(url))) == (words, extension, depth)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://example.org/faq", "example.org /faq"),
        ("https://example.org/a/b/", "example.org /a/b/"),
        ("https://example.org/v1.2/api", "example.org /v1.2/api"),
    ],
)
def test_short_paths_are_words(url: str, words: str) -> None:
    assert address_words(Url(url)) == words


@pytest.mark.parametrize("code", [*STEMMERS, "uk", "bg", "ja", "zz"])
def test_a_language_is_a_number_and_back(code: str) -> None:
    assert tongue_name(tongue_of(code)) == code
    assert tongue_of(code.upper()) == tongue_of(f"{code}-XX") == tongue_of(code)
    assert 0 < tongue_of(code) < 1 << 16


@pytest.mark.parametrize("unknown", ["", "e", "é1", "東京", "İx"])
def test_an_unknown_language(unknown: str) -> None:
    assert (tongue_of(unknown), tongue_name(0)) == (0, "")


@given(st.text(alphabet=st.characters()))
def test_any_language_has_a_number(language: str) -> None:
    assert 0 <= tongue_of(language) < 1 << 16


ALIKE = [
    ("https://example.org/faq.html", ""),
    ("https://example.org/de/faq.html", "de"),
    ("https://example.org/de-AT/faq.html", "de"),
    ("https://example.org/DE_at/faq.html", "de"),
    ("https://example.org/faq.de.html", "de"),
    ("https://example.org/faq.pt-br.html", "pt"),
    ("https://example.org/faq_fr.html", "fr"),
    ("https://example.org/faq-fr.html", "fr"),
    ("https://example.org/faq.html.de", "de"),
    ("https://example.org/faq.html.pt_br", "pt"),
    ("https://de.example.org/faq.html", "de"),
    ("https://example.org/faq.html", "de"),
]


@pytest.mark.parametrize(("url", "language"), ALIKE)
def test_translations_of_a_page_are_alike(url: str, language: str) -> None:
    assert untranslated(url, language) == "https://example.org/faq.html"


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://example.org/fr/faq.html", "de"),
        ("https://example.org/faq.fr.html", "de"),
        ("https://de.example/faq.html", "de"),
        ("https://example.org/dent/faq.html", "de"),
        ("https://example.org/made.html", "de"),
        ("https://example.org/faq.html?lang=/de/x.de.html", "de"),
        ("https://example.org/de/faq.html", ""),
        ("de", "de"),
        ("", "de"),
    ],
)
def test_an_address_without_a_tag_of_the_language_stays(url: str, language: str) -> None:
    assert untranslated(url, language) == url


def test_the_query_counts() -> None:
    assert untranslated("https://example.org/de/x?y=1", "de") == "https://example.org/x?y=1"


@pytest.mark.parametrize(
    ("url", "language"),
    [
        ("https://example.org/book/tr-TR/faq.html", "tr"),
        ("https://example.org/zh_CN/", "zh"),
        ("https://example.org/zh-hant/a?x=/de-DE/", "zh"),
        ("https://example.org/de/faq.html", ""),
        ("https://example.org/ab-cd/faq.html", ""),
        ("https://example.org/de-DE", ""),
        ("https://de-de.example.org/", ""),
        ("", ""),
    ],
)
def test_the_language_in_a_url(url: str, language: str) -> None:
    assert language_in(url) == language


@pytest.mark.parametrize(("one", "other"), [("nb", "no"), ("NN-NO", "no"), ("iw", "he"), ("de", "de-AT")])
def test_codes_of_the_same_language(one: str, other: str) -> None:
    assert tongue_of(one) == tongue_of(other) != 0
