"""Answers that break off, and output that nobody takes: what is missing is never taken for what is not there."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from journey.goodbot_process import HASTY, goodbot
from webserver import WebServer, closing

HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: %s\r\nContent-Length: 999\r\n\r\n"
ROBOTS = HEAD % b"text/plain" + b"User-agent: *\nDisallow: /a\n"
PAGE = HEAD % b"text/html" + b"<title>A page</title>"


async def test_half_a_robots_txt_is_none() -> None:
    async with WebServer({"/robots.txt": closing(ROBOTS)}) as server:
        allowed = await goodbot("allowed", server.origin, "--agent", "x", server.url("/secret"), "--json")
        assert allowed.status == 1
        assert "unreachable" in allowed.json[0]["reason"]
        checked = await goodbot("check", server.origin, "--json")
        assert checked.status == 1
        assert [finding["code"] for finding in checked.json] == ["R001"]
        assert "the answer ends too early" in checked.json[0]["message"]


async def test_a_crawl_asks_no_page_of_a_site_whose_robots_txt_breaks_off(tmp_path: Path) -> None:
    (tmp_path / "goodbot.toml").write_text(HASTY)
    async with WebServer({"/robots.txt": closing(ROBOTS), "/": closing(PAGE)}) as server:
        options = ("--into", tmp_path / "crawl", "--allow-private", "--config", tmp_path / "goodbot.toml")
        crawl = await goodbot("crawl", server.url("/"), *options)
        assert crawl.status == 3
        assert "robots.txt is unreachable" in crawl.err
        assert set(server.targets) == {"/robots.txt"}


async def test_directives_of_half_a_page_are_not_told() -> None:
    async with WebServer({"/p": closing(PAGE)}) as server:
        result = await goodbot("directives", server.url("/p"))
    assert (result.status, result.out) == (3, "")
    assert "ends too early, after 21 bytes" in result.complaint


@pytest.mark.parametrize(
    ("arguments", "to", "status"),
    [
        (["allowed", "-", "--agent", "A", "/x"], "> /dev/full", 3),
        (["allowed", "-", "--agent", "A", "/x", "--json"], "> /dev/full", 3),
        (["who", "--list"], "> /dev/full", 3),
        (["--version"], "> /dev/full", 3),
        (["check", "-", "--format", "sarif"], "> /dev/full", 3),
        (["format", "-"], "> /dev/full", 3),
        (["allowed", "-", "--agent", "A", "/x"], ">&-", 0),
        (["allowed", "-", "--agent", "A", "/x", "--json"], ">&-", 0),
        (["format", "-"], ">&-", 0),
        (["check", "-"], ">&-", 0),
    ],
)
async def test_output_that_nobody_takes(arguments: list[str], to: str, status: int) -> None:
    command = f'"$@" {to}'
    process = await asyncio.create_subprocess_exec(
        *("bash", "-c", command, "bash", sys.executable, "-W", "error", "-m", "goodbot", *arguments),
        stdin=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env={**os.environ, "HOME": "/dev/null/home"},
    )
    _, err = await process.communicate(b"User-agent: *\nDisallow: /y\n")
    assert process.returncode == status
    assert err.decode() == ("" if status == 0 else "goodbot: cannot write the output: No space left on device\n")
