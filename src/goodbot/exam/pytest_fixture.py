"""Provides the hard sites as a pytest fixture. Load it with `pytest_plugins = ["goodbot.exam.pytest_fixture"]`."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from goodbot.exam.fixture import Exam, site


@pytest.fixture
def exam_site() -> Iterator[Callable[..., Exam]]:
    """Works like `goodbot.exam.site` without `with`: the sites are served until the test ends."""
    with ExitStack() as served:

        def serve(*names: str, by_name: bool = False) -> Exam:
            return served.enter_context(site(*names, by_name=by_name))

        yield serve
