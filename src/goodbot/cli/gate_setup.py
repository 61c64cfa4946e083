"""Builds the gate, and builds it again when a robots.txt, gate.toml or an address list changes."""

import asyncio
import logging
import math
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

import msgspec

from goodbot.cli.own_robots import address_book, data_folder, load_registry
from goodbot.cli.watch_keys import load_keys
from goodbot.errors import GoodbotError, InputError
from goodbot.exclusion import Access
from goodbot.files import Stamp, read_bounded, stamp_of
from goodbot.gate.background import begun
from goodbot.gate.clients import Clients
from goodbot.gate.decision import Gate
from goodbot.gate.dns_confirmations import DnsConfirmations
from goodbot.gate.gate_service import GateService, GateState
from goodbot.gate.policy import MOST_BYTES, Mode, Policy, parse_policy, with_recorded_names
from goodbot.gate.rate_limits import RateLimits
from goodbot.gate.site_sources import RETRY_S, SiteSources
from goodbot.registry import Registry
from goodbot.registry.signed_request import KeyDirectory
from goodbot.robot.fetch.resolver import nameserver
from goodbot.robot.fetch.reverse import ReverseLookup
from goodbot.url import Url
from goodbot.watch.addresses import AddressRanges
from goodbot.watch.counting.identities import Identities

LOOK_EVERY_S: Final = 1.0
"""How often the gate looks whether its files have changed."""

LOOKUP_S: Final = 10.0
"""How long a query of reverse DNS may take."""

_log: Final = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class GateOptions:
    """What the user gave."""

    robots: str | None
    policy_file: Path | None
    mode: Mode | None
    keys: tuple[str, ...]
    nameserver: str | None
    contact: str = ""
    """Of goodbot.toml."""


class GateSetup:
    """Everything from which the gate is built. Raises InputError or RunError for what cannot be used at the start;
    later the gate goes on with what it has."""

    def __init__(self, options: GateOptions, look_every_s: float = LOOK_EVERY_S) -> None:
        self._options = options
        self._look_every_s = look_every_s
        self._registry = load_registry()
        self._policy_stamp = self._seen_stamp = _stamp(options.policy_file)
        self._policy_due_s = math.inf
        self._policy_problem = ""
        self.policy = load_policy(options, self._registry)
        self._directories = self._load_directories(self.policy)
        self._lists_stamp = _stamps_within(data_folder())
        self._identities = self._load_identities()
        self._dns = self._lookups()
        self._sources = self._load_sources(self.policy)
        self._sources.load(time.monotonic())
        self.limits: Final = RateLimits(self.policy.addresses)

    def state(self) -> GateState:
        """Returns the gate as everything is now. To be called in the event loop: the limits are used there."""
        self.limits.resize(self.policy.addresses)
        clients = Clients(self._identities, self._directories, self._dns if self.policy.reverse_dns else None)
        gate = Gate(self.policy, clients, self._sources.sites(), self.limits)
        dns = self._dns
        figures = (
            ("goodbot_gate_dns_lookups", "Addresses looked up by reverse DNS", lambda: dns.lookups),
            ("goodbot_gate_dns_unanswered", "Lookups to which no server answered", lambda: dns.unanswered),
        )
        return GateState(gate, AddressRanges(self.policy.networks()), self._sources.problems, figures)

    async def keep_current(self, service: GateService) -> None:
        """Looks again and again whether anything has changed, and replaces the state of the service then. A request is
        decided by the one state or the other, and waits for neither."""
        failure = ""
        try:
            while True:
                await asyncio.sleep(self._look_every_s)
                try:
                    if await asyncio.wrap_future(begun(self._reload, "goodbot-gate-reload")):
                        service.state = self.state()
                except Exception as error:  # noqa: BLE001  (any: the gate must not stop looking)
                    if failure != repr(error):  # not each second
                        _log.exception("the gate cannot check its files for changes; it tries again")
                    failure = repr(error)
                else:
                    failure = ""
        finally:
            await self._dns.close()

    def problems(self) -> list[str]:
        """Returns why robots.txt files could not be read; the log has these already."""
        return [why for why in self._sources.problems().values() if why]

    def stale_lists(self) -> str:
        """Says which address lists are out of date; empty if none is."""
        today = datetime.now(UTC).date()
        stale = [name for name in self._book.names if (known := self._book.get(name)) and known.is_stale(today)]
        if not stale:
            return ""
        some = f"{stale[0]} and {len(stale) - 1} more" if len(stale) > 1 else stale[0]
        return (
            f"address lists are out of date ({some}), so impostors of these robots are recognized only by reverse DNS: "
            "run goodbot who update"
        )

    # ---- reading

    def _reload(self) -> bool:
        changed = [self._reload_policy(), self._reload_lists(), self._sources.refresh(time.monotonic())]
        return any(changed)

    def _reload_policy(self) -> bool:
        """Reads gate.toml again if it has changed, and then stayed as it is for `LOOK_EVERY_S`; or if it could
        not be used, as it names files that may be there by now."""
        stamp = _stamp(self._options.policy_file)
        is_settled, self._seen_stamp = stamp == self._seen_stamp, stamp
        is_changed = stamp != self._policy_stamp or time.monotonic() >= self._policy_due_s
        if not (is_changed and is_settled):
            return False
        self._policy_stamp, self._policy_due_s = stamp, math.inf
        try:
            policy = load_policy(self._options, self._registry)
            directories = self._load_directories(policy)
            sources = self._load_sources(policy)
            sources.take_over(self._sources)
            sources.load(time.monotonic())
        except GoodbotError as error:
            self._policy_due_s = time.monotonic() + RETRY_S
            if str(error) != self._policy_problem:
                _log.warning("%s; the gate keeps the policy that it has", error)
            self._policy_problem = str(error)
            return False
        self._policy_problem = ""
        self.policy, self._directories, self._sources = policy, directories, sources
        _log.info("%s is in force", self._options.policy_file)
        return True

    def _reload_lists(self) -> bool:
        """Reads the address lists again after `goodbot who update`."""
        stamp = _stamps_within(data_folder())
        if stamp == self._lists_stamp:
            return False
        self._lists_stamp = stamp
        try:
            self._identities = self._load_identities()
        except GoodbotError as error:
            _log.warning("%s; the gate keeps the address lists that it has", error)
            return False
        return True

    def _load_identities(self) -> Identities:
        self._book = address_book(self._registry)
        identities = Identities(self._registry.find, self._book)
        identities.load_lists()
        identities.robot_of("")  # reads the records now, not when the first request waits
        return identities

    def _load_directories(self, policy: Policy) -> tuple[KeyDirectory, ...]:
        return load_keys(
            [*self._options.keys, *(_beside(self._options.policy_file, one) for one in policy.keys)], self._registry
        )

    def _load_sources(self, policy: Policy) -> SiteSources:
        file = self._options.policy_file
        sites = {host: place if "://" in place else _path_beside(file, place) for host, place in policy.sites.items()}
        return SiteSources(self._options.robots, sites, _fetch)

    def _lookups(self) -> DnsConfirmations:
        given = self._options.nameserver
        return DnsConfirmations(ReverseLookup([nameserver(given)] if given else (), LOOKUP_S))


def _fetch(url: Url) -> Access:
    from goodbot.one_shot import fetch_access  # noqa: PLC0415  (brings the robot, and 40 MB; a file needs none of it)

    return fetch_access(url)


def load_policy(options: GateOptions, registry: Registry) -> Policy:
    """Reads the policy. The mode that the user gave comes before it, and the contact of goodbot.toml after it. May be
    called in any thread. Raises InputError."""
    file = options.policy_file
    policy = Policy()
    if file is not None:
        policy = with_recorded_names(parse_policy(read_bounded(file, MOST_BYTES), str(file)), registry, str(file))
    if options.robots is None and not policy.sites:
        raise InputError("the gate needs a robots.txt: --robots FILE or URL, or [sites] in --policy gate.toml")
    mode, contact = options.mode or policy.mode, policy.contact or options.contact
    return msgspec.structs.replace(policy, mode=mode, contact=contact)


def _beside(policy_file: Path | None, keys: str) -> str:
    """Returns FILE or NAME=FILE with the path relative to the folder of the policy."""
    name, equals, file = keys.rpartition("=")
    return f"{name}{equals}{_path_beside(policy_file, file)}"


def _path_beside(policy_file: Path | None, file: str) -> str:
    return str(policy_file.absolute().parent / file) if policy_file is not None else file


def _stamp(file: Path | None) -> Stamp | None:
    return stamp_of(file) if file is not None else None


def _stamps_within(folder: Path) -> Sequence[tuple[str, Stamp | None]]:
    try:
        files = sorted(folder.glob("*.txt"))
    except OSError:
        return []
    return [(file.name, stamp_of(file)) for file in files]
