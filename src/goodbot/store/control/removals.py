"""Keeps the pages and sites that their owners had removed from the search, in the folder of a crawl.

`removals.jsonl` has one removal in each line; it is replaced as a whole. `removal-secret` proves which token files this
crawl has asked for. Any program may use both beside a running crawl.
"""

import fcntl
import hmac
import json
import os
import secrets
import threading
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, get_args

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.files import write_whole
from goodbot.search_values import Hidden
from goodbot.url import Url, parse_url
from goodbot.visitor_values import Proof, Removal

MAX_REMOVALS: Final = 10_000
MAX_OF_HOST: Final = 200
"""Removals of single pages of one host; the owner of more pages can have the whole site removed."""
_SECRET_BYTES: Final = 32
_TOKEN_CHARS: Final = 32
_PURPOSE: Final = b"goodbot removal\0"

_Stamp = tuple[int, int, int]


class RemovalFile:
    """The removals of the crawl in a folder. Several threads and processes may use it.

    Raises DamagedError if the file cannot be read, so that nothing removed is shown; RunError if the file system fails.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / "removals.jsonl"
        self._secret = folder / "removal-secret"
        self._cache = threading.Lock()
        self._stamp: _Stamp | None = None
        self._removals: tuple[Removal, ...] = ()
        self._hidden = Hidden()

    def removals(self) -> tuple[Removal, ...]:
        """Returns all removals, the oldest first."""
        return self._load()[0]

    def hidden(self) -> Hidden:
        """Returns what no search shows. Reads the file only if it has changed."""
        return self._load()[1]

    def add(self, removal: Removal) -> None:
        """Adds a removal, in place of an earlier one of the same page or site. Raises InputError if there are too
        many."""
        with self._locked():
            others = [each for each in self._load()[0] if each.subject != removal.subject]
            _check_room(others, removal)
            self._save([*others, removal])

    def drop(self, ids: Collection[str]) -> list[Removal]:
        """Removes the removals with these ids, and returns them."""
        with self._locked():
            known = self._load()[0]
            dropped = [each for each in known if each.id in ids]
            if dropped:
                self._save([each for each in known if each.id not in ids])
            return dropped

    def forget(self, host: str) -> list[Removal]:
        """Removes the removals about a host (`Url.host_key`) alone, and returns them: those of its pages, and of a site
        that is no other host. A site with subdomains stays, since they are other hosts."""
        ids = {each.id for each in self.removals() if _is_about(each, host)}
        return self.drop(ids) if ids else []

    def token_for(self, subject: str) -> str:
        """Returns the token that proves the wish to remove `subject`: 32 hexadecimal digits, always the same."""
        return hmac.digest(self._load_secret(), _PURPOSE + subject.encode(), "sha256").hex()[:_TOKEN_CHARS]

    def _load(self) -> tuple[tuple[Removal, ...], Hidden]:
        with self._cache:
            try:
                stamp = _stamp_of(self._file)
                if stamp != self._stamp:
                    self._removals = tuple(self._read())
                    self._hidden = _hidden_by(self._removals)
                    self._stamp = stamp
            except OSError as error:
                raise RunError(f"cannot read {self._file}: {error.strerror}") from error
            return self._removals, self._hidden

    def _read(self) -> Iterator[Removal]:
        if not self._file.exists():
            return
        for number, line in enumerate(self._file.read_bytes().splitlines(), 1):
            try:
                if line.strip():
                    yield _removal_of(json.loads(line))
            except (ValueError, TypeError, KeyError, RecursionError) as error:
                raise DamagedError(
                    f"{self._file} is damaged in line {number}: repair or remove that line; until then, nothing can be "
                    "searched, because it may be about a page that is not to be shown"
                ) from error

    def _save(self, removals: Collection[Removal]) -> None:
        write_whole(self._file, b"".join(_line_of(each) for each in removals))

    def _load_secret(self) -> bytes:
        """Returns the secret; makes it when it is first needed."""
        with self._locked():
            try:
                if not self._secret.exists():
                    part = self._secret.with_suffix(".part")
                    part.unlink(missing_ok=True)
                    descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                    with os.fdopen(descriptor, "wb") as file:
                        file.write(secrets.token_bytes(_SECRET_BYTES).hex().encode())
                    part.replace(self._secret)
                text = self._secret.read_text("ascii").strip()
                secret = bytes.fromhex(text)
            except OSError as error:
                raise RunError(f"cannot use {self._secret}: {error.strerror}") from error
            except ValueError as error:
                raise DamagedError(f"{self._secret} is damaged: remove it; it is made anew then") from error
        if len(secret) < _SECRET_BYTES:
            raise DamagedError(f"{self._secret} is too short: remove it; it is made anew then")
        return secret

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """Keeps other writers away, in this process and in others; each waits only for a moment."""
        place = self._folder / "removals.lock"
        try:
            descriptor = os.open(place, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        except OSError as error:
            raise RunError(f"cannot write {place}: {error.strerror}") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            yield
        finally:
            os.close(descriptor)


def _check_room(others: Collection[Removal], removal: Removal) -> None:
    if len(others) >= MAX_REMOVALS:
        raise InputError("there are too many removals: the operator of this search has to look at them first")
    host = removal.url.host_key if removal.url is not None else ""
    if sum(each.url is not None and each.url.host_key == host for each in others) >= MAX_OF_HOST:
        raise InputError(f"more than {MAX_OF_HOST} pages of {host} cannot be removed one by one: remove the site")


def _is_about(removal: Removal, host: str) -> bool:
    if removal.url is not None:
        return removal.url.host_key == host
    site = removal.site or ""
    has_subdomains = ":" not in site and not site[-1:].isdigit()
    return not has_subdomains and Url(f"http://{site}/").host_key == host


def _stamp_of(file: Path) -> _Stamp:
    """Returns what differs when the file was replaced; zeros if there is none."""
    try:
        status = file.stat()
    except FileNotFoundError:
        return 0, 0, 0
    return status.st_mtime_ns, status.st_size, status.st_ino


def _hidden_by(removals: Collection[Removal]) -> Hidden:
    return Hidden(
        frozenset(each.url.text for each in removals if each.url is not None),
        frozenset(each.site for each in removals if each.site is not None),
    )


def _line_of(removal: Removal) -> bytes:
    value = {
        "id": removal.id,
        "at": removal.at,
        "proof": removal.proof,
        "reason": removal.reason,
        **({"url": removal.url.text} if removal.url is not None else {"site": removal.site}),
    }
    return json.dumps(value).encode() + b"\n"


def _removal_of(value: Any) -> Removal:
    """Raises ValueError, TypeError or KeyError for anything that `_line_of` has not made."""
    url = parse_url(value["url"]) if "url" in value else None
    site = value["site"] if url is None else None
    texts = (value["id"], value["reason"], site if url is None else "")
    if value["proof"] not in get_args(Proof) or not all(isinstance(text, str) for text in texts):
        raise ValueError(value["proof"])
    return Removal(value["id"], float(value["at"]), value["proof"], value["reason"], url, site)
