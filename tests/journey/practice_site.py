"""The practice site of docs/start: its reader makes it and serves it, and so do the tests."""

import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from programs import blocks_of

PORT = "8000"


def make(page: str, folder: Path) -> None:
    """Runs the `sh` blocks of a page in a folder."""
    for block in blocks_of(page, "sh"):
        subprocess.run(["sh", "-e", "-c", block], cwd=folder, check=True)


@contextmanager
def served(page: str, folder: Path, asked: list[str]) -> Iterator[str]:
    """The port at which the server of a page serves the site; afterwards `asked` has the paths that were asked for."""
    (command,) = re.findall(r"^    (python3 -m http\.server .* --directory site)$", page, re.MULTILINE)
    serve = [sys.executable, "-u", *command.replace(PORT, "0").split()[1:]]
    with subprocess.Popen(serve, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            port = re.search(r"port (\d+)", server.stdout.readline())
            assert port is not None
            yield port[1]
        finally:
            server.terminate()
        assert server.stderr is not None
        asked += re.findall(r'"GET (\S+) HTTP', server.stderr.read())
