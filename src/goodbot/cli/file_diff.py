"""What would change in a file, as a unified diff that `patch -p1` and `git apply` take."""

import difflib
import re

from goodbot.cli.printing import put, say
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


def print_diff(difference: bytes, *, to_error: bool = False) -> None:
    """Prints a difference byte for byte; on a terminal and on standard error, with invisible characters as escapes."""
    if not to_error:
        put(difference)
    elif difference:
        for line in difference.decode("utf-8", "replace").removesuffix("\n").split("\n"):
            say(line, err=True)
