"""Identifies the folder of a crawl, which has its own archive and index, among those of all machines of the crawl."""

import re
import secrets
from pathlib import Path
from typing import Final

from goodbot.errors import DamagedError, RunError
from goodbot.files import write_whole

WRITER_FILE: Final = "writer"
_FORM: Final = re.compile(r"[0-9a-f]{8}")


def writer_id(folder: Path) -> str:
    """Returns the id of a folder, 8 hexadecimal digits; makes one if there is none. A folder that is copied to another
    machine has to lose the file `writer`. Raises DamagedError for a file that goodbot has not written, RunError if the
    folder cannot be written."""
    known = find_writer_id(folder)
    if known is None:
        known = secrets.token_hex(4)
        write_whole(folder / WRITER_FILE, f"{known}\n".encode())
    return known


def find_writer_id(folder: Path) -> str | None:
    """Returns the id of a folder; None if it has none. Raises the errors of `writer_id`."""
    file = folder / WRITER_FILE
    try:
        text = file.read_text(encoding="ascii").strip()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise RunError(f"cannot read {file}: {error.strerror}") from error
    except UnicodeDecodeError:
        text = ""
    if not _FORM.fullmatch(text):
        raise DamagedError(f"{file} is damaged: it must have 8 hexadecimal digits; remove it, and a new one is made")
    return text
