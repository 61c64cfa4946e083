"""Reads a PDF in a separate process: `python -P pdf_process.py`, with the document on standard input.

PDFium is written in C++ and reads untrusted input: it may crash, hang or take all memory. So it runs alone in a process
that reads one document. Before the process examines the first byte, it gives up what it does not need: it can open no
file and no socket, start no process, and has limited CPU time and memory.

It prints lines of JSON: first the properties of the whole document, then its pages, last why it ended. Lines printed
before a crash are used. It imports nothing of goodbot, so that the process starts in a third of the time.
"""

import codecs
import ctypes
import json
import re
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from html import unescape
from typing import Any, NamedTuple

import pypdfium2_raw as pdfium

_XMP_BYTES = 65536
_XMP_TITLE = re.compile(rb"<dc:title>(?>\s*)<rdf:Alt>(?>\s*)<rdf:li[^>]*>([^<]*)</rdf:li>")
_XMP_LANGUAGE = re.compile(rb"<dc:language>(?>\s*)<rdf:Bag>(?>\s*)<rdf:li>([^<]*)</rdf:li>")
_META_BYTES = 4096
_URI_BYTES = 8192


class PdfBounds(NamedTuple):
    """The limits of reading, in the order of the command line. `cpu_s` is checked between pages; one second later the
    system ends the process."""

    text: int
    pages: int
    chars: int
    links: int
    link_chars: int
    headings: int
    cpu_s: int
    memory_bytes: int


def main() -> None:
    bounds = PdfBounds(*map(int, sys.argv[1:]))
    _confine(bounds)
    body = sys.stdin.buffer.read()
    reason = _read(body, bounds)
    _print({"end": reason})


def _confine(bounds: PdfBounds) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the crawl, which lets pages in flight finish
    codecs.lookup("utf-16-le")  # loads its module, as no file can be opened from here on
    for kind, limit in (
        (resource.RLIMIT_CPU, bounds.cpu_s + 1),
        (resource.RLIMIT_AS, bounds.memory_bytes),
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NOFILE, 0),
        (resource.RLIMIT_NPROC, 0),
    ):
        _limit(kind, limit)


def _limit(kind: int, most: int) -> None:
    hard = resource.getrlimit(kind)[1]
    limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
    try:
        resource.setrlimit(kind, (limit, limit))
    except (ValueError, OSError):
        pass  # macOS cannot limit the address space; there the CPU time limits the memory too


def _print(line: dict[str, object]) -> None:
    sys.stdout.write(json.dumps(line) + "\n")
    sys.stdout.flush()


def _read(body: bytes, bounds: PdfBounds) -> str:
    """Reads and prints the document page by page. Returns why it is incomplete, or nothing if it is complete."""
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(body, len(body), None)
    if not document:
        return _ERRORS.get(pdfium.FPDF_GetLastError(), "damaged")
    pages = pdfium.FPDF_GetPageCount(document)
    _print(
        {
            "title": _meta(document) or _xmp(_XMP_TITLE, body),
            "language": _language(document) or _xmp(_XMP_LANGUAGE, body),
            "headings": list(_headings(document, bounds)) if bounds.text else [],
        }
    )
    chars = links = link_chars = unreadable = 0
    for index in range(pages):
        stop = _stop(index, chars, links, link_chars, bounds)
        if stop:
            return f"{stop}: {index} of {pages} pages read"
        page = pdfium.FPDF_LoadPage(document, index)
        if not page:
            unreadable += 1
            continue
        text = _text(page, bounds.chars) if bounds.text else ""
        found = list(_links(document, page, bounds.links, bounds.link_chars - link_chars))
        pdfium.FPDF_ClosePage(page)
        chars += len(text)
        links += len(found)
        link_chars += sum(map(len, found))
        _print({"text": text, "links": found})
    return f"damaged: {unreadable} of {pages} pages cannot be read" if unreadable or not pages else ""


def _stop(index: int, chars: int, links: int, link_chars: int, bounds: PdfBounds) -> str:
    if index >= bounds.pages or chars >= bounds.chars or links >= bounds.links or link_chars >= bounds.link_chars:
        return "too long"
    return "too slow" if time.process_time() > bounds.cpu_s else ""


# ---- the document ---------------------------------------------------------------------------------------------------

_ERRORS = {pdfium.FPDF_ERR_PASSWORD: "encrypted", pdfium.FPDF_ERR_SECURITY: "encrypted in a way not known here"}

_Fill = Callable[[Any, int], int]
"""Fills a buffer of the given size, and returns how many bytes it needs."""


def _utf16(fill: _Fill, limit: int) -> str:
    """Returns a text that PDFium writes as UTF-16 with a NUL at the end; empty if longer than `limit` bytes."""
    buffer = (ctypes.c_ushort * (limit // 2))()
    size = fill(buffer, limit)
    return bytes(buffer)[: max(size - 2, 0)].decode("utf-16-le", "replace") if size <= limit else ""


def _meta(document: Any) -> str:
    return _utf16(_filler(pdfium.FPDF_GetMetaText, document, b"Title"), _META_BYTES)


def _language(document: Any) -> str:
    return _utf16(_filler(pdfium.FPDFCatalog_GetLanguage, document), 256)


def _xmp(pattern: re.Pattern[bytes], body: bytes) -> str:
    """Searches the XML metadata of newer documents (ISO 16684-1), which can be found without reading the rest."""
    at = body.rfind(b"<x:xmpmeta")
    found = pattern.search(body, at, at + _XMP_BYTES) if at >= 0 else None
    return unescape(found[1].decode("utf-8", "replace")) if found else ""


def _headings(document: Any, bounds: PdfBounds) -> Iterator[str]:
    """Yields the titles of the outline, in order. The limit ends loops in it."""
    waiting = [pdfium.FPDFBookmark_GetFirstChild(document, None)]
    for _ in range(bounds.headings):
        while waiting and not waiting[-1]:
            waiting.pop()
        if not waiting:
            return
        bookmark = waiting.pop()
        title = _utf16(_filler(pdfium.FPDFBookmark_GetTitle, bookmark), _META_BYTES)
        if title:
            yield title
        waiting.append(pdfium.FPDFBookmark_GetNextSibling(document, bookmark))
        waiting.append(pdfium.FPDFBookmark_GetFirstChild(document, bookmark))


def _filler(function: Any, *about: Any) -> _Fill:
    return lambda buffer, size: int(function(*about, buffer, size))


# ---- a page ---------------------------------------------------------------------------------------------------------


def _text(page: Any, most: int) -> str:
    lines = pdfium.FPDFText_LoadPage(page)
    if not lines:
        return ""
    count = min(max(pdfium.FPDFText_CountChars(lines), 0), most)
    buffer = (ctypes.c_ushort * (count + 1))()
    written = pdfium.FPDFText_GetText(lines, 0, count, buffer)
    pdfium.FPDFText_ClosePage(lines)
    return bytes(buffer)[: 2 * max(written - 1, 0)].decode("utf-16-le", "replace")


def _links(document: Any, page: Any, most: int, room: int) -> Iterator[str]:
    """Yields the URLs a page links to, until `room` characters are used. It yields no link texts: the box of a link
    holds letters of the lines around it, or only half of its own."""
    position, link = ctypes.c_int(0), pdfium.FPDF_LINK()
    for _ in range(most):
        if room <= 0 or not pdfium.FPDFLink_Enumerate(page, position, link):
            return
        action = pdfium.FPDFLink_GetAction(link)
        if action and pdfium.FPDFAction_GetType(action) == pdfium.PDFACTION_URI:
            uri = _uri(document, action)
            room -= len(uri)
            yield uri


def _uri(document: Any, action: Any) -> str:
    """Returns the URL of a link: ASCII by the standard, UTF-8 in practice."""
    buffer = ctypes.create_string_buffer(_URI_BYTES)
    size = pdfium.FPDFAction_GetURIPath(document, action, buffer, _URI_BYTES)
    return buffer.raw[: max(size - 1, 0)].decode("utf-8", "replace") if size <= _URI_BYTES else ""


if __name__ == "__main__":
    main()
