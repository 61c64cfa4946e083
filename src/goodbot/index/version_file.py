"""Reads and writes the version file, which says which schema an index has and which index it is."""

import json
from pathlib import Path
from typing import Final
from uuid import uuid4

from goodbot.errors import DamagedError, OutdatedError, RunError
from goodbot.human import in_shell
from goodbot.index.schema import SCHEMA_VERSION

VERSION_FILE: Final = "goodbot.json"
LINKS_FOLDER: Final = "links-"
CRAWL_NAMES: Final = ("frontier.sqlite", "writer", "warc")
"""What only the folder of a crawl has; without the first, its frontier is in a database."""
COPY_FILE: Final = "copy.json"
"""Is beside an index that is a copy."""
SHARD_FILE: Final = "shard.json"
"""Is beside an index that is a shard of `goodbot cluster index`."""


def remedy(folder: Path) -> str:
    """Returns how to repair a damaged index in `folder`, which is inside the folder of its crawl, of its imports or of
    a copy; or damaged link texts in `folder`, which is inside that of the index."""
    if folder.name.startswith(LINKS_FOLDER):
        return f"make them again with: goodbot index refresh --in {in_shell(folder.parent.parent)}"
    if not folder.parent.is_dir():
        return f"{folder.parent} is missing: put it back"
    if (folder.parent / COPY_FILE).is_file():
        return "goodbot serve --follow fetches it again"
    if (folder.parent / SHARD_FILE).is_file():
        return "make the shards again with: goodbot cluster index"
    if any((folder.parent / name).exists() for name in CRAWL_NAMES):
        return f"rebuild it with: goodbot index rebuild --in {in_shell(folder.parent)}"
    again = f"goodbot index import FILE.jsonl --into {in_shell(folder.parent)}"
    return f"delete {folder}, then import the documents again: {again}"


def save_version(folder: Path) -> str:
    """Writes the version file of an index that has none, atomically, and returns the identity of the index."""
    identity = uuid4().hex
    draft = folder / f"{VERSION_FILE}.new"
    draft.write_text(json.dumps({"schema": SCHEMA_VERSION, "identity": identity}) + "\n", encoding="utf-8")
    draft.replace(folder / VERSION_FILE)
    return identity


def check_version(folder: Path) -> str:
    """Returns the identity of the index in `folder`, which is empty for indexes made before identities existed.

    Raises RunError if the index has a newer schema, OutdatedError if it has an older one, DamagedError if its schema is
    unknown.
    """
    file = folder / VERSION_FILE
    try:
        content = json.loads(file.read_bytes())
        version, identity = int(content["schema"]), str(content.get("identity", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{file} cannot be read: {remedy(folder)}") from error
    if version > SCHEMA_VERSION:
        raise RunError(
            f"a newer goodbot made the index in {folder} (schema {version}, this goodbot knows {SCHEMA_VERSION}): "
            f"use a newer goodbot, or {remedy(folder)}"
        )
    if version < SCHEMA_VERSION:
        raise OutdatedError(f"an older goodbot made the index in {folder} (schema {version}): {remedy(folder)}")
    return identity
