"""An S3 server for the tests of stores, and Spark for those of its jobs."""

import shutil
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Final

import pytest
from pyspark.sql import SparkSession

from goodbot.cluster.spark.session import spark_session
from s3_server import S3Server, running_s3_server

QUICK: Final = {
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
    "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
}
"""There are few rows, so Spark compiles as little as possible."""


@pytest.fixture(scope="session", autouse=True)
def quick_spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Sets QUICK for every Spark that a test starts, also in other processes."""
    folder = tmp_path_factory.mktemp("spark")
    (folder / "spark-defaults.conf").write_text("".join(f"{name} {value}\n" for name, value in QUICK.items()))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SPARK_CONF_DIR", str(folder))
        yield


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Makes each test that needs Spark a long one."""
    for item in items:
        if "sessions" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.long)


class Sessions:
    """The session of this test process. Only one can be open, and it takes 12 s to start: so tests share it, and
    another one is started only for another master."""

    def __init__(self) -> None:
        self._master = ""
        self._open = ExitStack()
        self._session: SparkSession

    def of(self, master: str) -> SparkSession:
        """Returns the session with this master."""
        if master != self._master:
            self.close()
            self._session = self._open.enter_context(spark_session(master, "tests of goodbot"))
            self._master = master
        return self._session

    def close(self) -> None:
        self._master = ""
        self._open.close()


@pytest.fixture(scope="session")
def sessions() -> Iterator[Sessions]:
    if shutil.which("java") is None:
        pytest.skip("Java is not installed (Debian's package openjdk-17-jre-headless)")
    made = Sessions()
    yield made
    made.close()


@pytest.fixture
def spark(sessions: Sessions) -> SparkSession:
    """A session with two threads on this machine."""
    return sessions.of("local[2]")


@pytest.fixture
def cluster_spark(sessions: Sessions) -> SparkSession:
    """A session with two executors on this machine."""
    return sessions.of("local-cluster[2,1,1024]")


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
