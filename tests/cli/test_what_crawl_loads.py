"""A crawl has every module in the memory of each of its processes, so it loads none that it does not use."""

import subprocess
import sys

LARGE = ("goodbot.web", "goodbot.watch", "goodbot.announce", "goodbot.cluster", "psycopg", "cryptography", "starlette")


def test_a_crawl_loads_neither_the_web_server_nor_other_large_parts() -> None:
    program = f"import sys, goodbot.cli.crawl; print(*(name for name in {LARGE!r} if name in sys.modules))"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert done.stdout.split() == []
