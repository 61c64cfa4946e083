"""The options of `goodbot watch`, as values."""

import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from ipaddress import IPv4Network, IPv6Network, ip_network
from typing import Final, Literal, get_args

from goodbot.cli.host_argument import host_key
from goodbot.cli.own_robots import address_book
from goodbot.cli.time_option import parse_time
from goodbot.cli.watch_rules import GrowingRules, LoadedRules
from goodbot.errors import InputError
from goodbot.registry import Registry
from goodbot.registry.signed_request import KeyDirectory
from goodbot.watch.counting.block_counts import BlockCounter
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Confirmed, Identities
from goodbot.watch.counting.judged_target import host_name
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.real_client import real_client
from goodbot.watch.formats.pattern import parse_pattern

Engine = Literal["auto", "standard", "fast"]
ENGINES: Final[tuple[Engine, ...]] = get_args(Engine)

FAST_NEEDS: Final = ("numpy", "pyarrow")


@dataclass(frozen=True, slots=True)
class CountingChoices:
    """What the user chose: which requests count, and how lines are read."""

    since: str | None
    until: str | None
    pattern: str | None
    real_ip: bool
    proxies: tuple[str, ...]
    rules: LoadedRules | None = None
    host: str | None = None
    is_counted_on: bool = False
    keys: tuple[KeyDirectory, ...] = ()

    def options(self) -> CountingOptions:
        """Returns them parsed. Raises InputError for a value that is not valid."""
        now = time.time()
        since = parse_time("--since", self.since, now) if self.since is not None else None
        until = parse_time("--until", self.until, now) if self.until is not None else None
        if since is not None and until is not None and since >= until:
            raise InputError("--since must be before --until")
        if self.proxies and not self.real_ip:
            raise InputError("--trusted-proxy needs --real-ip")
        networks = [_network(text) for text in self.proxies]
        return CountingOptions(
            since,
            until,
            parse_pattern(self.pattern) if self.pattern is not None else None,
            partial(real_client, proxies=networks) if self.real_ip else None,
            self.rules.judged_by.rules if self.rules else None,
            self._site,
            self.is_counted_on,
            self.rules.nofollow if self.rules else None,
            self.keys,
        )

    @property
    def _site(self) -> str | None:
        if self.host is not None:
            return host_name(host_key(self.host))
        return self.rules.host if self.rules else None

    def key(self) -> str:
        """Returns a text that is the same for the same choices: counts with others must not be mixed."""
        chosen = {
            "--since": self.since,
            "--until": self.until,
            "--log-format": self.pattern,
            "--real-ip": "" if self.real_ip else None,
            "--trusted-proxy": " ".join(self.proxies) or None,
            "--host": self.host,
            "--robots": self.rules.key if self.rules else None,
            "--keys": " ".join(one.name for one in self.keys) or None,
        }
        return ", ".join(f"{name} {value}".rstrip() for name, value in chosen.items() if value is not None)


def _network(text: str) -> IPv4Network | IPv6Network:
    try:
        network = ip_network(text, strict=False)
    except ValueError as error:
        raise InputError(
            f"--trusted-proxy must be an address or a range such as 203.0.113.0/24, not {text!r}"
        ) from error
    mapped = network.network_address.ipv4_mapped if isinstance(network, IPv6Network) else None
    return ip_network((mapped, max(network.prefixlen - 96, 0)), strict=False) if mapped else network


def growing_counter(
    engine: Engine, identities: Identities, options: CountingOptions, rules: GrowingRules
) -> Callable[[], BlockCounter]:
    """Does what `counter_factory` does, with the rules of the time when a counter is made."""

    def make() -> BlockCounter:
        current = rules.current()
        now = replace(options, rules=current.judged_by.rules, nofollow=current.nofollow)
        return counter_factory(engine, identities, now)()

    return make


def counter_factory(engine: Engine, identities: Identities, options: CountingOptions) -> Callable[[], BlockCounter]:
    """Returns what makes a counter of the chosen engine. Raises InputError if its libraries are missing."""
    missing = [name for name in FAST_NEEDS if find_spec(name) is None]
    if engine == "fast" and missing:
        raise InputError(
            f"--engine fast needs {' and '.join(missing)}: install goodbot with the extra fast: pip install '.[fast]'"
        )
    if engine == "standard" or missing:
        return partial(LineCounter, identities, options)
    return partial(_column_counter, identities, options)


def _column_counter(identities: Identities, options: CountingOptions) -> BlockCounter:
    from goodbot.watch.counting.column_counter import ColumnCounter  # noqa: PLC0415  (needs the extra `fast`)

    return ColumnCounter(identities, options)


def process_count(text: str) -> int:
    """Returns how many processes count. Raises InputError for anything but a number from 1 to 64, or `auto`."""
    if text == "auto":
        return len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise InputError(f"--processes must be a number from 1 to 64, or auto, not {text!r}")
    return int(text)


def check_logs(logs: Sequence[str]) -> None:
    """Raises InputError if standard input is named twice."""
    if list(logs).count("-") > 1:
        raise InputError("- (standard input) can be named once only")


def identities_of(registry: Registry, reverse_dns: bool, nameserver: str | None) -> Identities:
    """Returns what identifies robots: the records, their address ranges, and DNS if it is wanted."""
    return Identities(registry.find, address_book(registry), _by_dns(nameserver) if reverse_dns else None)


def _by_dns(nameserver: str | None) -> Confirmed:
    from goodbot.cli.watch_dns import DnsConfirmation  # noqa: PLC0415  (needs the network's modules)

    return DnsConfirmation(nameserver)
