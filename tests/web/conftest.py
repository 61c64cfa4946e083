from collections.abc import Iterator

import pytest

from web.library import SPECIMENS, Library, Visitor, served


@pytest.fixture(scope="module")
def visitor() -> Iterator[Visitor]:
    with served(Library(SPECIMENS)) as visitor:
        yield visitor
