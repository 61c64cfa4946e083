"""Keeps the versions of a crawl table. A version is a file that names the files of each part; the file `current.json`
names the current version, and is replaced by a conditional write. So a version that is half written is never seen, and
two drivers cannot overwrite each other's work.
"""

import secrets
import tomllib
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from goodbot.cluster.spark.part_files import PartNote
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.config import Settings
from goodbot.errors import BusyError, DamagedError, InputError, RunError, SettingError
from goodbot.settings_file import with_values
from goodbot.url import Url
from goodbot.values import STATES, State, Status

FORMAT: Final = 1
"""Raised with every change of the table or of this file."""

CURRENT: Final = "current.json"
FOLDER: Final = "versions"


class TableVersion(msgspec.Struct, frozen=True):
    """A version of a crawl table. `number` grows by 1 with each. `cycle`: the last cycle that it holds; 0: none.

    `settings`: those of the crawl, as TOML. `seed_lists`: files with the seeds of lists, one on each line. `parts`: the
    files of each part; None: it is empty. `bytes`: of all bodies received. `cycles`: those whose segments are kept.
    """

    number: int
    cycle: int
    made_at: float
    settings: str
    parts: tuple[PartNote | None, ...]
    seed_lists: tuple[str, ...] = ()
    bytes: int = 0
    cycles: tuple[int, ...] = ()
    format: int = FORMAT

    @property
    def files(self) -> list[str]:
        """The paths of the files of its parts."""
        return [path for part in self.parts if part is not None for path in (part.urls, part.hosts)]

    @property
    def ready_at(self) -> float | None:
        """The earliest time at which something may be requested for the first time; None: nothing waits."""
        times = (part.ready_at for part in self.parts if part is not None)
        return min((at for at in times if at is not None), default=None)

    @property
    def again_at(self) -> float | None:
        """When the first page is due again; None: none is."""
        times = (part.again_at for part in self.parts if part is not None)
        return min((at for at in times if at is not None), default=None)

    def count(self, state: State) -> int:
        """Returns the number of URLs in a state."""
        return sum(part.states.get(state, 0) for part in self.parts if part is not None)

    def status(self) -> Status:
        """Returns the state of the crawl in numbers."""
        states = {state: self.count(state) for state in STATES}
        hosts = sum(part.host_count for part in self.parts if part is not None)
        return Status(states, states["visited"], self.bytes, hosts, self.ready_at)


def settings_of(version: TableVersion, url: str, base: Settings | None = None) -> Settings:
    """Returns the settings of the crawl in the store at `url`; what they do not say is as in `base`. Raises
    DamagedError if they cannot be read."""
    try:
        return with_values(base or Settings(), tomllib.loads(version.settings))
    except (tomllib.TOMLDecodeError, SettingError) as error:
        raise DamagedError(f"the settings of the crawl in {url} are damaged: {error}") from error


class Current(NamedTuple):
    """The current version, its path, and the tag of the pointer to it."""

    version: TableVersion
    path: str
    tag: str


class _Pointer(msgspec.Struct, frozen=True):
    version: int
    path: str


_POINTER: Final = msgspec.json.Decoder(_Pointer)
_VERSION: Final = msgspec.json.Decoder(TableVersion)


def load_current(files: StoreFiles) -> Current | None:
    """Returns the current version; None: the store has no crawl. Raises DamagedError if it cannot be read, RunError if
    a newer goodbot has written it."""
    pointer = files.read_tagged(CURRENT)
    if pointer is None:
        return None
    try:
        path = _POINTER.decode(pointer.data).path
    except msgspec.MsgspecError as error:
        raise DamagedError(f"{files.url}/{CURRENT} is damaged: {error}") from error
    return Current(load_version(files, path), path, pointer.tag)


def load_existing(files: StoreFiles) -> Current:
    """Returns the current version. Raises InputError if the store has no crawl, else as `load_current`."""
    current = load_current(files)
    if current is None:
        check_unused(files)
        raise InputError(f"no crawl in {files.url}: start one with goodbot cluster cycle SEED --store {files.url}")
    return current


def load_version(files: StoreFiles, path: str) -> TableVersion:
    """Returns a version. Raises as `load_current`."""
    data = files.read(path)
    if data is None:
        raise DamagedError(f"{files.url}/{path} is missing")
    try:
        format_ = msgspec.json.decode(data, type=dict[str, msgspec.Raw]).get("format", msgspec.Raw(b"0"))
        if msgspec.json.decode(format_, type=int) > FORMAT:
            raise RunError(f"a newer goodbot has written {files.url}: update goodbot on this machine")
        return _VERSION.decode(data)
    except msgspec.MsgspecError as error:
        raise DamagedError(f"{files.url}/{path} is damaged: {error}") from error


def write_version(files: StoreFiles, version: TableVersion) -> str:
    """Writes a version, which nobody sees yet; returns its path."""
    path = f"{FOLDER}/{version.number:08}-{secrets.token_hex(4)}.json"
    files.write(path, msgspec.json.encode(version))
    return path


def check_unused(files: StoreFiles) -> None:
    """Raises InputError if a store without a current version has files of cycles: a crawl that began there would mix
    with them. What a run leaves that is killed before its first version does not matter."""
    numbered = ((entry.path, entry.path.removeprefix(f"{FOLDER}/").partition("-")[0]) for entry in files.list(FOLDER))
    versions = [path for path, number in numbered if number.isdecimal() and int(number) > 1]
    if versions:
        raise InputError(
            f"{files.url} has the files of a crawl, but not {CURRENT}, which names its version: restore that file (the"
            f" newest version is {versions[-1]}), or give the folder of a new store"
        )


def flip(files: StoreFiles, version: TableVersion, path: str, before: Current | None) -> Current:
    """Makes a version that was written to `path` the current one, in place of `before` (None: the store is empty).
    Raises BusyError if another driver has done so meanwhile; then nothing has changed."""
    pointer = msgspec.json.encode(_Pointer(version.number, path))
    tag = files.write_if(CURRENT, pointer, None if before is None else before.tag)
    if tag is None:
        files.remove([path])
        raise BusyError(f"another driver has written a version of the crawl in {files.url}: this one has not")
    return Current(version, path, tag)


def listed_seeds(files: StoreFiles, version: TableVersion) -> Iterator[Url]:
    """Yields the seeds of lists. Raises DamagedError if a list is missing."""
    for path in version.seed_lists:
        data = files.read(path)
        if data is None:
            raise DamagedError(f"{files.url}/{path} is missing")
        yield from map(Url, data.decode().splitlines())
