"""`docs/conformance.md` names tests: each must be there, and each deviation must be on the page."""

import re
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parents[1] / "docs" / "conformance.md"
NAMED = sorted(set(re.findall(r"`(test_\w+\.py)::(test_\w+)`", PAGE.read_text("utf-8"))))


@pytest.mark.parametrize(("module", "function"), NAMED)
def test_named_tests_exist(module: str, function: str) -> None:
    assert f"def {function}(" in (TESTS / module).read_text("utf-8")


def test_every_deviation_is_on_the_page() -> None:
    found = {
        (path.name, function)
        for path in TESTS.glob("test_*.py")
        for function in re.findall(r"^def (test_deviation_\w+)\(", path.read_text("utf-8"), re.MULTILINE)
    }
    assert found
    assert found <= set(NAMED)
