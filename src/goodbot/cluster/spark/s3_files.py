"""The files of a store in an S3 bucket.

All requests go through boto3, so that they use the same endpoint and credentials. Not PyArrow's file system: it makes
half-written files visible when their writer fails, and with some credentials its processes do not end (Arrow issue
50188). Reading a Parquet file takes the same time with both.
"""

import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Final

from boto3.s3.transfer import TransferConfig
from botocore import exceptions as causes

from goodbot.cluster.spark.output_file import OutputFile
from goodbot.cluster.spark.s3_client import (
    FAILURES,
    NO_FILE,
    NO_KEY,
    code_of,
    read_again,
    s3_client,
    s3_error,
    status_of,
    translated,
)
from goodbot.cluster.spark.s3_input import S3Input
from goodbot.cluster.spark.store_files import (
    FileEntry,
    Tagged,
    cannot_condition,
    checked_folder,
    checked_path,
    try_conditional_writes,
)
from goodbot.errors import DamagedError, RunError

_IN_MEMORY_BYTES: Final = 8 * 1024 * 1024
_MOST_REMOVED: Final = 1000
"""S3 removes so many files in one request."""
_PAUSES_S: Final = (0.1, 0.3, 1.0, 2.0)
"""How long to wait before a conditional write is repeated."""
_MULTIPART: Final = TransferConfig(preferred_transfer_client="classic")


class S3Files:
    """Implements `StoreFiles` in a folder of a bucket; the empty folder is the bucket. The tag of a file is its ETag.
    No request is sent before it is needed."""

    def __init__(self, bucket: str, folder: str) -> None:
        self._bucket = bucket
        self._prefix = f"{folder}/" if folder else ""

    @property
    def url(self) -> str:
        """The URL of the folder."""
        return f"s3://{self._bucket}/{self._prefix}".rstrip("/")

    def read(self, path: str) -> bytes | None:
        """Reads a file."""
        found = self.read_tagged(path)
        return None if found is None else found.data

    def write(self, path: str, data: bytes) -> None:
        """Writes a file."""
        with self._translated(f"write {path}"):
            s3_client().put_object(**self._file(path), Body=data)

    def open_input(self, path: str) -> Any:
        """Opens a file for random access."""
        import pyarrow as pa  # noqa: PLC0415  (slow to import)

        checked_path(path)
        return pa.PythonFile(S3Input(self._bucket, self._prefix + path, f"{self.url}/{path}"), mode="r")

    @contextmanager
    def open_output(self, path: str) -> Iterator[OutputFile]:
        """Opens a file for writing. It is kept here until it is complete: up to 8 MiB in memory, more in the folder for
        temporary files."""
        checked_path(path)
        with tempfile.SpooledTemporaryFile(_IN_MEMORY_BYTES) as draft:
            yield OutputFile(draft, f"{self.url}/{path} to a temporary file in {tempfile.gettempdir()}")
            draft.seek(0)
            self._send(draft, path)

    def upload(self, local: Path, path: str) -> int:
        """Sends a file in parts, then removes it here."""
        checked_path(path)
        try:
            size = local.stat().st_size
            with local.open("rb") as file:
                self._send(file, path)
            local.unlink()
        except OSError as error:
            raise RunError(f"cannot send {local} to the store: {error.strerror}") from error
        return size

    def list(self, folder: str = "") -> list[FileEntry]:
        """Lists all files whose keys begin with the folder. Keys that are no paths of a store are left out."""
        start = self._prefix + (f"{checked_folder(folder)}/" if folder else "")
        with self._translated(f"list {folder or 'the files'}"):
            pages = s3_client().get_paginator("list_objects_v2").paginate(Bucket=self._bucket, Prefix=start)
            found = [(each["Key"].removeprefix(self._prefix), each["Size"]) for page in pages for each in _files(page)]
        return sorted(FileEntry(path, size) for path, size in found if _is_path(path))

    def remove(self, paths: Iterable[str]) -> None:
        """Removes files, a thousand in one request."""
        keys = [{"Key": self._prefix + checked_path(path)} for path in paths]
        for start in range(0, len(keys), _MOST_REMOVED):
            some = {"Objects": keys[start : start + _MOST_REMOVED], "Quiet": True}
            with self._translated("remove files"):
                refused = s3_client().delete_objects(Bucket=self._bucket, Delete=some).get("Errors", [])
            if refused:
                code, message = (" ".join(str(refused[0].get(each, "")).split()) for each in ("Code", "Message"))
                raise RunError(f"cannot remove {len(refused)} files at {self.url}: {code}: {message}")

    def remove_drafts(self, before: float) -> int:
        """Ends uploads that are not complete."""
        with self._translated("end unfinished uploads"):
            pages = s3_client().get_paginator("list_multipart_uploads")
            found = [
                {"Key": each["Key"], "UploadId": each["UploadId"]}
                for page in pages.paginate(Bucket=self._bucket, Prefix=self._prefix)
                for each in page.get("Uploads", [])
                if each["Initiated"].timestamp() < before
            ]
            for upload in found:
                try:
                    s3_client().abort_multipart_upload(Bucket=self._bucket, **upload)
                except causes.ClientError as error:
                    if code_of(error) != "NoSuchUpload":  # it has ended meanwhile
                        raise
        return len(found)

    def read_tagged(self, path: str) -> Tagged | None:
        """Reads a file with its ETag."""

        def read() -> Tagged:
            answer = s3_client().get_object(**self._file(path))
            return Tagged(answer["Body"].read(), answer["ETag"])

        with self._translated(f"read {path}"):
            try:
                return read_again(read)
            except causes.ClientError as error:
                if code_of(error) == NO_KEY:  # a bare 404 may come from another server than S3
                    return None
                raise

    def write_if(self, path: str, data: bytes, tag: str | None) -> str | None:
        """Writes with If-Match or If-None-Match. After a refusal, and when no answer came, the file shows who has
        written it; a write that a simultaneous one has hindered is repeated a few times."""
        condition = {"IfNoneMatch": "*"} if tag is None else {"IfMatch": tag}
        for pause_s in _PAUSES_S:
            try:
                answer = s3_client(repeats=False).put_object(**self._file(path), Body=data, **condition)
                return str(answer["ETag"])
            except FAILURES as error:
                failed = self._failed_write(error, path)
            found = self.read_tagged(path)
            if found is not None and found.data == data:
                return found.tag
            if (None if found is None else found.tag) != tag:
                return None
            time.sleep(pause_s)
        raise failed

    def check_conditional(self) -> None:
        """Tries conditional writes."""
        try_conditional_writes(self)

    def _failed_write(self, error: Exception, path: str) -> RunError:
        """Returns the error of a write that may be repeated; raises that of one that would fail again."""
        if status_of(error) == 501 or code_of(error) == "NotImplemented":
            raise cannot_condition(self.url, f" ({code_of(error) or 501})") from error
        if status_of(error) == 412 or code_of(error) in NO_FILE:
            return RunError(f"cannot write {path} at {self.url}: the server refuses it, though nobody else has written")
        translated_error = s3_error(error, f"write {path}", self.url)
        if not isinstance(translated_error, RunError):
            raise translated_error from error
        translated_error.__cause__ = error
        return translated_error

    def _send(self, file: IO[bytes], path: str) -> None:
        with self._translated(f"write {path}"):
            s3_client().upload_fileobj(file, self._bucket, self._prefix + path, Config=_MULTIPART)

    def _file(self, path: str) -> dict[str, str]:
        return {"Bucket": self._bucket, "Key": self._prefix + checked_path(path)}

    @contextmanager
    def _translated(self, doing: str) -> Iterator[None]:
        with translated(doing, self.url):
            yield


def _files(page: dict[str, Any]) -> list[dict[str, Any]]:
    files: list[dict[str, Any]] = page.get("Contents", [])
    return files


def _is_path(path: str) -> bool:
    try:
        checked_path(path)
    except DamagedError:
        return False
    return True
