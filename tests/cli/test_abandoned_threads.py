"""`goodbot serve` ends although a thread still works for a client."""

import subprocess
import sys

import pytest

SCRIPT = """
import atexit, sys, threading
from goodbot.cli.abandoned_threads import end_without_waiting
atexit.register(print, "ended by itself", flush=True)
threading.Thread(target={work}, daemon={daemon}).start()
print("works", flush=True)
end_without_waiting()
"""
FOR_EVER = "threading.Event().wait"


@pytest.mark.parametrize(
    ("work", "daemon", "lines"),
    [
        (FOR_EVER, False, ["works"]),
        (FOR_EVER, True, ["works", "ended by itself"]),
        ("threading.Event", False, ["works", "ended by itself"]),
    ],
    ids=["works on", "daemon", "ends"],
)
def test_the_process_ends(work: str, daemon: bool, lines: list[str]) -> None:
    script = SCRIPT.format(work=work, daemon=daemon)
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert (ended.stdout.splitlines(), ended.stderr) == (lines, "")
