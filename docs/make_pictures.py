"""Makes the pictures of README.md from the sample sites; `make pictures` runs it. It needs Debian's Chromium."""

import io
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Literal

from playwright.sync_api import sync_playwright
from rich.console import Console
from rich.text import Text

from goodbot.demo import DemoWeb

PICTURES: Final = Path(__file__).parent / "pictures"
ColorScheme = Literal["light", "dark"]
COLUMNS: Final = 100
QUERY: Final = "choosing a torch"


def main() -> None:
    """Crawls the sample sites, then takes the pictures."""
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, DemoWeb((8000, 0, 0)) as web:
        shop = web.sites[0].url.rstrip("/")
        seeds = [site.url for site in web.sites]
        _goodbot(Path(scratch), "crawl", *seeds, "--into", "all", "--allow-private")
        commands = (
            ("crawl", f"{shop}/", "--into", "crawl", "--allow-private"),
            ("why", f"{shop}/cart", "--in", "crawl"),
        )
        _draw_terminal([(command, _goodbot(Path(scratch), *command)) for command in commands])
        with _serving(Path(scratch) / "all") as page:
            results = f"{page}/search?q={QUERY.replace(' ', '+')}"
            _photograph({"search.png": (results, "light"), "why.png": (f"{page}/why?url={shop}/cart", "dark")})


def _goodbot(folder: Path, *command: str) -> str:
    """Returns what a command prints in a terminal with colours, standard error first."""
    settings = {**os.environ, "COLUMNS": str(COLUMNS)}
    run = [sys.executable, "-m", "goodbot", *command, "--color", "always"]
    done = subprocess.run(run, cwd=folder, env=settings, capture_output=True, text=True, check=True)
    return done.stderr + done.stdout


def _draw_terminal(shown: list[tuple[tuple[str, ...], str]]) -> None:
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for command, output in shown:
        console.print(Text(f"$ goodbot {' '.join(command)}", style="bold"))
        console.print(Text.from_ansi(output.rstrip()))
        console.print()
    drawing = console.export_svg(title="goodbot")
    drawing = re.sub(r"@font-face \{.*?\}\s*", "", drawing, flags=re.DOTALL)  # they load a font from another site
    (PICTURES / "terminal.svg").write_text(drawing, encoding="utf-8")


@contextmanager
def _serving(folder: Path) -> Iterator[str]:
    """Serves the search page of a crawl; gives its URL."""
    command = [sys.executable, "-m", "goodbot", "serve", "--in", str(folder), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stderr is not None
            url = next(found[0] for line in server.stderr if (found := re.search(r"http://127\.0\.0\.1:\d+", line)))
            yield url
        finally:
            server.terminate()


def _photograph(pages: Mapping[str, tuple[str, ColorScheme]]) -> None:
    """Takes a picture of each page: file name → URL, and light or dark."""
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path="/usr/bin/chromium", args=["--no-sandbox", "--disable-gpu"]
        )
        for file, (url, scheme) in pages.items():
            page = browser.new_page(viewport={"width": 1000, "height": 640}, color_scheme=scheme)
            page.goto(url)
            page.screenshot(path=PICTURES / file)
        browser.close()


if __name__ == "__main__":
    main()
