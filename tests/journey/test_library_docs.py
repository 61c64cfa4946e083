"""What the pages about the library say is so, against a real server."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from journey import practice_site
from programs import blocks_of, run_program
from webserver import Exchange, WebServer, answer

DOCS = Path(__file__).parents[2] / "docs"
ROBOTS = b"User-agent: *\nDisallow: /private/\nSitemap: http://example.org/sitemap.xml\n"
HOME = b"""<title>Old clocks</title><html lang=en><h1>Old clocks</h1>
<p class=sign>We mend them.</p><h2><a href="/care">Care</a></h2>"""


async def _care(exchange: Exchange) -> None:
    if exchange.header("If-None-Match") == '"7"':
        await exchange.send(answer(b"", 304))
    elif exchange.head.startswith(b"HEAD"):
        await exchange.send(answer(b"", 200))
    else:
        await exchange.send(answer(b"<title>Care</title>"))


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer({"/": answer(HOME), "/care": _care}) as made:
        rules = ROBOTS.replace(b"example.org", f"example.org:{made.port}".encode())
        made.routes["/robots.txt"] = answer(rules, headers=[("Content-Type", "text/plain")])
        made.routes["/old"] = answer(b"", 301, [("Location", "/care")])
        yield made


@pytest.mark.parametrize("page", ["library.md", "how-to/requests.md", "how-to/httpx.md"])
async def test_the_programs_of_a_page(page: str, server: WebServer) -> None:
    """example.org is served from here, which a robot is told as its user would tell it."""
    host = f"example.org:{server.port}"
    told = f'contact="mailto:me@example.org", allow_private=True, resolve=["{host}:127.0.0.1"]'
    text = (DOCS / page).read_text(encoding="utf-8")
    text = text.replace('contact="mailto:me@example.org"', told).replace("http://example.org/", f"http://{host}/")
    await asyncio.to_thread(run_program, text)
    assert "/private/prices" not in server.targets


async def test_the_robot_of_the_first_page(server: WebServer, capsys: pytest.CaptureFixture[str]) -> None:
    host = f"example.org:{server.port}"
    (text,) = blocks_of((DOCS.parent / "README.md").read_text(encoding="utf-8"), "py")
    told = f'allow_private=True, resolve=["{host}:127.0.0.1"], contact='
    text = text.replace("contact=", told).replace("https://example.org/", f"http://{host}/")
    await asyncio.to_thread(exec, text, {})
    assert capsys.readouterr().out == "['Old clocks', 'Care']\n"


START = (DOCS / "start" / "search-services.md").read_text(encoding="utf-8")
"""The page with the practice site."""


@pytest.fixture
def workshop(tmp_path: Path) -> Path:
    """A folder in which the tutorial was followed: its site, its programs."""
    practice_site.make(START, tmp_path)
    for block in blocks_of((DOCS / "tutorial.md").read_text(encoding="utf-8")):
        name, _, program = block.removeprefix("# ").partition("\n")
        (tmp_path / name).write_text(program, encoding="utf-8")
    return tmp_path


def test_a_stranger_can_follow_the_tutorial(workshop: Path) -> None:
    shown = blocks_of((DOCS / "tutorial.md").read_text(encoding="utf-8"), "text")
    assert sorted(path.name for path in workshop.glob("*.py")) == ["first_robot.py", "headings.py"]
    asked: list[str] = []
    with practice_site.served(START, workshop, asked) as port:
        printed = [_run(workshop / name, port) for name in ("first_robot.py", "headings.py")]
    assert printed == shown
    assert asked == ["/robots.txt", "/", "/care.html"] * 2


def _run(program: Path, port: str) -> str:
    """What it prints, the port of the page instead of the one it ran with."""
    text = program.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 35
    program.write_text(text.replace(":8000", f":{port}"), encoding="utf-8")
    ran = subprocess.run(
        [sys.executable, "-W", "error", program.name],
        cwd=program.parent,
        env={**os.environ, "PYTHONPATH": str(DOCS.parent / "src")},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (ran.returncode, ran.stderr) == (0, "")
    return ran.stdout.replace(f":{port}", ":8000")
