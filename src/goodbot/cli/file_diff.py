"""What would change in a file, as a unified diff that `patch -p1` and `git apply` take."""

import difflib
import re

from goodbot.cli.printing import put, say, stream_of
from goodbot.exclusion.text.shown_text import visible

_LINE = re.compile(rb"[^\n]*\n|[^\n]+")
_NO_NEWLINE = b"\n\\ No newline at end of file\n"


def unified_diff(before: bytes | None, after: bytes, name: str, label: str) -> bytes:
    """Returns the difference between two contents of the file `name`; nothing if they are equal. `before` is None if
    the file does not exist yet. `label` says what the new content is; programs that apply the difference ignore it."""
    if before == after:
        return b""
    path = visible(name.lstrip("/")).encode("utf-8", "surrogateescape")
    lines = difflib.diff_bytes(
        difflib.unified_diff,
        _LINE.findall(before or b""),
        _LINE.findall(after),
        b"/dev/null" if before is None else b"a/" + path,
        b"b/" + path,
        tofiledate=f"({label})".encode(),
    )
    return b"".join(line if line.endswith(b"\n") else line + _NO_NEWLINE for line in lines)


def print_diff(difference: bytes, *, for_people: bool = False, to_error: bool = False) -> None:
    """Prints a difference byte for byte. On a terminal, `for_people` and on standard error invisible characters are
    escapes, and a CR at the end of a line is ␍."""
    stream = stream_of(err=False)
    if not (for_people or to_error or (stream is not None and stream.isatty())):
        put(difference)
    elif difference:
        text = difference.decode("utf-8", "replace").replace("\t(", "  (", 1).replace("\r\n", "␍\n")
        for line in text.removesuffix("\n").split("\n"):
            say(line, err=to_error)
