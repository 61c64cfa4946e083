"""The note beside a WARC file that says where the file was moved.

It is written before the file is copied, and again when the copy is whole; then the local file may go. A local file is
always the newer one: what the note names is read only if there is no local file.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from goodbot.errors import DamagedError
from goodbot.files import writing_whole
from goodbot.store.warc.cdxj import index_path

SUFFIX = ".moved"

_T = TypeVar("_T", str, int, bool)


@dataclass(frozen=True, slots=True)
class MovedNote:
    """`place`: the URL of the place, without a password; it ends with `/`. `size`: the bytes of the file. `whole`: the
    copy there is complete. `index`: a digest of the CDXJ file, if this lists every URL of the WARC file."""

    place: str
    size: int
    whole: bool = False
    index: str = ""


def note_path(warc: Path) -> Path:
    """Maps `x.warc.gz` to `x.moved`."""
    return index_path(warc).with_suffix(SUFFIX)


def load_note(warc: Path) -> MovedNote | None:
    """Returns the note of a file; None if there is none. Raises DamagedError if it cannot be read, OSError."""
    path = note_path(warc)
    try:
        noted = json.loads(path.read_bytes())
    except FileNotFoundError:
        return None
    except ValueError as error:
        raise _damage(path) from error
    url = _of(noted, "url", str, path)
    if not url.endswith(f"/{warc.name}"):
        raise _damage(path)
    place = url.removesuffix(warc.name)
    return MovedNote(
        place, _of(noted, "bytes", int, path), _of(noted, "whole", bool, path), _of(noted, "index", str, path)
    )


def save_note(warc: Path, note: MovedNote) -> None:
    """Writes the note of a file, which is on disk when this returns. Raises OSError."""
    noted = {"url": note.place + warc.name, "bytes": note.size, "whole": note.whole, "index": note.index}
    with writing_whole(note_path(warc)) as file:
        file.write(json.dumps(noted).encode())


def drop_note(warc: Path) -> None:
    """Removes the note of a file, if there is one. Raises OSError."""
    note_path(warc).unlink(missing_ok=True)


def _of(noted: Mapping[str, Any], name: str, kind: type[_T], path: Path) -> _T:
    value = noted.get(name) if isinstance(noted, dict) else None
    if type(value) is not kind:
        raise _damage(path)
    return value


def _damage(path: Path) -> DamagedError:
    return DamagedError(f"{path} is damaged: it does not say where the WARC file was moved")
