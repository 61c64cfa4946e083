"""Reads which versions of a copy a place has."""

from goodbot.errors import DamagedError, RunError
from goodbot.index.copies.copy_manifest import (
    LATEST,
    MAX_MANIFEST_BYTES,
    MAX_POINTER_BYTES,
    Manifest,
    Pointer,
    Unusable,
    digest_of,
    manifest_place,
    parse_manifest,
    parse_pointer,
)
from goodbot.places.place import ReadablePlace


def load_pointer(source: ReadablePlace) -> Pointer | None:
    """Returns the pointer to the latest version; None: there is none. Raises DamagedError if it cannot be used,
    RunError if a newer goodbot wrote it."""
    content = source.read(LATEST, 0, MAX_POINTER_BYTES + 1)
    if content is None:
        return None
    found = parse_pointer(content)
    if isinstance(found, Unusable):
        raise unusable(source, LATEST, found)
    return found


def load_manifest(source: ReadablePlace, pointer: Pointer) -> Manifest:
    """Returns the manifest to which a pointer leads. Raises DamagedError if it is missing or cannot be used, RunError
    if a newer goodbot wrote it."""
    place = manifest_place(pointer.version)
    content = source.read(place, 0, pointer.size + 1)
    if content is None:
        raise DamagedError(f"{place} at {source.name} is missing")
    if fault := _fault(content, pointer):
        raise DamagedError(f"{place} at {source.name} is damaged: {fault}")
    found = parse_manifest(content)
    if isinstance(found, Unusable):
        raise unusable(source, place, found)
    if found.version != pointer.version:
        raise DamagedError(f"{place} at {source.name} is about another version")
    return found


def _fault(content: bytes, pointer: Pointer) -> str:
    """Returns what is wrong with the bytes of a manifest, of which one more was read than it should have."""
    if len(content) != pointer.size:
        found = f"{len(content):,} bytes" if len(content) < pointer.size else "more bytes"
        return f"it has {found}, and {LATEST} says {pointer.size:,}"
    return "" if digest_of(content) == pointer.digest else f"its SHA-256 is another one than {LATEST} says"


def load_versions(source: ReadablePlace, versions: list[str]) -> dict[str, Manifest]:
    """Returns the manifests of these versions that can be used. Raises RunError if a newer goodbot wrote one."""
    found: dict[str, Manifest] = {}
    for version in versions:
        content = source.read(manifest_place(version), 0, MAX_MANIFEST_BYTES + 1)
        manifest = parse_manifest(content or b"")
        if isinstance(manifest, Manifest):
            found[version] = manifest
        elif manifest.is_newer:
            raise unusable(source, manifest_place(version), manifest)
    return found


def unusable(source: ReadablePlace, place: str, found: Unusable) -> RunError:
    """Returns the error for content that cannot be used."""
    if found.is_newer:
        return RunError(f"a newer goodbot wrote {place} at {source.name}: use that version")
    return DamagedError(f"{place} at {source.name} is damaged ({found.reason})")
