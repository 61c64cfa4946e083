"""PDF: what honest ones say, and that those which lie cost no more than their bounds."""

import ctypes
import io
import subprocess
import sys
import zlib
from collections.abc import Callable
from typing import Any

import pypdfium2_raw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from goodbot.page import pdf
from goodbot.page.coding import Decoded
from goodbot.page.extract import Extract
from goodbot.page.pdf import MAX_PAGES, read_pdf
from goodbot.page.pdf_process import ACTION_URI, ERR_PASSWORD, ERR_SECURITY, FUNCTIONS
from page.documents import encrypted_pdf, made_pdf, page_objects, pdf_of, shown, stream

HONEST = made_pdf(
    ["The heron stands.\nIt waits.", "", "Then it flies."],
    title="Herons (заметки)",
    links=["http://a.example/heron", "/reeds#deep", "mailto:heron@example.org"],
    language="en-GB",
    outline=["Standing", "Flying"],
)


def read(body: bytes, *, complete: bool = True, text: bool = True) -> Extract:
    return read_pdf(Decoded(body, complete, None), text=text)


def test_an_honest_document() -> None:
    found = read(HONEST)
    assert (found.title, found.language, found.unread) == ("Herons (заметки)", "en-GB", "")
    assert found.text == "The heron stands.\nIt waits.\nThen it flies."
    assert found.headings == ["Standing", "Flying"]
    assert [link.href for link in found.links] == [
        "http://a.example/heron",
        "/reeds#deep",
        "mailto:heron@example.org",
    ]


def test_without_text_title_and_links_remain() -> None:
    found, bare = read(HONEST), read(HONEST, text=False)
    assert (bare.text, bare.headings) == ("", [])
    assert (bare.title, bare.language, bare.links) == (found.title, found.language, found.links)


def test_title_and_language_may_stand_in_xml() -> None:
    xmp = (
        b"<x:xmpmeta><rdf:RDF><rdf:Description><dc:title><rdf:Alt>"
        b'<rdf:li xml:lang="x-default">Reeds &amp; rushes</rdf:li></rdf:Alt></dc:title>'
        b"<dc:language><rdf:Bag><rdf:li>en</rdf:li></rdf:Bag></dc:language>"
    )
    objects = page_objects(["text"], more=b"/Metadata 99 0 R") | {99: stream(xmp, b"/Type/Metadata/Subtype/XML")}
    found = read(pdf_of(objects))
    assert (found.title, found.language) == ("Reeds & rushes", "en")


def test_a_language_of_nobody_is_none() -> None:
    assert read(made_pdf(["text"], language="x-unknown")).language is None


def test_an_encrypted_document_says_so() -> None:
    found = read(encrypted_pdf())
    assert (found.text, found.title, found.unread) == ("", "", "encrypted")


def test_a_document_without_its_end_has_no_pages() -> None:
    found = read(HONEST[: len(HONEST) // 2], complete=False)
    assert (found.text, found.unread) == ("", f"cut at {len(HONEST) // 2} bytes: damaged")


def test_pages_are_bounded() -> None:
    objects = page_objects(["again"])
    objects[2] = b"<</Type/Pages/Kids[%b]/Count 100000>>" % (b"4 0 R " * 100_000)
    found = read(pdf_of(objects))
    assert found.text == "\n".join(["again"] * MAX_PAGES)
    assert found.unread == f"too long: {MAX_PAGES} of 100000 pages read"


# ---- PDFs that lie --------------------------------------------------------------------------------------------------


def many_long_links() -> bytes:
    """120 kB that name 94 MB of URLs: one link, 480 times on each of 24 pages."""
    objects = page_objects(["x"] * 24)
    annotations = b"/Annots[" + b"910 0 R " * 480 + b"]"
    objects = {number: body.replace(b"/Annots[]", annotations) for number, body in objects.items()}
    objects[910] = b"<</Type/Annot/Subtype/Link/Rect[0 0 9 9]/A 911 0 R>>"
    objects[911] = b"<</S/URI/URI(http://example.com/" + b"a" * 8100 + b")>>"
    return pdf_of(objects)


def test_links_are_bounded_by_their_length_too() -> None:
    extract = read(many_long_links())
    assert pdf.LINK_CHARS <= sum(len(link.href) for link in extract.links) < pdf.LINK_CHARS + 10_000
    assert extract.unread == "too long: 1 of 24 pages read"


def one_page(content: bytes, **changes: bytes) -> bytes:
    """One page of this content stream, and objects changed by number (`o4=…`)."""
    objects = page_objects(["honest"]) | {5: content}
    return pdf_of(objects | {int(name[1:]): change for name, change in changes.items()})


TEXT = shown("honest")
TREE_LOOP = b"<</Type/Pages/Kids[2 0 R 4 0 R]/Count 2>>"
COUNT_LIES = b"<</Type/Pages/Kids[4 0 R]/Count 2000000000>>"
OUTLINE_LOOP = {
    1: b"<</Type/Catalog/Pages 2 0 R/Outlines 900 0 R>>",
    900: b"<</First 901 0 R/Last 902 0 R/Count 2>>",
    901: b"<</Title(a)/First 901 0 R/Next 902 0 R>>",
    902: b"<</Title(b)/First 901 0 R/Next 901 0 R>>",
}
PLAIN = one_page(stream(TEXT))


@pytest.mark.parametrize(
    ("body", "text"),
    [
        (PLAIN.replace(b"startxref\n", b"startxref\n9"), "honest"),
        (PLAIN[: PLAIN.index(b"xref")], ""),
        (PLAIN[: PLAIN.index(b"startxref")], "honest"),
        (PLAIN.replace(b"/Root", b"/Prev %d/Root" % PLAIN.index(b"xref")), "honest"),
        (PLAIN.replace(b"<</Size 6", b"<</Size 2147483647"), "honest"),
        (one_page(stream(TEXT, length=10**9)), "honest"),
        (one_page(stream(TEXT, length=3)), "honest"),
        (one_page(b"<</Length 5 0 R>>stream\n" + TEXT + b"\nendstream"), "honest"),
        (one_page(stream(TEXT), o2=TREE_LOOP), "honest"),
        (one_page(stream(TEXT), o2=COUNT_LIES), "honest"),
        (pdf_of(page_objects(["honest"]) | OUTLINE_LOOP), "honest"),
        (PLAIN.replace(b"[0 0 612 792]", b"[0 0 1e30 1e30]"), "honest"),
        (PLAIN.replace(b"/Type/Catalog", b"/OpenAction<</S/JavaScript/JS(while(1){})>>/Type/Catalog"), "honest"),
        (one_page(stream(b"[" * 1_000_000 + TEXT)), ""),
        (one_page(stream(TEXT, b"/Filter[" + b"/ASCIIHexDecode " * 100_000 + b"]")), "honest"),
        (one_page(stream(TEXT, b"/Type/ObjStm/N 2/First 5/Extends 5 0 R")), "honest"),
        (b"%PDF-1.7\n" + b"trailer<</Root 1 0 R>>\n" * 100_000, ""),
        (b"%PDF-1.7\n1 0 obj\n<</Type/XRef/Size 2000000000/W[1 8 8]/Root 1 0 R/Length 1>>stream\n0\nendstream", ""),
        (b"%PDF-1.7\n" + bytes(range(256)) * 1_000, ""),
        (b"%PDF-", ""),
        (b"", ""),
    ],
)
def test_lies_about_structure(body: bytes, text: str) -> None:
    assert read(body).text == text


def doubling_forms() -> bytes:
    """A page of one form, which shows another twice, and so on fifty times."""
    form = stream(b"/X Do /X Do", b"/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X %d 0 R>>>>")
    objects = page_objects(["before", "doubled", "never reached"])
    objects[6] = objects[6].replace(b"/Font", b"/XObject<</X 100 0 R>>/Font")
    objects[7] = stream(b"/X Do")
    return pdf_of(objects | {number: form % (number + 1) for number in range(100, 150)} | {150: form % 3})


def packed_blanks() -> bytes:
    """A page of 300 MB of blanks, packed twice."""
    packer = zlib.compressobj(1)
    once = b"".join(packer.compress(b" " * 1_000_000) for _ in range(300)) + packer.flush()
    return one_page(stream(zlib.compress(once), b"/Filter[/FlateDecode/FlateDecode]"))


def packed_text() -> bytes:
    """A page that shows a word a million times."""
    return one_page(stream(zlib.compress(TEXT * 1_000_000), b"/Filter/FlateDecode"))


@pytest.mark.parametrize("made", [packed_blanks, packed_text, doubling_forms])
def test_bombs_end_the_process_that_reads_them_and_no_other(
    made: Callable[[], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pdf, "CPU_S", 2)
    assert read(made()).unread in ("damaged, or needs too much memory", "too slow")


def test_what_was_read_before_a_bomb_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "CPU_S", 2)
    assert read(doubling_forms()).text == "before"


def test_a_slow_document_ends_with_what_was_read(monkeypatch: pytest.MonkeyPatch) -> None:
    """One page takes a hundredth of the time it has, all of them forty times as much."""
    monkeypatch.setattr(pdf, "CPU_S", 1)
    objects = page_objects(["honest"])
    objects[2] = b"<</Type/Pages/Kids[%b]/Count %d>>" % (b"4 0 R " * MAX_PAGES, MAX_PAGES)
    objects[5] = stream(shown("honest") + b" 0 0 m 9 9 l S" * 50_000)
    found = read(pdf_of(objects))
    assert found.unread.startswith("too slow")
    assert found.unread.endswith(f"of {MAX_PAGES} pages read")
    assert found.text.startswith("honest")


def test_the_process_can_open_and_start_nothing() -> None:
    program = """
import os
from goodbot.page import pdf_process
pdf_process._confine(pdf_process.PdfBounds(1, 1, 1, 1, 1, 1, 5, 256 << 20))
for name, action in (("open", lambda: open("/")), ("pipe", os.pipe), ("memory", lambda: bytearray(1 << 30))):
    try:
        action()
    except (OSError, MemoryError):
        print(name)
"""
    done = subprocess.run([sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["open", "pipe", "memory"]


def test_the_declared_functions_are_those_of_pdfium() -> None:
    """The Python package of PDFium declares all functions, from its headers. It is too slow for the reading process."""
    for name, result, parameters in FUNCTIONS:
        theirs = getattr(pypdfium2_raw, name)
        assert [_kind(one) for one in theirs.argtypes] == [_kind(one) for one in parameters], name
        assert theirs.restype is result or _kind(theirs.restype) == _kind(result), name
    assert (ERR_PASSWORD, ERR_SECURITY) == (pypdfium2_raw.FPDF_ERR_PASSWORD, pypdfium2_raw.FPDF_ERR_SECURITY)
    assert pypdfium2_raw.PDFACTION_URI == ACTION_URI


def _kind(one: Any) -> str:
    """Returns how a value is passed to C: all pointers alike."""
    whole = {ctypes.c_int, ctypes.c_ulong, ctypes.c_size_t}
    return f"{one._type_} of {ctypes.sizeof(one)} bytes" if one in whole else "pointer"


@given(st.lists(st.tuples(st.sampled_from([*b"tghple\x00"]), st.binary(max_size=9))), st.binary(max_size=40))
def test_a_process_that_was_taken_over_may_write_anything(records: list[tuple[int, bytes]], end: bytes) -> None:
    written = b"".join(b"%c%d\n%b" % (kind, len(content), content) for kind, content in records)
    read_back = list(pdf._records(io.BytesIO(written + end)))
    assert read_back[: len(records)] == [(bytes([kind]), content) for kind, content in records]
    pdf._extract_of(read_back, b"").text.encode()


def test_a_process_that_writes_without_end_is_not_read_to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pdf, "_OUTPUT_BYTES", 20)
    assert len(list(pdf._records(io.BytesIO(b"p6\nheron!" * 3)))) == 2


@pytest.mark.long
@settings(max_examples=40, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(HONEST)), st.integers(0, 60), st.binary(max_size=12)), max_size=6),
    st.integers(0, len(HONEST)),
)
def test_never_raises_on_a_real_document_gone_wrong(changes: list[tuple[int, int, bytes]], end: int) -> None:
    body = HONEST
    for at, length, instead in changes:
        body = body[:at] + instead + body[at + length :]
    found = read(body[:end] if end % 3 == 0 else body, complete=bool(end % 3))
    found.text.encode()
    assert len(found.text) <= 10 * len(HONEST)
