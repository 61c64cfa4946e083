"""The example of the how-to page, as it stands there: it is run, and fails when the spider is made worse."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("scrapy")

pytestmark = pytest.mark.long

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "exam-in-your-tests.md"
CARE = "            return\n"


@pytest.fixture
def example(tmp_path: Path) -> Path:
    """A folder with the files of the page: those blocks that begin with a file's name."""
    blocks = re.findall(r"```python\n# (\w+\.py)\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert [name for name, _ in blocks] == ["spider.py", "test_spider.py"]
    for name, text in blocks:
        (tmp_path / name).write_text(text, encoding="utf-8")
    return tmp_path


def _pytest(folder: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_spider.py"]
    return subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1"},
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_spider_of_the_page_passes(example: Path) -> None:
    ran = _pytest(example)
    assert ran.returncode == 0, ran.stdout
    assert "3 passed" in ran.stdout


def test_a_spider_without_care_is_caught(example: Path) -> None:
    spider = example / "spider.py"
    text = spider.read_text(encoding="utf-8")
    assert text.count(CARE) == 1
    spider.write_text(text.replace(CARE, "            pass\n"), encoding="utf-8")
    ran = _pytest(example)
    assert ran.returncode == 1, ran.stdout
    assert "1 failed, 2 passed" in ran.stdout
    assert "meta-nofollow was not passed: fetched /only-from-closed" in ran.stdout
    assert "first offending request: GET /only-from-closed (answered 200)" in ran.stdout
