import logging
from collections.abc import Iterator

import pytest

from goodbot.web.server.request_log import LOGGER
from web.library import SPECIMENS, Library, Visitor, served


@pytest.fixture(autouse=True)
def _only_its_own_throttle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hides from a test the throttles of servers that serve several tests: they have counted those tests' lines."""
    monkeypatch.setattr(logging.getLogger(LOGGER), "filters", [])


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with served(Library(SPECIMENS)) as visitor:
        yield visitor
