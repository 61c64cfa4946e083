"""An S3 server for the tests of stores, and Spark for those of its jobs."""

import os
import shutil
import sys
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession

from s3_server import S3Server, running_s3_server


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Makes each test that needs Spark a long one."""
    for item in items:
        if "spark" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """A session with two threads on this machine. It takes about 12 s to start, so all tests share it. It compiles as
    little as possible: there are few rows."""
    if shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian's package openjdk-17-jre-headless)")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").appName("tests")
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.sql.shuffle.partitions": "4",
        "spark.sql.adaptive.enabled": "false",
        "spark.log.level": "ERROR",
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    }
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    yield session
    session.stop()


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
