"""Lines of standard input: bounded, whatever a client sends."""

import os
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from goodbot.agents.standard_input import LineCutter, StandardInput


@given(st.binary(max_size=300), st.lists(st.integers(0, 300), max_size=6), st.integers(0, 40))
def test_lines_are_those_of_the_bytes_however_they_arrive(data: bytes, cuts: list[int], most: int) -> None:
    places = sorted({0, len(data), *(min(cut, len(data)) for cut in cuts)})
    cutter = LineCutter(most)
    pieces = [data[start:end] for start, end in pairwise(places)]
    lines = [line for piece in pieces for line in cutter.cut(piece)]
    assert lines == [line + b"\n" for line in data.split(b"\n")[:-1] if len(line) <= most]


async def read(data: bytes, line_bytes: int = 100) -> list[str]:
    out, into = os.pipe()
    os.write(into, data)
    os.close(into)
    source = StandardInput(out, line_bytes)
    assert os.read(out, 10) == b""  # nobody else reads the input
    os.close(out)
    return [line async for line in source]


async def test_input_ends_with_its_last_whole_line() -> None:
    assert await read(b"{}\r\n\n\xff\n" + b"x" * 101 + b"\nlast\ntorn") == ["{}\r\n", "\n", "\ufffd\n", "last\n"]


async def test_more_lines_than_may_wait() -> None:
    assert await read(b"a\n" * 1000) == ["a\n"] * 1000


async def test_empty_input() -> None:
    assert await read(b"") == []
