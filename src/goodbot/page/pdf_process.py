"""The program of the process that reads a PDF. It gets the document on standard input.

PDFium is written in C++ and reads untrusted input: it may crash, hang or take all memory. So it runs alone in a process
that reads one document. Before the process examines the first byte, it gives up what it does not need: it can open no
file or socket and start no process, and its CPU time and memory are limited.

The process writes records: first the properties of the whole document, then its pages, last why it ended. A record is
a letter (see the constants below), the length of its content, a line break, and the content as PDFium returned it. If
the process crashes, the robot uses the records written before.

The process takes 16 ms of CPU time to start, of which the interpreter alone takes 9. With imports of `json`, `typing`
and the Python package of PDFium it took 60. So this module imports little, and declares the functions of PDFium that it
calls itself.
"""

import ctypes
import resource
import sys
import time

TITLE, LANGUAGE, HEADING, PAGE, LINK, END = b"t", b"g", b"h", b"p", b"l", b"e"
"""The kinds of records. LINK and END hold UTF-8, the others UTF-16-LE. Each PAGE is followed by its LINKs."""

_META_BYTES = 4096
_URI_BYTES = 8192


class PdfBounds:
    """What to read, and the limits, in the order of the command line. `text`: whether to read text and headings, 1 or
    0. `cpu_s` is checked between pages; one second later the system ends the process."""

    def __init__(
        self,
        text: int,
        pages: int,
        chars: int,
        links: int,
        link_chars: int,
        headings: int,
        cpu_s: int,
        memory_bytes: int,
    ) -> None:
        self.text = text
        self.pages = pages
        self.chars = chars
        self.links = links
        self.link_chars = link_chars
        self.headings = headings
        self.cpu_s = cpu_s
        self.memory_bytes = memory_bytes


def main() -> None:
    bounds = PdfBounds(*map(int, sys.argv[2:]))
    pdfium = _load(sys.argv[1])
    _confine(bounds)
    _write(END, _read(pdfium, sys.stdin.buffer.read(), bounds).encode())


def _confine(bounds: PdfBounds) -> None:
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


def _write(kind: bytes, content: bytes) -> None:
    sys.stdout.buffer.write(b"%b%d\n%b" % (kind, len(content), content))
    sys.stdout.buffer.flush()


def _read(pdfium: ctypes.CDLL, body: bytes, bounds: PdfBounds) -> str:
    """Reads the document and writes records page by page. Returns why they are incomplete, or "" if complete."""
    pdfium.FPDF_InitLibrary()
    document = pdfium.FPDF_LoadMemDocument64(body, len(body), None)
    if not document:
        return _ERRORS.get(pdfium.FPDF_GetLastError(), "damaged")
    pages = pdfium.FPDF_GetPageCount(document)
    _write(TITLE, _utf16(pdfium.FPDF_GetMetaText, _META_BYTES, document, b"Title"))
    _write(LANGUAGE, _utf16(pdfium.FPDFCatalog_GetLanguage, 256, document))
    for heading in _headings(pdfium, document, bounds) if bounds.text else ():
        _write(HEADING, heading)
    chars = links = link_chars = unreadable = 0
    for index in range(pages):
        stop = _stop(index, chars, links, link_chars, bounds)
        if stop:
            return f"{stop}: {index} of {pages} pages read"
        page = pdfium.FPDF_LoadPage(document, index)
        if not page:
            unreadable += 1
            continue
        text = _text(pdfium, page, bounds.chars) if bounds.text else b""
        found = _links(pdfium, document, page, bounds.links, bounds.link_chars - link_chars)
        pdfium.FPDF_ClosePage(page)
        chars += len(text) // 2
        links += len(found)
        link_chars += sum(map(len, found))
        _write(PAGE, text)
        for link in found:
            _write(LINK, link)
    return f"damaged: {unreadable} of {pages} pages cannot be read" if unreadable or not pages else ""


def _stop(index: int, chars: int, links: int, link_chars: int, bounds: PdfBounds) -> str:
    if index >= bounds.pages or chars >= bounds.chars or links >= bounds.links or link_chars >= bounds.link_chars:
        return "too long"
    return "too slow" if time.process_time() > bounds.cpu_s else ""


# ---- PDFium ---------------------------------------------------------------------------------------------------------

_HANDLE, _BUFFER, _INT, _SIZE = ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int, ctypes.c_ulong

FUNCTIONS = (
    ("FPDF_InitLibrary", None, ()),
    ("FPDF_LoadMemDocument64", _HANDLE, (_BUFFER, ctypes.c_size_t, ctypes.c_char_p)),
    ("FPDF_GetLastError", _SIZE, ()),
    ("FPDF_GetPageCount", _INT, (_HANDLE,)),
    ("FPDF_LoadPage", _HANDLE, (_HANDLE, _INT)),
    ("FPDF_ClosePage", None, (_HANDLE,)),
    ("FPDF_GetMetaText", _SIZE, (_HANDLE, ctypes.c_char_p, _BUFFER, _SIZE)),
    ("FPDFCatalog_GetLanguage", _SIZE, (_HANDLE, _BUFFER, _SIZE)),
    ("FPDFBookmark_GetFirstChild", _HANDLE, (_HANDLE, _HANDLE)),
    ("FPDFBookmark_GetNextSibling", _HANDLE, (_HANDLE, _HANDLE)),
    ("FPDFBookmark_GetTitle", _SIZE, (_HANDLE, _BUFFER, _SIZE)),
    ("FPDFText_LoadPage", _HANDLE, (_HANDLE,)),
    ("FPDFText_CountChars", _INT, (_HANDLE,)),
    ("FPDFText_GetText", _INT, (_HANDLE, _INT, _INT, _BUFFER)),
    ("FPDFText_ClosePage", None, (_HANDLE,)),
    ("FPDFLink_Enumerate", _INT, (_HANDLE, ctypes.POINTER(_INT), ctypes.POINTER(_HANDLE))),
    ("FPDFLink_GetAction", _HANDLE, (_HANDLE,)),
    ("FPDFAction_GetType", _SIZE, (_HANDLE,)),
    ("FPDFAction_GetURIPath", _SIZE, (_HANDLE, _HANDLE, _BUFFER, _SIZE)),
)
"""The names, result types and parameter types of the functions called here, as the headers of PDFium declare them."""

ERR_PASSWORD, ERR_SECURITY, ACTION_URI = 4, 5, 3

_ERRORS = {ERR_PASSWORD: "encrypted", ERR_SECURITY: "encrypted in a way not known here"}


def _load(path: str) -> ctypes.CDLL:
    pdfium = ctypes.CDLL(path)
    for name, result, parameters in FUNCTIONS:
        function = getattr(pdfium, name)
        function.restype, function.argtypes = result, parameters
    return pdfium


# ---- the document ---------------------------------------------------------------------------------------------------


def _utf16(function: "ctypes._NamedFuncPointer", limit: int, *about: object) -> bytes:
    """Returns the text that a function of PDFium writes into a buffer, without the NUL at its end. The function returns
    how many bytes it needs; if that is more than `limit`, the text is empty."""
    buffer = ctypes.create_string_buffer(limit)
    size = function(*about, buffer, limit)
    return buffer.raw[: max(size - 2, 0)] if size <= limit else b""


def _headings(pdfium: ctypes.CDLL, document: int, bounds: PdfBounds) -> list[bytes]:
    """Returns the titles of the outline, in order. An outline may contain loops; the limit of headings ends them."""
    titles = []
    waiting = [pdfium.FPDFBookmark_GetFirstChild(document, None)]
    for _ in range(bounds.headings):
        while waiting and not waiting[-1]:
            waiting.pop()
        if not waiting:
            break
        bookmark = waiting.pop()
        titles.append(_utf16(pdfium.FPDFBookmark_GetTitle, _META_BYTES, bookmark))
        waiting.append(pdfium.FPDFBookmark_GetNextSibling(document, bookmark))
        waiting.append(pdfium.FPDFBookmark_GetFirstChild(document, bookmark))
    return [title for title in titles if title]


# ---- a page ---------------------------------------------------------------------------------------------------------


def _text(pdfium: ctypes.CDLL, page: int, most: int) -> bytes:
    lines = pdfium.FPDFText_LoadPage(page)
    if not lines:
        return b""
    count = min(max(pdfium.FPDFText_CountChars(lines), 0), most)
    buffer = ctypes.create_string_buffer(2 * count + 2)
    written = pdfium.FPDFText_GetText(lines, 0, count, buffer)
    pdfium.FPDFText_ClosePage(lines)
    return buffer.raw[: 2 * max(written - 1, 0)]


def _links(pdfium: ctypes.CDLL, document: int, page: int, most: int, room: int) -> list[bytes]:
    """Returns the URLs that a page links to, until `room` bytes are used. It returns no link texts, because the box of
    a link contains letters of the lines around it, or only half of its own."""
    found = []
    position, link = ctypes.c_int(0), ctypes.c_void_p()
    for _ in range(most):
        if room <= 0 or not pdfium.FPDFLink_Enumerate(page, ctypes.byref(position), ctypes.byref(link)):
            break
        action = pdfium.FPDFLink_GetAction(link)
        if action and pdfium.FPDFAction_GetType(action) == ACTION_URI:
            uri = _uri(pdfium, document, action)
            room -= len(uri)
            found.append(uri)
    return found


def _uri(pdfium: ctypes.CDLL, document: int, action: int) -> bytes:
    """Returns the URL of a link: ASCII by the standard, UTF-8 in practice."""
    buffer = ctypes.create_string_buffer(_URI_BYTES)
    size = pdfium.FPDFAction_GetURIPath(document, action, buffer, _URI_BYTES)
    return buffer.raw[: max(size - 1, 0)] if size <= _URI_BYTES else b""


if __name__ == "__main__":
    main()
