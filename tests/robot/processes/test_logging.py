"""What a crawl with workers writes to its log file, and which rooms write none."""

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from goodbot.config import Settings
from goodbot.logs import SILENT, LogSettings, start_logging
from goodbot.wiring import open_crawl
from webserver import Exchange, WebServer, answer

PURE = ("exclusion", "page", "store/merge", "robot/lessons", "robot/scope", "check", "registry")
PACKAGE = Path(__file__).parents[3] / "src" / "goodbot"


@pytest.fixture(autouse=True)
def _restored() -> Iterator[None]:
    yield
    start_logging(SILENT)


async def page(exchange: Exchange) -> None:
    await exchange.send(answer(b"<title>a page</title><p>words"))


async def no_robots(exchange: Exchange) -> None:
    await exchange.send(answer(b"later", 503))


async def crawl(folder: Path, settings: Settings, logs: LogSettings) -> list[dict[str, Any]]:
    start_logging(logs)
    async with open_crawl(folder, settings, logs=logs) as opened:
        assert await opened.supervisor.run(None, lambda line: None, lambda live: None) == "finished"
    assert logs.json_file is not None
    return [json.loads(line) for line in logs.json_file.read_text("ascii").splitlines()]


async def test_a_crawl_with_two_workers_writes_one_line_per_event(tmp_path: Path) -> None:
    async with WebServer(fallback=page) as well, WebServer({"/robots.txt": no_robots}, fallback=page) as closed:
        settings = Settings(
            seeds=(well.url("/"), closed.url("/")),
            contact="mailto:me@example.org",
            allow_private=True,
            workers=2,
            robots_tries=2,
            backoff_first=0.01,
            backoff_most=0.01,
            retry_first=0.01,
            index=False,
        )
        lines = await crawl(tmp_path / "crawl", settings, LogSettings("debug", tmp_path / "log.jsonl"))
        well_host, closed_host = (f"127.0.0.1:{server.port}" for server in (well, closed))
    by_message = {line["message"]: line for line in lines}
    assert by_message["crawl started: 2 workers"]["level"] == "info"
    ended = by_message["crawl ended (finished), outcomes: 1 failed, 1 ready, 1 visited"]
    assert (ended["reason"], ended["states"]) == ("finished", {"visited": 1, "ready": 1, "failed": 1})
    started = [line for line in lines if "worker" in line and line["level"] == "info"]
    assert sorted(line["worker"] for line in started) == [0, 1]
    assert {line["process"] for line in started} == {os.getpid()}
    (paused,) = [line for line in lines if line["message"].startswith(f"host {closed_host} paused for ")]
    assert paused["host"] == closed_host
    assert paused["process"] in {line["pid"] for line in started}  # a worker writes to the same file
    (visited,) = [line for line in lines if line.get("state") == "visited"]
    assert (visited["level"], visited["url"], visited["status"]) == ("debug", f"http://{well_host}/", 200)


def modules_imported(file: Path) -> set[str]:
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    return names | {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}


@pytest.mark.parametrize("room", PURE)
def test_no_module_of_a_pure_room_logs(room: str) -> None:
    files = list((PACKAGE / room).rglob("*.py"))
    assert files
    for file in files:
        assert modules_imported(file).isdisjoint({"logging", "goodbot.logs"}), file
