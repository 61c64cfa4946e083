"""An S3 server for the tests of stores."""

from collections.abc import Iterator

import pytest

from s3_server import S3Server, running_s3_server


@pytest.fixture(scope="session")
def running_s3() -> Iterator[S3Server]:
    """The server of this test process. Tests take `s3`."""
    with running_s3_server() as server:
        yield server


@pytest.fixture
def s3(running_s3: S3Server, monkeypatch: pytest.MonkeyPatch) -> S3Server:
    """A server that answers well, and that the AWS_* variables name."""
    running_s3.reset()
    for name, value in running_s3.environment.items():
        monkeypatch.setenv(name, value)
    return running_s3


@pytest.fixture
def s3_url(s3: S3Server) -> str:
    """The URL of an empty store on that server."""
    url = f"s3://{s3.new_bucket()}/crawls/store"
    s3.requests.clear()
    return url
