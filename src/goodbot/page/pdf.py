"""Reads title, outline, text and outgoing links of a PDF.

PDFium reads it in a separate process (`pdf_process`), so that a hostile document can neither hang nor exhaust memory:
the process ends when its CPU time or memory is used up, and what it has reported until then is kept.
"""

import json
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from goodbot.interrupts import kept_from_children
from goodbot.page.coding import Decoded
from goodbot.page.extract import MAX_LINKS, MAX_TITLE_CHARS, Extract, Reference, folded
from goodbot.page.page_building import MAX_TEXT_CHARS
from goodbot.page.tokens import MAX_HEADING_CHARS, MAX_HEADINGS

MAX_PAGES = 2_000
"""The longest of 84 real documents has 1,158."""

CPU_S = 5
"""After this time no further page is begun, and a second later the process ends; 1,158 dense pages take 1.5 s."""

LINK_CHARS = 2 * 1024 * 1024
"""The limit for all URLs together, as much as for an HTML page. A document of 120 kB can contain 66 MB of URLs."""

MEMORY_BYTES = 96 * 1024 * 1024
MEMORY_FACTOR = 4
"""The address space of the process is this much, plus this many times the size of the document. 96 MiB in all suffice
for the largest of 84 real documents."""

_OUTPUT_BYTES = 64 * 1024 * 1024
"""The limit for the output: six bytes for each non-ASCII character, and links. An uncorrupted reader prints no more."""

_READER_PROGRAM = Path(__file__).with_name("pdf_process.py")

PROCESS_KILLED = "too slow", "damaged, or needs too much memory"
"""The end of `Extract.unread` if the process was killed for its CPU time, or crashed, perhaps because memory ran
out."""

_HYPHENATED = re.compile("[\x02\ufffe]\\s?")
"""Matches PDFium's form of a hyphen at the end of a line inside a word."""


def read_pdf(decoded: Decoded, *, text: bool = True) -> Extract:
    """Reads a PDF; without `text` only title, language and links. Never raises.

    `unread` says what is missing and why: too many pages or characters, too slow, encrypted, damaged, cut. A damaged
    document is read as far as possible; a cut one mostly not at all, because its list of pages is at its end.
    """
    try:
        lines, status = _read_in_process(decoded.body, text=text)
    except OSError as error:  # the machine's fault, not the document's: no process, memory or handle is left
        return Extract(unread=f"no process could be started to read it: {error.strerror}")
    ended = bool(lines) and "end" in lines[-1]
    end = str(lines.pop()["end"]) if ended else _ending(status)
    found = _document_of(lines[0]) if lines else Extract()
    found.text = "\n".join(filter(None, (_text(line) for line in lines[1:])))
    found.links = [Reference(href, "", ()) for line in lines[1:] for href in line["links"]][:MAX_LINKS]
    cut = "" if decoded.complete else f"cut at {len(decoded.body)} bytes"
    found.unread = ": ".join(filter(None, (cut, end)))
    return found


def _read_in_process(body: bytes, *, text: bool) -> tuple[list[dict[str, Any]], int]:
    """Returns the lines that the process printed, and its exit status (below 0: the signal that ended it)."""
    memory = MEMORY_BYTES + MEMORY_FACTOR * len(body)
    bounds = (int(text), MAX_PAGES, MAX_TEXT_CHARS, MAX_LINKS, LINK_CHARS, MAX_HEADINGS, CPU_S, memory)
    command = [sys.executable, "-P", str(_READER_PROGRAM), *map(str, bounds)]
    with kept_from_children():
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
        lines = list(_lines(process.stdout))
        process.kill()  # it has ended, or prints more than an uncorrupted reader does
    return lines, process.returncode


def _lines(output: IO[bytes]) -> Iterator[dict[str, Any]]:
    """Yields the printed lines, without one that a crash cut off."""
    room = _OUTPUT_BYTES
    while (line := output.readline(room)).endswith(b"\n"):
        room -= len(line)
        yield json.loads(line)


def _ending(status: int) -> str:
    """Returns why there is no last line."""
    if -status in (signal.SIGXCPU, signal.SIGKILL):
        return PROCESS_KILLED[0]
    return PROCESS_KILLED[1]


def _document_of(line: dict[str, Any]) -> Extract:
    """Returns what the first line says about the whole document."""
    language = str(line["language"])
    return Extract(
        title=folded(line["title"], MAX_TITLE_CHARS),
        headings=[heading for title in line["headings"] if (heading := folded(title, MAX_HEADING_CHARS))],
        language=None if language.startswith("x-") else language,
    )


def _text(line: dict[str, Any]) -> str:
    """Returns the text of a page, line by line, with hyphenated words joined."""
    text = _HYPHENATED.sub("", line["text"]).replace("\0", " ")
    return "\n".join(filter(None, (" ".join(row.split()) for row in text.splitlines())))
