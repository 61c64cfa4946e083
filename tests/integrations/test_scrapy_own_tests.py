"""Scrapy's own tests of schedulers and of whole crawls, with goodbot's scheduler in the place of Scrapy's.

They are in the source distribution of the installed version, which pip downloads from the configured index.
"""

import os
import re
import subprocess
import sys
import tarfile
from importlib.metadata import version
from pathlib import Path

import pytest

import goodbot.integrations

HERE = Path(__file__).parent
SOURCE = Path(goodbot.integrations.__file__).parents[2]
FILES = ("test_scheduler.py", "test_scheduler_base.py", "test_engine_loop.py")

NOT_APPLICABLE = {
    "TestMigration::test_migration": "a folder of one of Scrapy's priority queues cannot be opened by the other",
    "TestIncompatibility::test_incompatibility": "one of Scrapy's queues refuses CONCURRENT_REQUESTS_PER_IP",
    "test_scheduler_without_crawler": "makes Scrapy's scheduler from its parts, a duplicate filter and queues",
}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scrapy")
    pip = (sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:")
    name = f"scrapy=={version('scrapy')}"
    ran = subprocess.run(
        [*pip, "--no-build-isolation", "--dest", folder, name], capture_output=True, text=True, check=False
    )
    archives = list(folder.glob("*.tar.gz"))
    if not archives:
        pytest.skip(f"pip cannot download {name}: {ran.stderr[-500:]}")
    with tarfile.open(archives[0]) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def run(sources: Path, *options: str) -> str:
    own = {name: value for name, value in os.environ.items() if not name.startswith(("PYTEST_", "COV_"))}
    ran = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-p", "scrapy_own_tests", "-p", "no:cacheprovider"),
            *("-o", "asyncio_default_fixture_loop_scope=function", "-o", "filterwarnings=default", *options),
        ],
        cwd=sources,
        env={**own, "PYTHONPATH": f"{SOURCE}{os.pathsep}{HERE}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    return ran.stdout


@pytest.mark.long
@pytest.mark.timeout(700)
def test_scrapys_own_tests_pass(sources: Path) -> None:
    printed = run(sources, "-rfE", *(f"tests/{name}" for name in FILES if (sources / "tests" / name).exists()))
    failed = re.findall(r"^(?:FAILED|ERROR) tests/\w+\.py::(\S+)", printed, re.MULTILINE)
    assert sorted(failed) == sorted(NOT_APPLICABLE), printed[-5000:]
    passed = re.search(r"(\d+) passed", printed)
    assert passed is not None
    assert int(passed[1]) > 20
