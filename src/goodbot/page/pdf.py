"""PDF → title, outline, text page by page, and the links that lead out of it.

PDFium does the reading, in a process of its own (`pdf_apart`) that a hostile document can neither hang nor grow beyond
bounds: it ends when its CPU time or its memory does, and what it had said until then is kept.
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
from goodbot.page.found import MAX_LINKS, MAX_TITLE_CHARS, Extract, Reference, folded
from goodbot.page.resolved import MAX_TEXT_CHARS
from goodbot.page.tokens import MAX_HEADING_CHARS, MAX_HEADINGS

MAX_PAGES = 2_000
"""The longest of 84 real documents has 1,158."""

CPU_S = 5
"""1,158 dense pages take 1.5 s; after this time no further page is begun, and a second later the process ends."""

LINK_CHARS = 2 * 1024 * 1024
"""Of all its URLs: as long as an HTML page may be. A document of 120 kB can name 66 MB of them."""

MEMORY_BYTES = 96 * 1024 * 1024
MEMORY_FACTOR = 4
"""Address space of the process, and how many times the size of the document more. 96 MiB in all do for the largest of
84 real documents."""

_OUTPUT_BYTES = 64 * 1024 * 1024
"""Six bytes a character that is not ASCII, and links; an honest reader says no more."""

_PROGRAM = Path(__file__).with_name("pdf_apart.py")

PROCESS_KILLED = "too slow", "damaged, or made to take more memory than a document may"
"""How `Extract.unread` ends when the process was killed for its CPU time, or crashed, perhaps for want of memory."""

_HYPHENATED = re.compile("[\x02\ufffe]\\s?")
"""How PDFium writes the hyphen at the end of a line where a word goes on."""


def read_pdf(decoded: Decoded, *, text: bool = True) -> Extract:
    """Everything it says; without `text` title, language and links only. Never raises.

    `unread` says what is missing and why: too many pages or characters, too slow, encrypted, damaged, cut. Of a damaged
    document is read what can be; of one that is cut mostly nothing, as the list of its pages stands at its end.
    """
    try:
        lines, status = _apart(decoded.body, text=text)
    except OSError as error:  # of this machine, not of the document: no process, no memory, no handle left
        return Extract(unread=f"no process could be started to read it: {error.strerror}")
    ended = bool(lines) and "end" in lines[-1]
    end = str(lines.pop()["end"]) if ended else _ending(status)
    found = _whole(lines[0]) if lines else Extract()
    found.text = "\n".join(filter(None, (_text(line) for line in lines[1:])))
    found.links = [Reference(href, "", ()) for line in lines[1:] for href in line["links"]][:MAX_LINKS]
    cut = "" if decoded.complete else f"cut at {len(decoded.body)} bytes"
    found.unread = ": ".join(filter(None, (cut, end)))
    return found


def _apart(body: bytes, *, text: bool) -> tuple[list[dict[str, Any]], int]:
    """What the other process said, read line by line, and how it ended (below 0: by which signal)."""
    memory = MEMORY_BYTES + MEMORY_FACTOR * len(body)
    bounds = (int(text), MAX_PAGES, MAX_TEXT_CHARS, MAX_LINKS, LINK_CHARS, MAX_HEADINGS, CPU_S, memory)
    command = [sys.executable, "-P", str(_PROGRAM), *map(str, bounds)]
    with kept_from_children():
        process = subprocess.Popen(  # noqa: S603  (our own program, with numbers)
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
    with process:
        if process.stdin is None or process.stdout is None:  # never so, with PIPE
            return [], 0
        try:
            process.stdin.write(body)
            process.stdin.close()
        except BrokenPipeError:
            pass  # it ended before it had read all; its status says why
        lines = list(_lines(process.stdout))
        process.kill()  # it has ended, or says more than an honest reader does
    return lines, process.returncode


def _lines(output: IO[bytes]) -> Iterator[dict[str, Any]]:
    """What was said, without the line that a crash has torn."""
    room = _OUTPUT_BYTES
    while (line := output.readline(room)).endswith(b"\n"):
        room -= len(line)
        yield json.loads(line)


def _ending(status: int) -> str:
    """Why there is no last line."""
    if -status in (signal.SIGXCPU, signal.SIGKILL):
        return PROCESS_KILLED[0]
    return PROCESS_KILLED[1]


def _whole(line: dict[str, Any]) -> Extract:
    """What is said of the whole document."""
    language = str(line["language"])
    return Extract(
        title=folded(line["title"], MAX_TITLE_CHARS),
        headings=[heading for title in line["headings"] if (heading := folded(title, MAX_HEADING_CHARS))],
        language=None if language.startswith("x-") else language,
    )


def _text(line: dict[str, Any]) -> str:
    """A page, line by line; a word that was parted is one again."""
    text = _HYPHENATED.sub("", line["text"]).replace("\0", " ")
    return "\n".join(filter(None, (" ".join(row.split()) for row in text.splitlines())))
