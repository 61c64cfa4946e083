"""Makes and loads the secret that lets its holder control a crawl over HTTP, one per folder, readable by its owner."""

import os
import secrets
from pathlib import Path
from typing import Final

from goodbot.errors import RunError

FILE: Final = "token"
_MOST_BYTES: Final = 200
_LEAST_CHARS: Final = 20


def make_token(folder: Path) -> None:
    """Makes the token of a crawl, unless it has one. Call it only in the process that has locked the folder.

    Raises RunError if it cannot be written.
    """
    file = folder / FILE
    part = folder / f"{FILE}.part"
    if file.exists():
        return
    try:
        part.unlink(missing_ok=True)
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w") as opened:
            opened.write(secrets.token_urlsafe(24) + "\n")
        part.replace(file)
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}") from error


def load_token(folder: Path) -> str | None:
    """Returns the token; None if there is none that this user can read, or if it would be easy to guess."""
    try:
        with (folder / FILE).open("rb") as opened:
            text = opened.read(_MOST_BYTES).decode("ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    return text if len(text) >= _LEAST_CHARS and text.isprintable() else None
