"""Describes one version of a copy of an index: the manifest, which lists its files, and the pointer to the latest one.
Says which names of files are ours. Pure. Both may come from strangers: parsing never raises, whatever the bytes."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Annotated, Final, NamedTuple, TypeVar

import msgspec
from msgspec import Meta

from goodbot.search_values import Hidden

FORMAT: Final = 1
LATEST: Final = "latest.json"
MANIFESTS: Final = "manifests"
FILES: Final = "files"
HIDDEN: Final = "hidden.json"
SYNONYMS: Final = "synonyms.txt"
INDEX: Final = "index"

MAX_POINTER_BYTES: Final = 64 * 1024
MAX_MANIFEST_BYTES: Final = 8 * 1024 * 1024
MAX_HIDDEN_BYTES: Final = 64 * 1024 * 1024
"""Ten thousand removals of long URLs take 20 MB."""
MAX_FILES: Final = 20_000
MAX_SIZE_BYTES: Final = 1 << 46
"""The limit for a file and for a copy: 64 TiB."""

_REQUIRED: Final = frozenset({f"{INDEX}/meta.json", f"{INDEX}/goodbot.json", HIDDEN, SYNONYMS})
_END_OF_TIME: Final = 253_402_300_800
"""The year 10000, in Unix seconds."""

_DIGEST: Final = r"[0-9a-f]{64}"
_VERSION: Final = r"[0-9]{8}T[0-9]{6}-[0-9a-f]{8}"
_CONTENT_NAME: Final = re.compile(_DIGEST)
_VERSION_NAME: Final = re.compile(_VERSION)
_MANIFEST_NAME: Final = re.compile(rf"{_VERSION}\.json")
_LEFTOVER_NAME: Final = re.compile(r"\.goodbot-[0-9a-f]{1,32}\.part")
_WRONG_FORM: Final = re.compile(r"matching regex .* at `\$[^`]*?(\w+)`")

_Text = Annotated[str, Meta(max_length=2_000)]
_Digest = Annotated[str, Meta(pattern=rf"^{_DIGEST}\Z")]
_Version = Annotated[str, Meta(pattern=rf"^{_VERSION}\Z")]
_Time = Annotated[float, Meta(ge=0, le=_END_OF_TIME)]
_Count = Annotated[int, Meta(ge=0, le=MAX_SIZE_BYTES)]
_Path = Annotated[
    str,
    Meta(pattern=r"^(?:index/(?:links-[0-9a-f]{12}/)?[A-Za-z0-9][A-Za-z0-9_.-]{0,99}|hidden\.json|synonyms\.txt)\Z"),
]
"""No path leads out of the folder of the copy: none begins with a slash, and no part begins with a dot."""


@dataclass(frozen=True, slots=True)
class CopiedFile:
    """A file of a copy. `digest` is its SHA-256 in hexadecimal digits; the content is kept under that name."""

    path: _Path
    size: _Count
    digest: _Digest

    @property
    def place(self) -> str:
        """The path of the content in the folder of the copies."""
        return f"{FILES}/{self.digest}"


@dataclass(frozen=True, slots=True)
class Origin:
    """Where an index comes from: its robot, and the URL of its search service. Empty: unknown."""

    token: _Text = ""
    user_agent: _Text = ""
    contact: _Text = ""
    home: _Text = ""


@dataclass(frozen=True, slots=True)
class Manifest:
    """One version of a copy. `taken_at` is when it was made, in Unix seconds, `committed_ns` when its index was
    written, in nanoseconds. `identity` and `schema` are those of the index. `byte_order` is that of the machine that
    wrote the ranks of the pages."""

    version: _Version
    taken_at: _Time
    goodbot: _Text
    schema: _Count
    identity: _Text
    byte_order: _Text
    committed_ns: Annotated[int, Meta(ge=0, le=1 << 62)]
    documents: _Count
    files: Annotated[tuple[CopiedFile, ...], Meta(max_length=MAX_FILES)]
    origin: Origin = Origin()
    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)] = FORMAT

    @property
    def size(self) -> int:
        """The bytes of all files."""
        return sum(file.size for file in self.files)

    @property
    def place(self) -> str:
        """The path of this manifest in the folder of the copies."""
        return manifest_place(self.version)


@dataclass(frozen=True, slots=True)
class Pointer:
    """Names the latest version, and the size and digest of its manifest."""

    version: _Version
    size: Annotated[int, Meta(ge=0, le=MAX_MANIFEST_BYTES)]
    digest: _Digest
    format: Annotated[int, Meta(ge=FORMAT, le=FORMAT)] = FORMAT


class Unusable(NamedTuple):
    """Why bytes are no manifest, pointer or list of hidden pages that can be used. `is_newer`: a newer goodbot wrote
    them."""

    reason: str
    is_newer: bool = False


class _Hidden(msgspec.Struct):
    urls: list[str]
    sites: list[str]


class _Formatted(msgspec.Struct):
    format: int


_Wire = TypeVar("_Wire")


def manifest_place(version: str) -> str:
    """Returns the path of the manifest of a version in the folder of the copies."""
    return f"{MANIFESTS}/{version}.json"


def is_content_name(name: str) -> bool:
    """Whether a file in `files/` is a content."""
    return _CONTENT_NAME.fullmatch(name) is not None


def is_manifest_name(name: str) -> bool:
    """Whether a file in `manifests/` is a manifest."""
    return _MANIFEST_NAME.fullmatch(name) is not None


def is_version_name(name: str) -> bool:
    """Whether a folder in `versions/` is a version."""
    return _VERSION_NAME.fullmatch(name) is not None


def is_leftover(name: str) -> bool:
    """Whether a file is the draft of one that was being written when goodbot was killed."""
    return _LEFTOVER_NAME.fullmatch(name) is not None


def digest_of(content: bytes) -> str:
    """Returns the SHA-256 in hexadecimal digits."""
    return sha256(content).hexdigest()


def format_manifest(manifest: Manifest) -> bytes:
    """Writes a manifest as JSON."""
    return msgspec.json.format(msgspec.json.encode(manifest), indent=1) + b"\n"


def parse_manifest(content: bytes) -> Manifest | Unusable:
    """Reads a manifest."""
    found = _parsed(content, Manifest, MAX_MANIFEST_BYTES)
    if isinstance(found, Unusable):
        return found
    paths = {file.path for file in found.files}
    if len(paths) != len(found.files):
        return Unusable("a path occurs twice")
    if missing := sorted(_REQUIRED - paths):
        return Unusable(f"{missing[0]} is missing")
    sizes: dict[str, int] = {}
    if any(sizes.setdefault(file.digest, file.size) != file.size for file in found.files):
        return Unusable("one content has two sizes")
    return Unusable("the sizes are too large") if found.size > MAX_SIZE_BYTES else found


def format_pointer(manifest: Manifest) -> bytes:
    """Writes the pointer to a manifest as JSON."""
    content = format_manifest(manifest)
    pointer = Pointer(manifest.version, len(content), digest_of(content))
    return msgspec.json.format(msgspec.json.encode(pointer), indent=1) + b"\n"


def parse_pointer(content: bytes) -> Pointer | Unusable:
    """Reads a pointer."""
    return _parsed(content, Pointer, MAX_POINTER_BYTES)


def format_hidden(hidden: Hidden) -> bytes:
    """Writes the pages that no search shows as JSON, always in the same order."""
    return msgspec.json.encode(_Hidden(sorted(hidden.urls), sorted(hidden.sites))) + b"\n"


def parse_hidden(content: bytes) -> Hidden | Unusable:
    """Reads the pages that no search shows."""
    found = _parsed(content, _Hidden, MAX_HIDDEN_BYTES)
    return found if isinstance(found, Unusable) else Hidden(frozenset(found.urls), frozenset(found.sites))


def named_digests(manifests: Iterable[Manifest]) -> frozenset[str]:
    """Returns the digests of all contents that these manifests name."""
    return frozenset(file.digest for manifest in manifests for file in manifest.files)


def _parsed(content: bytes, kind: type[_Wire], max_bytes: int) -> _Wire | Unusable:
    if len(content) > max_bytes:
        return Unusable(f"longer than {max_bytes:,} bytes")
    try:
        if msgspec.json.decode(content, type=_Formatted).format > FORMAT:
            return Unusable("a newer goodbot wrote it", is_newer=True)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        pass  # without a number of the format; what is wrong is said below
    try:
        return msgspec.json.decode(content, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return Unusable(_reason(error))


def _reason(error: Exception) -> str:
    """Returns what is wrong, without our regular expressions."""
    text = " ".join(str(error).split())
    form = _WRONG_FORM.search(text)
    return f"a {form[1]} is invalid" if form is not None else text[:200]
