"""Reads title, outline, text and outgoing links of a PDF.

PDFium reads it in a separate process (`pdf_process`), so that a hostile document can neither hang nor exhaust memory:
the process ends when its CPU time or memory is used up, and what it has reported until then is kept.
"""

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from html import unescape
from importlib.util import find_spec
from pathlib import Path
from typing import IO

from goodbot.interrupts import kept_from_children
from goodbot.page.coding import Decoded
from goodbot.page.extract import MAX_LINKS, MAX_TITLE_CHARS, Extract, Reference, folded
from goodbot.page.page_building import MAX_TEXT_CHARS
from goodbot.page.pdf_process import END, HEADING, LANGUAGE, LINK, PAGE, TITLE
from goodbot.page.tokens import MAX_HEADING_CHARS, MAX_HEADINGS

MAX_PAGES = 2_000
"""The longest of 84 real documents has 1,158."""

CPU_S = 5
"""After this time no further page is begun, and a second later the process ends; 1,158 dense pages take 1.5 s."""

LINK_CHARS = 2 * 1024 * 1024
"""The limit for all URLs together, as much as for an HTML page. A document of 120 kB can contain 66 MB of URLs."""

MEMORY_BYTES = 96 * 1024 * 1024
MEMORY_FACTOR = 4
"""The address space of the process is `MEMORY_BYTES`, plus `MEMORY_FACTOR` times the size of the document. 96 MiB in
all suffice for the largest of 84 real documents."""

_OUTPUT_BYTES = 64 * 1024 * 1024
"""The limit for the output of the process. A reader that the document has not corrupted writes less than half of it:
two bytes for each character of text and headings, and the links."""

_PROGRAM = "import sys; sys.path.append(sys.argv.pop(1)); import pdf_process; pdf_process.main()"
"""Runs `pdf_process` without the package around it. Importing it uses its compiled file, which saves 3 ms."""

PROCESS_KILLED = "too slow", "damaged, or needs too much memory"
"""The end of `Extract.unread` if the process was killed for its CPU time, or crashed, perhaps because memory ran
out."""

_XMP_BYTES = 65536
_XMP_TITLE = re.compile(rb"<dc:title>(?>\s*)<rdf:Alt>(?>\s*)<rdf:li[^>]*>([^<]*)</rdf:li>")
_XMP_LANGUAGE = re.compile(rb"<dc:language>(?>\s*)<rdf:Bag>(?>\s*)<rdf:li>([^<]*)</rdf:li>")

_HYPHENATED = re.compile("[\x02\ufffe]\\s?")
"""Matches PDFium's form of a hyphen at the end of a line inside a word."""


def read_pdf(decoded: Decoded, *, text: bool = True) -> Extract:
    """Reads a PDF; without `text` only title, language and links. Never raises.

    `Extract.unread` says why something is missing: too many pages or characters, too slow, encrypted, damaged, cut. A
    damaged document is read as far as possible; a cut one usually not at all, because its list of pages is at its end.
    """
    try:
        records, status = _read_in_process(decoded.body, text=text)
    except OSError as error:  # the machine's fault, not the document's: no process, memory or handle is left
        return Extract(unread=f"no process could be started to read it: {error.strerror}")
    ended = bool(records) and records[-1][0] == END
    end = records.pop()[1].decode("utf-8", "replace") if ended else _ending(status)
    found = _extract_of(records, decoded.body)
    cut = "" if decoded.complete else f"cut at {len(decoded.body)} bytes"
    found.unread = ": ".join(filter(None, (cut, end)))
    return found


_Record = tuple[bytes, bytes]
"""The kind and the content of one record that the process writes."""


def _read_in_process(body: bytes, *, text: bool) -> tuple[list[_Record], int]:
    """Returns the records that the process wrote, and its exit status (below 0: the signal that ended it)."""
    memory = MEMORY_BYTES + MEMORY_FACTOR * len(body)
    bounds = (int(text), MAX_PAGES, MAX_TEXT_CHARS, MAX_LINKS, LINK_CHARS, MAX_HEADINGS, CPU_S, memory)
    command = [sys.executable, "-I", "-S", "-c", _PROGRAM, str(Path(__file__).parent), _library(), *map(str, bounds)]
    with kept_from_children():  # Ctrl-C is for the crawl, which lets pages in flight finish
        process = subprocess.Popen(  # noqa: S603  (our own program, with numbers)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    with process:
        if process.stdin is None or process.stdout is None:  # cannot happen with PIPE
            return [], 0
        try:
            process.stdin.write(body)
            process.stdin.close()
        except BrokenPipeError:
            pass  # the process ended before it had read everything; its status says why
        records = list(_records(process.stdout))
        process.kill()  # it has ended, or wrote more than a reader that is not corrupted
    return records, process.returncode


@cache
def _library() -> str:
    """Returns the path of PDFium's library, without importing the package that contains it, which takes 20 ms."""
    package = find_spec("pypdfium2_raw")
    folders = package.submodule_search_locations if package else None
    return next((str(path) for folder in folders or () for path in Path(folder).glob("*pdfium.*")), "pdfium")


def _records(output: IO[bytes]) -> Iterator[_Record]:
    """Yields the complete records: a crash may have cut off the last one."""
    room = _OUTPUT_BYTES
    while (head := output.readline(20)).endswith(b"\n") and head[1:-1].isdigit():
        size = int(head[1:-1])
        room -= size + len(head)
        if room < 0 or len(content := output.read(size)) < size:
            return
        yield head[:1], content


def _ending(status: int) -> str:
    """Returns why there is no END record."""
    if -status in (signal.SIGXCPU, signal.SIGKILL):
        return PROCESS_KILLED[0]
    return PROCESS_KILLED[1]


def _extract_of(records: list[_Record], body: bytes) -> Extract:
    of_kind: dict[bytes, list[bytes]] = {kind: [] for kind in (TITLE, LANGUAGE, HEADING, PAGE, LINK)}
    for kind, content in records:
        of_kind.get(kind, []).append(content)
    titles, languages, headings, pages = (map(_utf16, of_kind[kind]) for kind in (TITLE, LANGUAGE, HEADING, PAGE))
    language = next(languages, "") or (_xmp(_XMP_LANGUAGE, body) if records else "")
    return Extract(
        title=folded(next(titles, "") or (_xmp(_XMP_TITLE, body) if records else ""), MAX_TITLE_CHARS),
        headings=[heading for title in headings if (heading := folded(title, MAX_HEADING_CHARS))],
        language=None if language.startswith("x-") else language,
        text="\n".join(filter(None, map(_text, pages))),
        links=[Reference(link.decode("utf-8", "replace"), "", ()) for link in of_kind[LINK][:MAX_LINKS]],
    )


def _utf16(content: bytes) -> str:
    return content.decode("utf-16-le", "replace")


def _xmp(pattern: re.Pattern[bytes], body: bytes) -> str:
    """Searches the XML metadata of newer documents (ISO 16684-1), which can be found without reading the rest."""
    at = body.rfind(b"<x:xmpmeta")
    found = pattern.search(body, at, at + _XMP_BYTES) if at >= 0 else None
    return unescape(found[1].decode("utf-8", "replace")) if found else ""


def _text(page: str) -> str:
    """Returns the text of a page, line by line, with hyphenated words joined."""
    text = _HYPHENATED.sub("", page).replace("\0", " ")
    return "\n".join(filter(None, (" ".join(row.split()) for row in text.splitlines())))
