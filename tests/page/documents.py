"""PDFs for tests, made byte by byte: honest ones, and ones that lie."""

from collections.abc import Mapping, Sequence
from hashlib import md5

_FONT = b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>"


def pdf_of(objects: Mapping[int, bytes], trailer: bytes = b"/Root 1 0 R") -> bytes:
    """A file of these objects by number, its table of them in order."""
    out = bytearray(b"%PDF-1.7\n")
    offsets = {}
    for number, content in objects.items():
        offsets[number] = len(out)
        out += b"%d 0 obj\n%b\nendobj\n" % (number, content)
    start, size = len(out), max(objects) + 1
    rows = (b"%010d 00000 n \n" % offsets[n] if n in offsets else b"0000000000 65535 f \n" for n in range(size))
    out += b"xref\n0 %d\n%btrailer\n<</Size %d%b>>\nstartxref\n%d\n%%%%EOF\n" % (
        size,
        b"".join(rows),
        size,
        trailer,
        start,
    )
    return bytes(out)


def stream(data: bytes, more: bytes = b"", length: int | None = None) -> bytes:
    return b"<</Length %d%b>>stream\n%b\nendstream" % (len(data) if length is None else length, more, data)


def shown(text: str) -> bytes:
    """The operators that show `text` (Latin-1, a line for each of its lines)."""
    lines = text.encode("latin-1").replace(b"(", b"\\(").replace(b")", b"\\)").split(b"\n")
    return b"BT /F1 12 Tf 14 TL 72 700 Td " + b" T* ".join(b"(%b) Tj" % line for line in lines) + b" ET"


def string(text: str) -> bytes:
    """A text string: UTF-16 with its mark, as bytes in hexadecimal."""
    return b"<FEFF" + text.encode("utf-16-be").hex().encode() + b">"


def page_objects(pages: Sequence[str], links: Sequence[str] = (), more: bytes = b"") -> dict[int, bytes]:
    """A catalog (1) with `more` in it, its pages (2), a font (3), then page and content by turns. The links are on the
    first page."""
    numbers = range(4, 4 + 2 * len(pages), 2)
    kids = b" ".join(b"%d 0 R" % number for number in numbers)
    objects = {
        1: b"<</Type/Catalog/Pages 2 0 R%b>>" % more,
        2: b"<</Type/Pages/Kids[%b]/Count %d>>" % (kids, len(pages)),
        3: _FONT,
    }
    for number, text in zip(numbers, pages, strict=True):
        annotations = b"".join(
            b"<</Type/Annot/Subtype/Link/Rect[72 690 200 720]/A<</S/URI/URI(%b)>>>>" % link.encode() for link in links
        )
        objects[number] = (
            b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 612 792]/Resources<</Font<</F1 3 0 R>>>>"
            b"/Contents %d 0 R/Annots[%b]>>" % (number + 1, annotations if number == 4 else b"")
        )
        objects[number + 1] = stream(shown(text))
    return objects


def made_pdf(
    pages: Sequence[str], title: str = "", links: Sequence[str] = (), language: str = "", outline: Sequence[str] = ()
) -> bytes:
    """An honest document."""
    more = b"/Lang(%b)" % language.encode() if language else b""
    objects = page_objects(pages, links, more + (b"/Outlines 900 0 R" if outline else b""))
    objects[1000] = b"<</Title%b>>" % string(title)
    if outline:
        last = 900 + len(outline)
        objects[900] = b"<</First 901 0 R/Last %d 0 R/Count %d>>" % (last, len(outline))
        for number, heading in enumerate(outline, 901):
            following = b"/Next %d 0 R" % (number + 1) if number < last else b""
            objects[number] = b"<</Title%b/Parent 900 0 R%b>>" % (string(heading), following)
    return pdf_of(objects, b"/Root 1 0 R/Info 1000 0 R")


def encrypted_pdf() -> bytes:
    """A document with a password nobody gives: its check does not hold for the empty one."""
    key = md5(b"owner", usedforsecurity=False).hexdigest().encode() * 2
    encrypt = b"/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<%b>/U<%b>>>/ID[<00><00>]" % (key, key)
    return pdf_of(page_objects(["secret"]), b"/Root 1 0 R" + encrypt)
