"""Spark is started only if everything is there that it needs; each error is one line."""

import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from goodbot.cluster.spark.session import check_master, check_requirements, settings_of, spark_session
from goodbot.errors import InputError, RunError

pytest.importorskip("pyspark")


def without_java(patch: pytest.MonkeyPatch, folder: Path) -> None:
    patch.setenv("PATH", str(folder))
    patch.delenv("JAVA_HOME", raising=False)


def make_java(folder: Path, said: str) -> None:
    """Writes a program that says it is a Java."""
    java = folder / "bin" / "java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho '{said}' >&2\n")
    java.chmod(0o755)


def test_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    without_java(monkeypatch, tmp_path)
    with pytest.raises(
        InputError,
        match=r"^Spark needs Java 17 or newer: install it \(apt install openjdk-17-jre-headless\) or set JAVA_HOME$",
    ):
        check_requirements()


def test_a_java_home_without_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(
        InputError, match=rf"^Spark needs Java 17 or newer, and {tmp_path} \(JAVA_HOME\) has no bin/java: "
    ):
        check_requirements()


@pytest.mark.parametrize(
    ("said", "complaint"),
    [
        ('openjdk version "11.0.2" 2019-01-15', "is Java 11"),
        ('java version "1.8.0_392"', "is Java 8"),
        ("what?", "does not say its version"),
    ],
)
def test_another_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, complaint: str) -> None:
    make_java(tmp_path, said)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(
        InputError, match=f"^Spark needs Java 17 or newer, and {tmp_path}/bin/java {complaint}: install "
    ):
        check_requirements()


def test_a_newer_java(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_java(tmp_path, 'openjdk version "21" 2023-09-19')
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    check_requirements()


@pytest.mark.parametrize(
    ("library", "version", "complaint"),
    [
        (
            "pandas",
            "3.0.1",
            "pandas 3.0.1 is installed, and Spark needs pandas 2.2 or newer, but not 3: pip install 'pandas>=2.2,<3'",
        ),
        (
            "pandas",
            "2.1.4",
            "pandas 2.1.4 is installed, and Spark needs pandas 2.2 or newer, but not 3: pip install 'pandas>=2.2,<3'",
        ),
        (
            "pyspark",
            "3.5.1",
            "pyspark 3.5.1 is installed, and goodbot needs 4.1 or newer, below 5: pip install '.[spark]'",
        ),
    ],
)
def test_another_version_of_a_library(tmp_path: Path, library: str, version: str, complaint: str) -> None:
    information = tmp_path / f"{library}-{version}.dist-info"
    information.mkdir()
    (information / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {library}\nVersion: {version}\n")
    program = (
        "from goodbot.cluster.spark.session import check_requirements\n"
        "from goodbot.errors import InputError\n"
        "try: check_requirements()\n"
        "except InputError as error: print(error)"
    )
    path = os.pathsep.join([str(tmp_path), *filter(None, sys.path)])
    ended = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == complaint + "\n"


def test_a_library_that_is_missing(tmp_path: Path) -> None:
    program = (
        "import sys; sys.path[:] = [path for path in sys.path if 'site-packages' not in path]\n"
        "from goodbot.cluster.spark.session import check_requirements\n"
        "from goodbot.errors import InputError\n"
        "try: check_requirements()\n"
        "except InputError as error: print(error)"
    )
    source = str(Path(sys.modules["goodbot"].__path__[0]).parent)
    ended = subprocess.run(
        [sys.executable, "-S", "-c", program],
        env={**os.environ, "PYTHONPATH": source},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ended.stdout == "Spark needs pyspark: pip install '.[spark]'\n"


@pytest.mark.parametrize(
    "master",
    [
        *("local", "local[*]", "local[4]", "local[2,3]", "local-cluster[2,1,1024]", "spark://a.example:7077", "yarn"),
        *("spark://a:1,b:2", "k8s://https://a.example:443"),
    ],
)
def test_masters(master: str) -> None:
    check_master(master)


@pytest.mark.parametrize(
    "master", ["", "local[x]", "local[0]", "spark://a.example", "spark://:1", "http://a.example", "mesos://a:1"]
)
def test_what_is_no_master(master: str) -> None:
    with pytest.raises(InputError, match=r"^the Spark master must be local\[\*\], spark://HOST:7077, yarn or k8s://"):
        check_master(master)


def test_a_master_that_cannot_be_reached() -> None:
    with socket.socket() as refusing:
        refusing.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{refusing.getsockname()[1]}"
        complaint = f"^cannot reach the Spark master: {address}: Connection refused$"
        with pytest.raises(RunError, match=complaint), spark_session(f"spark://{address}", "a test"):
            pass


def test_only_this_machine_is_reached_with_a_local_master() -> None:
    assert settings_of("local[2]", "a test")["spark.driver.bindAddress"] == "127.0.0.1"
    assert "spark.driver.bindAddress" not in settings_of("yarn", "a test")
