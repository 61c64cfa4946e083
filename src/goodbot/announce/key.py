"""The key with which a site proves that an announcement is its own: a text of 8 to 128 characters, which the site
serves in a file."""

import hmac
import re
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.files import create_file
from goodbot.page import decode_content
from goodbot.page.html import looks_like_html
from goodbot.url import Url, parse_url
from goodbot.values import Capture, Failure, Response

KEY: Final = re.compile(r"[A-Za-z0-9-]{8,128}")
FILE_BYTES: Final = 1000
"""The limit for a key file; the rest is not read."""

_BOM: Final = b"\xef\xbb\xbf"
_RULE: Final = "a key has 8 to 128 characters: letters from a to z or A to Z, digits and hyphens"


# ---- files ----------------------------------------------------------------------------------------------------------


def create_key_file(folder: Path) -> tuple[str, Path]:
    """Makes a key and its file `KEY.txt` in `folder`, readable for everyone, since a Web server serves it. Raises
    InputError if the folder has a key already or does not exist, RunError if the file cannot be written."""
    for file in key_files(folder):
        raise InputError(f"there is a key already: {file}; to replace it, remove that file first")
    key = secrets.token_hex(16)
    file = folder / f"{key}.txt"
    create_file(file, key.encode("ascii"), 0o666)
    return key, file


def key_files(folder: Path) -> Iterator[Path]:
    """Yields the files of a folder that are named after the key in them, as `create_key_file` names them."""
    if not folder.is_dir():
        return
    for file in folder.glob("*.txt"):
        if KEY.fullmatch(file.stem) and _content(file) == file.stem.encode():
            yield file


def _content(file: Path) -> bytes | None:
    """Returns what a key file holds, without white space around it; None if it cannot be read or is too long."""
    try:
        with file.open("rb") as opened:
            content = opened.read(FILE_BYTES + 1) if file.is_file() else b""
    except OSError:
        return None
    return _stripped(content) if len(content) <= FILE_BYTES else None


def _stripped(content: bytes) -> bytes:
    return content.removeprefix(_BOM).strip()


def only_key(folder: Path) -> str:
    """Returns the key of the only key file in `folder`, the working folder. Raises InputError if there is none, or more
    than one."""
    files = sorted(key_files(folder))
    if len(files) == 1:
        return files[0].stem
    if not files:
        raise InputError(
            "there is no key file in the working folder; make one with goodbot key indexnow, or name yours with --key"
        )
    raise InputError(f"there are {len(files)} key files in the working folder; choose one: --key {files[0].name}")


def read_key(text: str) -> str:
    """Returns the key that the user named: the key itself, or a file that has it. Raises InputError."""
    file = Path(text)
    try:
        is_file = file.is_file()
    except (OSError, ValueError):  # no name that a file can have
        is_file = False
    if not is_file:
        if KEY.fullmatch(text):
            return text
        raise InputError(f"neither a key nor a file: {shown(text)} ({_RULE})")
    content = _content(file)
    key = (content or b"").decode("latin-1")
    if not KEY.fullmatch(key):
        raise InputError(f"there is no key in the file {text} ({_RULE})")
    return key


# ---- the file on the site -------------------------------------------------------------------------------------------


def default_location(origin: str, key: str) -> Url | None:
    """Returns where services look for the key file of a site unless they are given another URL. None if it is no URL
    that a server can have."""
    return parse_url(f"{origin}/{key}.txt")


class KeyCheck(NamedTuple):
    """What a site serves as its key file. `found` says so in a few words; `status` is None without an answer."""

    url: Url
    is_right: bool
    status: int | None
    found: str

    @property
    def problem(self) -> str:
        """What is wrong, as a sentence without a full stop."""
        if self.status is None:
            return f"cannot check {self.url}: {self.found}"
        return f"{self.url} {'has' if self.status == 200 else 'answers with'} {self.found}"


def check_key(url: Url, key: str, capture: Capture) -> KeyCheck:
    """Compares the answer for a key file with the key. Never raises, whatever the answer is."""
    answer = capture.result
    if isinstance(answer, Failure):
        return KeyCheck(url, False, None, f"no answer: {shown(answer.detail)}")
    is_right = answer.status == 200 and _has_key(answer, key)
    return KeyCheck(url, is_right, answer.status, "the key" if is_right else _found(answer))


def _has_key(answer: Response, key: str) -> bool:
    decoded = decode_content(answer, FILE_BYTES)
    return decoded.complete and hmac.compare_digest(_stripped(decoded.body), key.encode())


def _found(answer: Response) -> str:
    if 300 <= answer.status < 400:
        place = f" to {shown(answer.location)}" if answer.location else ""
        return f"a redirect{place} (status {answer.status})"
    if answer.status != 200:
        return f"status {answer.status}"
    body = _stripped(decode_content(answer, FILE_BYTES).body)
    if looks_like_html(body):
        return "an HTML page"
    if not body:
        return "an empty file"
    if KEY.fullmatch(body.decode("latin-1")):
        return f"another key: {body.decode('latin-1')}"
    return f"another text: {shown(' '.join(body.decode('utf-8', 'replace').split()), 60)}"
