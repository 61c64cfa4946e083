"""Keeps files wherever fsspec can write: S3, Google Cloud Storage, Azure, SFTP and others."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.places.place_address import passwords_of, shown_address

if TYPE_CHECKING:
    from fsspec import AbstractFileSystem

_T = TypeVar("_T")


class FsspecPlace:
    """Implements `Place` at a URL of fsspec. There is no lock: two snapshots at once are safe, but one
    may end with an error.

    Some protocols connect at once. If the place cannot be reached then, each use tries again; a connection that fails
    is opened anew. Raises InputError if fsspec or what it needs for this URL is not installed, or if the URL cannot be
    used.
    """

    def __init__(self, url: str) -> None:
        self._url = url
        self._shown = shown_address(url)
        self._root = ""
        self._opened: AbstractFileSystem | None = None
        self._is_used = False
        with suppress(RunError):  # away: whoever uses the place gets this error again
            self._opened = self._open()

    @property
    def name(self) -> str:
        """The URL without its password."""
        return self._shown

    @property
    def folder(self) -> Path | None:
        """The folder on this computer, also behind a chained URL such as `simplecache::file:///FOLDER`."""
        from fsspec.implementations.local import LocalFileSystem  # noqa: PLC0415  (an extra)

        files: object = self._opened
        while files is not None and not isinstance(files, LocalFileSystem):
            files = getattr(files, "fs", None)
        return Path(self._root or "/") if files is not None else None

    def read(self, path: str, start: int, length: int) -> bytes | None:
        """Reads a part of a file."""
        return self._call("read", path, lambda files: self._read(files, path, start, length))

    def write(self, path: str, pieces: Iterable[bytes]) -> None:
        """Writes a file. Object stores show it when it is whole."""
        with self._translated("write", path) as files:
            files.makedirs(self._at(path).rpartition("/")[0], exist_ok=True)
            with files.open(self._at(path), "wb") as out:
                for piece in pieces:
                    out.write(piece)

    def list(self, folder: str) -> dict[str, int]:
        """Lists a folder, not from a cache."""
        return self._call("list", folder, lambda files: self._list(files, folder))

    def remove(self, path: str) -> None:
        """Removes a file."""
        self._call("remove", path, lambda files: self._remove(files, path))

    def exclusive(self) -> AbstractContextManager[None]:
        """Does nothing: object stores have no lock."""
        return nullcontext()

    def close(self) -> None:
        """Does nothing: fsspec keeps its connections for the process."""

    def _read(self, files: "AbstractFileSystem", path: str, start: int, length: int) -> bytes | None:
        try:
            return bytes(files.cat_file(self._at(path), start=start, end=start + length))
        except (FileNotFoundError, NotADirectoryError):
            return None

    def _list(self, files: "AbstractFileSystem", folder: str) -> dict[str, int]:
        files.invalidate_cache()
        try:
            found: list[dict[str, Any]] = files.ls(self._at(folder), detail=True)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        sizes = {_name(entry): int(entry["size"] or 0) for entry in found if entry["type"] == "file"}
        itself = self._at(folder).strip("/")  # object stores may list a folder as a part of itself
        folders = (entry for entry in found if entry["type"] != "file" and str(entry["name"]).strip("/") != itself)
        return sizes | {_name(entry): 0 for entry in folders}

    def _remove(self, files: "AbstractFileSystem", path: str) -> None:
        with suppress(FileNotFoundError):  # another snapshot has removed it
            files.rm_file(self._at(path))

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root or "/"

    def _open(self) -> "AbstractFileSystem":
        """Opens the file system of the URL. Raises RunError if it is away."""
        try:
            from fsspec.core import url_to_fs  # noqa: PLC0415  (an extra)
        except ModuleNotFoundError as error:
            raise InputError(f"{self._shown} needs fsspec: pip install fsspec") from error
        try:
            files, root = url_to_fs(self._url)
        except Exception as error:
            if _is_lasting(error):
                raise InputError(f"cannot use {self._shown}: {self._line(error)}") from error
            raise RunError(f"cannot reach {self._shown}: {self._line(error)}") from error
        self._root = str(root).rstrip("/")
        return files

    def _call(self, doing: str, path: str, action: "Callable[[AbstractFileSystem], _T]") -> _T:
        """Does what can be done twice: once more if it fails on a connection that was used before, since servers close
        those that nobody uses."""
        if self._is_used:
            with suppress(RunError), self._translated(doing, path) as files:
                return action(files)
        with self._translated(doing, path) as files:
            return action(files)

    @contextmanager
    def _translated(self, doing: str, path: str) -> "Iterator[AbstractFileSystem]":
        """Makes a RunError of whatever a backend raises: each has errors of its own. The next use opens a new
        connection then."""
        if self._opened is None:
            self._opened = self._open()
        files = self._opened
        try:
            yield files
            self._is_used = True
        except GoodbotError:
            raise
        except Exception as error:
            self._opened, self._is_used = None, False
            files.clear_instance_cache()  # fsspec would give the same connection again
            raise RunError(f"cannot {doing} {path or 'the folder'} at {self._shown}: {self._line(error)}") from error

    def _line(self, error: BaseException) -> str:
        """Returns what an error says, in one line and without passwords."""
        text = " ".join(str(error).split()) or type(error).__name__
        for password in passwords_of(self._url):
            text = text.replace(password, "…")
        return text[:200]


def _is_lasting(error: Exception) -> bool:
    """Whether a URL cannot be used, or something is not installed here. An OSError with a number is of the network."""
    is_local = isinstance(error, OSError) and error.errno is None and not isinstance(error, TimeoutError)
    return is_local or isinstance(error, ImportError | ValueError | TypeError)


def _name(entry: dict[str, Any]) -> str:
    return str(entry["name"]).rstrip("/").rpartition("/")[2]
