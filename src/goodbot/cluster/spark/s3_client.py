"""Opens connections to S3 with boto3, and says in one line what went wrong there."""

import os
import platform
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Final, TypeVar

import boto3
from botocore import exceptions as causes
from botocore.config import Config
from botocore.parsers import ResponseParserError

from goodbot.errors import GoodbotError, InputError, RunError
from goodbot.places.place_address import shown_address

_T = TypeVar("_T")

_TIMEOUTS: Final = {"connect_timeout": 10, "read_timeout": 60}
_READ_ATTEMPTS: Final = 3
"""botocore repeats requests, but not when the connection breaks within an answer."""

FAILURES: Final = (causes.BotoCoreError, causes.ClientError, ResponseParserError)
"""What boto3 raises."""
_PASSING: Final = (
    causes.ConnectionError,
    causes.HTTPClientError,
    ResponseParserError,
    causes.IncompleteReadError,
    causes.ChecksumError,
    causes.FlexibleChecksumError,
    causes.MetadataRetrievalError,
    causes.CredentialRetrievalError,
    causes.TokenRetrievalError,
)
"""Errors of the network. All others but answers of the server are of the configuration."""
_BROKEN: Final = (
    causes.ResponseStreamingError,
    causes.ReadTimeoutError,
    causes.IncompleteReadError,
    causes.FlexibleChecksumError,
)
"""The connection broke within an answer, or its bytes are wrong."""
_NO_CREDENTIALS: Final = (causes.NoCredentialsError, causes.PartialCredentialsError)
_DENIED: Final = frozenset(
    [
        "AccessDenied",
        "AllAccessDisabled",
        "Forbidden",
        "403",
        "InvalidAccessKeyId",
        "InvalidToken",
        "SignatureDoesNotMatch",
    ]
)
_ELSEWHERE: Final = frozenset({"PermanentRedirect", "301", "AuthorizationHeaderMalformed"})
NO_KEY: Final = "NoSuchKey"
NO_FILE: Final = frozenset({NO_KEY, "404"})
_NO_ACCESS: Final = (
    "check the AWS_* variables and the policy of the bucket, which must allow GetObject, PutObject, DeleteObject,"
    " ListBucket, ListBucketMultipartUploads and AbortMultipartUpload"
)


def s3_client(*, repeats: bool = True) -> Any:
    """Returns boto3's client for S3, configured by the usual AWS_* variables and files. `repeats`: a request that fails
    is sent again, as the configuration says. Each process has clients of its own. Raises InputError if the
    configuration cannot be used."""
    configured = tuple(sorted(item for item in os.environ.items() if item[0].startswith("AWS_")))
    return _client(os.getpid(), configured, repeats)


@lru_cache(maxsize=8)
def _client(_process: int, _configured: tuple[tuple[str, str], ...], repeats: bool) -> Any:
    once = {} if repeats else {"retries": {"total_max_attempts": 1}}
    try:
        return boto3.Session().client("s3", config=Config(**_TIMEOUTS, **once))
    except (causes.BotoCoreError, ValueError) as error:
        raise InputError(f"the configuration of S3 cannot be used: {_line(error)}") from error


@contextmanager
def translated(doing: str, url: str) -> Iterator[None]:
    """Makes a GoodbotError of what boto3 raises. `doing`: a verb and the file, such as `read pointer.json`."""
    try:
        yield
    except FAILURES as error:
        raise s3_error(error, doing, url) from error


def s3_error(error: Exception, doing: str, url: str) -> GoodbotError:
    """Returns the error to raise for what boto3 has raised, in one line without secrets."""
    if isinstance(error, causes.ClientError):
        return _refusal(error, doing, url)
    if isinstance(error, _NO_CREDENTIALS):
        return InputError(
            f"no credentials for {url} on {platform.node()}: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or"
            " AWS_PROFILE, on that machine"
        )
    if isinstance(error, _PASSING):
        return RunError(f"cannot {doing} at {url}: {_line(error)}")
    return InputError(f"cannot use {url}: {_line(error)}")


def _refusal(error: Exception, doing: str, url: str) -> GoodbotError:
    code = code_of(error)
    if code == "NoSuchBucket":
        return InputError(f"the bucket of {url} does not exist: create it, or check its name and AWS_ENDPOINT_URL")
    if code in _DENIED:
        return InputError(f"no access to {url} ({code}): {_NO_ACCESS}")
    if code in _ELSEWHERE:
        return InputError(f"the bucket of {url} is in another region ({code}): set AWS_DEFAULT_REGION")
    return RunError(f"cannot {doing} at {url}: {_line(error)}")


def code_of(error: Exception) -> str:
    """Returns the code of an answer of S3 that is an error, such as `NoSuchKey`; empty for other errors."""
    answer: dict[str, Any] = getattr(error, "response", None) or {}
    return str(answer.get("Error", {}).get("Code") or "")


def status_of(error: Exception) -> int:
    """Returns the HTTP status of an answer that is an error; 0 for other errors."""
    answer: dict[str, Any] = getattr(error, "response", None) or {}
    return int(answer.get("ResponseMetadata", {}).get("HTTPStatusCode", 0))


def read_again(read: Callable[[], _T]) -> _T:
    """Calls `read`, and calls it again if the connection breaks within the answer."""
    for _ in range(_READ_ATTEMPTS - 1):
        try:
            return read()
        except _BROKEN:
            pass  # once more
    return read()


def _line(error: Exception) -> str:
    return shown_address(" ".join(str(error).split()) or type(error).__name__)[:300]
