"""Slow documents are read while the loop goes on."""

import asyncio
import threading
from typing import Any

import pytest

from goodbot.config import Settings
from goodbot.exclusion import RobotsTxt
from goodbot.page import pdf, read_page
from goodbot.robot.crawl import slow_documents as documents
from goodbot.robot.crawl.assembly import readers_of
from goodbot.robot.crawl.slow_documents import SlowDocuments
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.scope.scope import Scope
from goodbot.url import Url
from goodbot.values import Capture, Failure, FoundLinks, LeasedUrl, Page, Request, Response
from page.documents import made_pdf

HERE = Url("http://example.org/x")
PDF = Response(200, (("Content-Type", "application/pdf"), ("X-Robots-Tag", "noindex")), made_pdf(["A heron."]))


def captured(result: Response | Failure) -> Capture:
    verdict = RobotsTxt.parse(b"").verdict(HERE.text, "goodbot")
    return Capture(Request(HERE, verdict), result, fetched_at=0.0, elapsed_s=0.0)


async def test_a_pdf_is_read_while_the_loop_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    went_on = threading.Event()

    def read_then(*given: Any, **more: Any) -> Page:
        assert went_on.wait(60)
        return read_page(*given, **more)

    monkeypatch.setattr(documents, "read_page", read_then)
    reading = asyncio.create_task(SlowDocuments(Settings(), "goodbot").read(HERE, PDF))
    await asyncio.sleep(0)  # it has begun
    went_on.set()
    ahead = await reading
    assert ahead is not None
    page = ahead.page
    assert (page.text, page.directives.index) == ("A heron.", False)


async def test_a_document_that_takes_long_and_one_that_kills_its_reader_are_logged(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(documents, "SLOW_S", 0.0)
    monkeypatch.setattr(pdf, "MEMORY_BYTES", 1)
    monkeypatch.setattr(pdf, "MEMORY_FACTOR", 0)
    await SlowDocuments(Settings(), "goodbot").read(HERE, PDF)
    slow, killed = (record.getMessage() for record in caplog.records)
    assert slow.startswith(f"{HERE} took ")
    assert killed.startswith(f"the process that read {HERE} was killed: damaged")


async def test_without_an_index_only_its_links_are_read() -> None:
    ahead = await SlowDocuments(Settings(index=False), "goodbot").read(HERE, PDF)
    assert ahead is not None
    assert ahead.page.text == ""


@pytest.mark.parametrize(
    "result",
    [
        Response(200, (("Content-Type", "text/html"),), b"<p>x"),
        Response(404, (("Content-Type", "application/pdf"),), made_pdf(["Not found"])),
        Response(304, (("Content-Type", "application/pdf"),), b""),
        Failure("timeout", "no answer"),
    ],
)
async def test_all_else_is_left_to_the_reader(result: Response | Failure) -> None:
    async def find(found: FoundLinks) -> None:
        raise AssertionError(found)

    reader = readers_of(Settings(), "goodbot", Scope(Settings(), [HERE], AddressGuard())).reader
    assert await reader.ahead(LeasedUrl(HERE, 0), captured(result), find) is None
