"""Compares the memory that a used robots.txt takes with its own estimate."""

import gc
import tracemalloc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import RobotsTxt
from goodbot.exclusion.robotstxt.dialects import DIALECTS

SIZE = 15_000


def filled(line: bytes) -> bytes:
    """A robots.txt of `SIZE` octets, of lines like this one."""
    lines, size = [b"User-agent: *\n"], 0
    while size < SIZE:
        lines.append(line.replace(b"%d", b"%d" % len(lines)) + b"\n")
        size += len(lines[-1])
    return b"".join(lines)


@pytest.mark.parametrize("dialect", ["rfc9309", "google"])
@pytest.mark.parametrize(
    "line",
    [
        b"Disallow: /*a%d",
        b"Disallow: /%d",
        b"Disallow: /no-such-folder/%d/",
        b"Disallow: /*%d*a*b*c*d",
        b"Disallow: /%d" + b"*a" * 20,
        b"Disallow: /%d" + b"*abc" * 500,
        b"Disallow: /%C3%A4%d/*x",
        b"Disallow: /*%d$",
        b"Allow: /%d/index.htm",
        b"a:%d",
        b"allow:",
        b"User-agent: a%d\nDisallow: /",
        b"User-agent: a%d",
        b"Sitemap: https://h.example/%d",
        b"# a comment %d",
    ],
)
def test_weight_bytes_is_not_too_low(line: bytes, dialect: str) -> None:
    body = filled(line)
    gc.collect()
    gc.freeze()  # what is there is not looked through again
    tracemalloc.start()
    rules = RobotsTxt.parse(body, dialect)
    for number in range(5):  # the first ones are answered before anything is compiled
        rules.verdict(f"https://h.example/abc{number}", "goodbot")
    gc.collect()
    held, _ = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held + len(body) <= rules.weight_bytes <= 8 * (held + len(body)) + 100_000


URLS = st.text(st.sampled_from("/ab*$%?=7"), max_size=8).map(lambda path: f"https://h.example/{path}")
LINES = st.builds(
    "{}: /{}".format, st.sampled_from(["Allow", "Disallow"]), st.text(st.sampled_from("/ab*$%?=7"), max_size=8)
)


@given(st.lists(LINES, max_size=12), st.sampled_from(sorted(DIALECTS)), URLS)
def test_the_first_verdict_is_the_same_as_the_later_ones(lines: list[str], dialect: str, url: str) -> None:
    rules = RobotsTxt.parse("\n".join(["User-agent: *", *lines]), dialect)
    verdicts = [rules.verdict(url, "goodbot") for _ in range(6)]
    assert all(verdict == verdicts[0] for verdict in verdicts)
    assert verdicts[0] == RobotsTxt.parse("\n".join(["User-agent: *", *lines]), dialect).matcher("goodbot").verdict(url)
