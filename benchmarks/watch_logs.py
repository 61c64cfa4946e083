"""Makes long access logs from a short real one."""

import random
import time
from calendar import timegm
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

WINDOW = 20
"""Lines of the real log that follow each other; then the same lines come from the next address."""

MANY = 1_000_000
"""Different addresses, and different ends of paths, of a log of many."""


class Line(NamedTuple):
    """The parts of a line in the combined format."""

    address: bytes
    at: int
    request: bytes
    end: bytes


def read_lines(log: Path) -> list[Line]:
    """Reads the lines of a log, sorted by time; lines in another format are left out."""
    found = []
    for line in log.read_bytes().splitlines():
        head, quote, rest = line.partition(b'"')
        request, _, end = rest.partition(b'" ')
        address, _, time_text = head.partition(b" - - [")
        if quote and time_text.endswith(b" +0000] ") and request.count(b" ") == 2:
            at = timegm(time.strptime(time_text.split()[0].decode(), "%d/%b/%Y:%H:%M:%S"))
            found.append(Line(address, at, request, b'" ' + end))
    return sorted(found, key=lambda line: line.at)


def make_log(lines: list[Line], count: int, target: Path, *, many: bool = False) -> None:
    """Writes `count` lines: each window of lines comes from as many addresses as it takes, shifted from the real ones.

    Times rise from the first to the last of the real log. With `many`, each line has one of a million addresses, and
    its path one of a million ends.
    """
    choose = random.Random(1)
    with target.open("wb") as file:
        made: list[bytes] = []
        for line in _repeated(lines, count):
            address, request = line.address, line.request
            if many:
                number = choose.randrange(MANY)
                address = b"%d.%d.%d.7" % (10 + (number >> 16), number >> 8 & 255, number & 255)
                path, _, protocol = request.rpartition(b" ")
                request = b"%b/%d %b" % (path, choose.randrange(MANY), protocol)
            made.append(b'%b - - [%b] "%b%b\n' % (address, _time(line.at), request, line.end))
            if len(made) == 10_000:
                file.writelines(made)
                made.clear()
        file.writelines(made)


def _repeated(lines: list[Line], count: int) -> Iterator[Line]:
    """Yields lines of the windows, each repeated with shifted addresses and rising times."""
    copies, more = divmod(count, len(lines))
    for start in range(0, len(lines), WINDOW):
        window = lines[start : start + WINDOW]
        first, last = window[0].at, lines[min(start + WINDOW, len(lines) - 1)].at
        here = copies * len(window) + max(0, min(more - start, len(window)))
        for number in range(here):
            copy, place = divmod(number, len(window))
            line = window[place]
            yield line._replace(address=_shifted(line.address, copy), at=first + (last - first) * number // here)


def _shifted(address: bytes, copy: int) -> bytes:
    parts = address.split(b".")
    if len(parts) != 4 or not all(part.isdigit() for part in parts):
        return address
    third, fourth = (int(parts[2]) + copy) % 256, (int(parts[3]) + copy // 256) % 256
    return b"%b.%b.%d.%d" % (parts[0], parts[1], third, fourth)


_times: dict[int, bytes] = {}


def _time(at: int) -> bytes:
    if at not in _times:
        _times.clear()
        _times[at] = time.strftime("%d/%b/%Y:%H:%M:%S +0000", time.gmtime(at)).encode()
    return _times[at]
