"""Says where the shards of an index are kept, and puts a new version of one in place."""

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from goodbot.errors import RunError
from goodbot.files import make_folder, sync_folder, write_whole
from goodbot.index.copies.copy_cache import lay_out
from goodbot.index.copies.copy_manifest import FILES, INDEX, Manifest, is_version_name
from goodbot.index.version_file import SHARD_FILE
from goodbot.places.folder_place import FolderPlace
from goodbot.places.opening import open_place
from goodbot.places.place import Place

COPIES: Final = "copies"
VERSIONS: Final = "versions"
KEPT: Final = 2
"""Versions of a shard that are kept: whoever reads or copies the one before goes on."""

_NAME: Final = re.compile(r"shard-\d+-of-(\d+)")
_PART: Final = ".part"


class ShardPlaces(NamedTuple):
    """The places of so many `shards`, numbered from 0, in a folder or at a URL of fsspec (`root`). A folder is an
    absolute path. The object can be pickled.

    `ROOT/shard-2-of-4/copies` has the versions of shard 1 as snapshots, for `goodbot serve --follow`. In a folder,
    `ROOT/shard-2-of-4/index` is a link to the latest version, for `goodbot search --in` and all other commands that
    take a folder of documents. Both have the same files.
    """

    root: str
    shards: int

    def name(self, shard: int) -> str:
        """Returns the name of a shard. It has the number of shards, so that others can take their place one day without
        a moment in which some pages are in two shards, or in none."""
        return f"shard-{shard + 1:0{len(str(self.shards))}}-of-{self.shards}"

    def address(self, shard: int) -> str:
        """Returns the folder or URL of a shard."""
        return f"{self.root.rstrip('/')}/{self.name(shard)}"

    def copies_address(self, shard: int) -> str:
        """Returns the folder or URL of the snapshots of a shard."""
        return f"{self.address(shard)}/{COPIES}"

    def copies(self, shard: int) -> Place:
        """Opens the place of the snapshots of a shard. Raises InputError if it cannot be used."""
        return _opened(self.copies_address(shard))

    def whole(self) -> Place:
        """Opens the place of all shards. Raises InputError if it cannot be used."""
        return _opened(self.root)

    def folder(self, shard: int) -> Path | None:
        """Returns the folder of a shard; None: it is at a URL."""
        place = _opened(self.address(shard))
        return place.folder if isinstance(place, FolderPlace) else None

    def other_counts(self) -> list[int]:
        """Returns the shard counts of other indexes in this place: [4, 8] if there is one in 4 and one in 8 shards.
        Raises RunError if the place cannot be read."""
        found = (_NAME.fullmatch(name) for name in self.whole().list(""))
        return sorted({int(match[1]) for match in found if match} - {self.shards})

    def put_in_place(self, shard: int, manifest: Manifest) -> None:
        """Makes a version the latest one that `--in` finds, by one rename. Does nothing at a URL. Raises RunError if
        the folder cannot be written."""
        folder = self.folder(shard)
        if folder is None:
            return
        try:
            write_whole(folder / SHARD_FILE, f'{{"shard": {shard + 1}, "shards": {self.shards}}}\n'.encode())
            _put_in_place(folder, manifest)
        except OSError as error:
            raise RunError(f"cannot put the new index into {folder}: {error.strerror or error}") from error


def _opened(address: str) -> Place:
    return open_place(address) if "://" in address else FolderPlace(Path(address))


def _put_in_place(folder: Path, manifest: Manifest) -> None:
    versions = folder / VERSIONS
    make_folder(versions)
    place = versions / manifest.version
    draft = place.with_name(f"{manifest.version}{_PART}")
    lay_out(manifest, folder / COPIES / FILES, draft)
    draft.rename(place)
    link = folder / f".{INDEX}{_PART}"
    link.unlink(missing_ok=True)
    link.symlink_to(Path(VERSIONS, manifest.version, INDEX))
    link.replace(folder / INDEX)
    sync_folder(folder)
    for old in _old_versions(folder, manifest.version):
        shutil.rmtree(old, ignore_errors=True)


def _old_versions(folder: Path, latest: str) -> Iterator[Path]:
    """Yields the versions that are kept no longer, and what killed runs have left."""
    found = sorted(os.listdir(folder / VERSIONS), reverse=True)
    kept = [latest, *(name for name in found if is_version_name(name) and name != latest)][:KEPT]
    yield from (folder / VERSIONS / name for name in found if name not in kept)
