"""One sample web for all tests of this room."""

from collections.abc import Iterator

import pytest

from goodbot.demo import DemoWeb


@pytest.fixture(scope="package")
def web() -> Iterator[DemoWeb]:
    with DemoWeb() as served:
        yield served


@pytest.fixture(scope="package")
def bases(web: DemoWeb) -> dict[str, str]:
    """Name of a site → its address without the last slash."""
    return {site.name: site.url.rstrip("/") for site in web.sites}
