"""Keeps copies of an index wherever fsspec can write: S3, Google Cloud Storage, Azure, SFTP and others."""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from goodbot.errors import GoodbotError, InputError, RunError


class FsspecPlace:
    """Implements `CopyTarget` at a URL of fsspec. Only paths are read, written, listed and removed. There is no lock:
    two snapshots at once are safe, but one may end with an error.

    Raises InputError if fsspec or what it needs for this URL is not installed, or if the URL cannot be used.
    """

    def __init__(self, url: str) -> None:
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  (an extra)
        except ModuleNotFoundError as error:
            raise InputError(f"{url} needs fsspec: pip install fsspec") from error
        try:
            self._files, root = url_to_fs(url)
        except (ImportError, ValueError, TypeError, OSError) as error:
            raise InputError(f"cannot use {url}: {_line(error)}") from error
        self._root = str(root).rstrip("/")
        self._url = url

    @property
    def name(self) -> str:
        """The URL."""
        return self._url

    def read(self, path: str, start: int, length: int) -> bytes | None:
        """Reads a part of a file."""
        with self._translated("read", path):
            try:
                return bytes(self._files.cat_file(self._at(path), start=start, end=start + length))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Writes a file. Object stores show it when it is whole."""
        with self._translated("write", path):
            self._files.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)
            with self._files.open(self._at(path), "wb") as out:
                for piece in pieces:
                    out.write(piece)

    def list(self, folder: str) -> dict[str, int]:
        """Lists a folder, not from a cache."""
        with self._translated("list", folder):
            self._files.invalidate_cache()
            try:
                found: list[dict[str, Any]] = self._files.ls(self._at(folder), detail=True)
            except (FileNotFoundError, NotADirectoryError):
                return {}
            return {_name(entry): int(entry["size"] or 0) if entry["type"] == "file" else 0 for entry in found}

    def remove(self, path: str) -> None:
        """Removes a file."""
        with self._translated("remove", path):
            try:
                self._files.rm_file(self._at(path))
            except FileNotFoundError:
                pass  # another snapshot has removed it

    def exclusive(self) -> AbstractContextManager[None]:
        """Does nothing: object stores have no lock."""
        return nullcontext()

    def close(self) -> None:
        """Does nothing: fsspec keeps its connections for the process."""

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root or "/"

    @contextmanager
    def _translated(self, doing: str, path: str) -> Iterator[None]:
        """Makes a RunError of whatever a backend raises: each has errors of its own."""
        try:
            yield
        except GoodbotError:
            raise
        except Exception as error:
            raise RunError(f"cannot {doing} {path or 'the folder'} at {self._url}: {_line(error)}") from error


def _name(entry: dict[str, Any]) -> str:
    return str(entry["name"]).rstrip("/").rpartition("/")[2]


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200] or type(error).__name__
