"""Manifests and pointers: what is written is read again, and bytes from strangers are refused without an exception."""

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.copies.copy_manifest import (
    MAX_FILES,
    MAX_SIZE_BYTES,
    CopiedFile,
    Manifest,
    Origin,
    Pointer,
    Unusable,
    digest_of,
    format_hidden,
    format_manifest,
    format_pointer,
    parse_hidden,
    parse_manifest,
    parse_pointer,
)
from goodbot.search_values import Hidden

PATHS = ("index/meta.json", "index/goodbot.json", "index/links-0123456789ab/ranks", "hidden.json", "synonyms.txt")
MANIFEST = Manifest(
    version="20261127T105051-efcd374e",
    taken_at=1_795_776_651.27,
    goodbot="0.1.0",
    schema=6,
    identity="e8427533a86c4fd482aff7a123932b8a",
    byte_order="little",
    committed_ns=1_795_776_651_190_245_268,
    documents=500,
    files=tuple(CopiedFile(path, len(path), digest_of(path.encode())) for path in PATHS),
    origin=Origin("MyBot", "MyBot/1.0 (+https://example.org/)", "me@example.org", "https://search.example/"),
)
POINTER = parse_pointer(format_pointer(MANIFEST))


def test_what_is_written_is_read_again() -> None:
    content = format_manifest(MANIFEST)
    assert parse_manifest(content) == MANIFEST
    assert Pointer(MANIFEST.version, len(content), digest_of(content)) == POINTER
    hidden = Hidden(frozenset({"https://a.example/1", "https://a.example/ü"}), frozenset({"b.example"}))
    assert parse_hidden(format_hidden(hidden)) == hidden


def test_unknown_keys_are_for_later_versions() -> None:
    value = json.loads(format_manifest(MANIFEST)) | {"more": [1, 2]}
    assert parse_manifest(json.dumps(value).encode()) == MANIFEST


def first(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda value: value["files"][0].update(changes)


def top(**changes: object) -> Callable[[dict[str, Any]], object]:
    return lambda value: value.update(changes)


REFUSED: dict[str, tuple[Callable[[dict[str, Any]], object], str]] = {
    "a path that climbs": (first(path="index/../../etc/passwd"), "a path is invalid"),
    "a path that climbs at once": (first(path="../meta.json"), "path"),
    "an absolute path": (first(path="/etc/passwd"), "path"),
    "a hidden file": (first(path="index/.tantivy-meta.lock"), "path"),
    "a backslash": (first(path="index\\meta.json"), "path"),
    "a zero byte": (first(path="index/meta\0.json"), "path"),
    "a line end": (first(path="index/meta.json\n"), "path"),
    "another folder": (first(path="index/other/meta.json"), "path"),
    "the marker of a copy": (first(path="copy.json"), "path"),
    "a digest that is a path": (first(digest="../" + "0" * 61), "digest"),
    "a digest in capitals": (first(digest="A" * 64), "digest"),
    "a short digest": (first(digest="a" * 63), "a digest is invalid"),
    "a negative size": (first(size=-1), "size"),
    "a huge size": (first(size=MAX_SIZE_BYTES + 1), "size"),
    "sizes that are huge together": (
        lambda value: [each.update(size=MAX_SIZE_BYTES) for each in value["files"]],
        "too large",
    ),
    "a size with a fraction": (first(size=1.5), "size"),
    "one content with two sizes": (
        lambda value: value["files"][1].update(digest=value["files"][0]["digest"], size=1),
        "two sizes",
    ),
    "a path twice": (lambda value: value["files"].append(value["files"][0]), "twice"),
    "too many files": (lambda value: value.update(files=value["files"] * (MAX_FILES // 5 + 1)), "files"),
    "no index": (lambda value: value.update(files=value["files"][2:]), "missing"),
    "no list of hidden pages": (
        lambda value: value.update(files=[each for each in value["files"] if each["path"] != "hidden.json"]),
        "hidden.json is missing",
    ),
    "a version that is a path": (top(version="../../20261127T105051-efcd374e"), "a version is invalid"),
    "a time that no calendar has": (top(taken_at=1e300), "taken_at"),
    "documents below zero": (top(documents=-1), "documents"),
    "a long name": (top(goodbot="x" * 10_000), "goodbot"),
    "files that are no list": (top(files={"a": 1}), "files"),
    "a newer format": (top(format=2, files=None), "newer goodbot"),
    "no format that exists": (top(format=0), "format"),
}


@pytest.mark.parametrize(("change", "reason"), REFUSED.values(), ids=REFUSED)
def test_a_manifest_that_cannot_be_used(change: Callable[[dict[str, Any]], object], reason: str) -> None:
    value = json.loads(format_manifest(MANIFEST))
    change(value)
    found = parse_manifest(json.dumps(value).encode())
    assert isinstance(found, Unusable)
    assert reason in found.reason
    assert "regex" not in found.reason
    assert found.is_newer == ("newer" in reason)


BROKEN = [b"", b"{", b"null", b"[]", b"\xff", b'{"version": "x"', b'"' + b"\\" * 9, b"[" * 100_000, b"1" * 9_000_000]


@pytest.mark.parametrize("content", BROKEN, ids=range(len(BROKEN)))
def test_bytes_that_are_nothing(content: bytes) -> None:
    for parse in (parse_manifest, parse_pointer, parse_hidden):
        assert isinstance(parse(content), Unusable)


@given(
    content=st.binary(max_size=300)
    | st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["version", "files", "path", "size", "digest", "format", "urls", "sites", "taken_at"]),
                inner,
                max_size=6,
            )
        ),
        max_leaves=20,
    ).map(lambda value: json.dumps(value).encode())
)
def test_parsing_never_raises(content: bytes) -> None:
    for parse, kind in ((parse_manifest, Manifest), (parse_pointer, Pointer), (parse_hidden, Hidden)):
        assert isinstance(parse(content), kind | Unusable)


@given(at=st.integers(0, 5_000), put=st.binary(max_size=4))
def test_a_changed_manifest_never_raises_and_never_climbs(at: int, put: bytes) -> None:
    content = format_manifest(MANIFEST)
    found = parse_manifest(content[:at] + put + content[at + len(put) :])
    if isinstance(found, Manifest):
        assert not [file.path for file in found.files if ".." in file.path.split("/") or file.path.startswith("/")]
