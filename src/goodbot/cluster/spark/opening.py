"""Opens the files of a store by its URL."""

import re
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from goodbot.cluster.spark.local_files import LocalFiles
from goodbot.cluster.spark.store_files import StoreFiles, checked_path
from goodbot.errors import DamagedError, InputError
from goodbot.places.place_address import check_local_address, shown_address

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*):(?://)?")
_BUCKET: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,61}[A-Za-z0-9]")
_FORMS: Final = "a local or mounted folder, file:///FOLDER or s3://BUCKET/FOLDER"


def open_files(url: str) -> StoreFiles:
    """Opens the files of the store at a path of this computer, a `file:` URL or an `s3:` URL. Nothing is made, and no
    request is sent. Raises InputError if the URL cannot be used, or boto3 is missing."""
    if not url or not url.isprintable():
        raise InputError(f"--store is empty or has control characters: give {_FORMS}")
    scheme = _scheme_of(url)
    if scheme == "":
        return LocalFiles(_folder(url))
    if scheme == "file":
        check_local_address(url)
        return LocalFiles(_folder(url2pathname(urlsplit(url).path)))
    if scheme == "s3":
        return _in_bucket(url)
    if scheme in {"s3a", "s3n"}:
        raise InputError(f"write s3:// instead of {scheme}://: goodbot reads and writes S3 without Hadoop")
    raise InputError(f"a store cannot be at {scheme}://; use {_FORMS}")


def _scheme_of(url: str) -> str:
    """Returns the scheme in small letters; empty for a path, which may have a colon."""
    found = _SCHEME.match(url)
    scheme = found[1].lower() if found else ""
    is_url = found is not None and (found[0].endswith("//") or scheme in {"file", "s3", "s3a", "s3n"})
    return scheme if is_url else ""


def _folder(path: str) -> Path:
    if path.startswith("~"):
        raise InputError(f"~ was not expanded: write the whole path of the store instead of {path}")
    folder = Path(path)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"the store {path} is a file, not a folder")
    return folder


def _in_bucket(url: str) -> StoreFiles:
    _, found, rest = url.partition("://")
    bucket, _, folder = rest.partition("/")
    if not found or not bucket:
        raise InputError("a store in S3 is s3://BUCKET/FOLDER: the bucket is missing")
    if "@" in bucket:
        raise InputError(
            "a store in S3 is s3://BUCKET/FOLDER: credentials come from AWS_ACCESS_KEY_ID, not from the URL"
        )
    if not _BUCKET.fullmatch(bucket):
        raise InputError(
            f"the name of the bucket in {shown_address(url)} is not valid: a store in S3 is s3://BUCKET/FOLDER, and"
            " AWS_ENDPOINT_URL names the server if it is not Amazon's"
        )
    folder = folder.strip("/")
    try:
        if folder:
            checked_path(folder)
    except DamagedError as error:
        raise InputError(f"{url}: a name in the path is empty or begins with a dot") from error
    try:
        from goodbot.cluster.spark.s3_files import S3Files  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("boto"):
            raise InputError("a store in S3 needs boto3: pip install '.[spark]'") from error
        raise
    return S3Files(bucket, folder)
