"""The key with which a site proves that an announcement is its own: a text of 8 to 128 characters, which the site
serves in a file."""

import hmac
import re
import secrets
from codecs import BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.errors import InputError
from goodbot.exclusion.text.shown_text import shown
from goodbot.files import create_file
from goodbot.page import Decoded, decode_content
from goodbot.page.html import looks_like_html
from goodbot.url import Url, parse_url
from goodbot.values import REDIRECTS, Capture, Failure, Response

KEY: Final = re.compile(r"[A-Za-z0-9-]{8,128}")
FILE_BYTES: Final = 1000
"""The limit for a key file; the rest is not read."""

_ASCII_SPACES: Final = re.compile(r"\s+", re.ASCII)
_OTHER_SPACE: Final = re.compile(r"[^\S ]")
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


def _is_wide_text(content: bytes) -> bool:
    """Whether this is ASCII text in UTF-16 or UTF-32, or begins with their byte order mark."""
    is_wide = len(content) > 3 and not (any(content[::2]) and any(content[1::2]))
    return is_wide or content.startswith((BOM_UTF16_LE, BOM_UTF16_BE))


def only_key(folder: Path, choosing: str) -> str:
    """Returns the key of the only key file in `folder`, the working folder. Raises InputError if there is none, or more
    than one. `choosing` is what the user types before the name of another file, such as `--key`."""
    files = sorted(key_files(folder))
    if len(files) == 1:
        return files[0].stem
    if not files:
        raise InputError(
            "there is no key file in the working folder; make one with goodbot key indexnow, or name yours: "
            f"{choosing} FILE"
        )
    raise InputError(f"there are {len(files)} key files in the working folder; choose one: {choosing} {files[0].name}")


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
    content = _content(file) or b""
    key = content.decode("latin-1")
    if _is_wide_text(content):
        raise InputError(f"the file {text} is text in UTF-16 or UTF-32; save it as UTF-8")
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
    decoded = decode_content(answer, FILE_BYTES)
    has_key = hmac.compare_digest(_stripped(decoded.body), key.encode())
    is_right = answer.status == 200 and has_key and decoded.complete
    return KeyCheck(url, is_right, answer.status, "the key" if is_right else _found(answer, decoded, has_key=has_key))


def _found(answer: Response, decoded: Decoded, *, has_key: bool) -> str:
    if answer.status in REDIRECTS:
        place = f" to {shown(answer.location)}" if answer.location else ""
        return f"a redirect{place} (status {answer.status})"
    if answer.status != 200:
        return f"status {answer.status}"
    body = _stripped(decoded.body)
    if looks_like_html(body):
        return "an HTML page"
    if decoded.error is not None:
        return f"a body that cannot be decoded ({shown(decoded.error)})"
    if answer.truncated == "disconnect":
        return "a body that ends too early: it has fewer bytes than it states"
    if has_key:
        return f"a file that begins with the key, but is longer than {FILE_BYTES:,} bytes"
    if not body:
        return "an empty file"
    if _is_wide_text(body):
        return "text in UTF-16 or UTF-32: save the file as UTF-8"
    if KEY.fullmatch(body.decode("latin-1")):
        return f"another key: {body.decode('latin-1')}"
    return f"another text: {_on_one_line(body)}"


def _on_one_line(body: bytes) -> str:
    """Returns the beginning of a text, harmless. Spaces that are not ASCII are escaped: they are part of the text."""
    text = " ".join(_ASCII_SPACES.split(body.decode("utf-8", "replace")))
    return _OTHER_SPACE.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), shown(text, 60))
