"""Reads seeds, checks that they may be crawled, and finds the private address ranges they allow."""

import socket
from collections.abc import Iterable
from functools import lru_cache

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.robot.fetch.guard import AddressGuard, Network, private_range
from goodbot.robot.fetch.pinned_addresses import pinned
from goodbot.url import Url, is_private_host, parse_url


class PrivateSeedError(InputError):
    """A private seed without `--allow-private`. In a list of seeds this is an error only for lines meant as seeds."""


def typed_seeds(settings: Settings) -> tuple[list[Url], list[Network]]:
    """Returns the seeds of the settings and the private ranges they open. Raises InputError for one that may not be
    requested."""
    seeds = parse_seeds(settings.seeds)
    networks = opened_networks(settings, seeds)
    if settings.contact is None and (public := next((seed for seed in seeds if _is_public(seed, settings)), None)):
        raise InputError(_contact_missing(public))
    return seeds, networks


def parse_seeds(texts: Iterable[str]) -> list[Url]:
    """Returns the seeds as URLs. Raises InputError for a text that is no URL; its message suggests a correction."""
    seeds = []
    for text in texts:
        url = parse_url(text.strip())
        if url is None:
            _, separator, _ = text.partition("://")
            if separator:
                raise InputError(f"cannot crawl {text!r}: not an http or https URL")
            hint = f"; did you mean https://{text}/ ?" if text.strip() else ""
            raise InputError(f"{text!r} is not a URL{hint}")
        seeds.append(url)
    return seeds


def opened_networks(settings: Settings, seeds: Iterable[Url]) -> list[Network]:
    """Returns the private ranges that `--allow-private` opens: those of the seeds' addresses, written in the URL, given
    with `--resolve`, or looked up.

    Raises InputError for a private seed without `--allow-private`.
    """
    networks = []
    for seed in seeds:
        for address in _addresses(seed, settings):
            network = private_range(address)
            if network is None:
                continue
            if not settings.allow_private:
                raise InputError(f"{seed} is on a private address ({address}); add --allow-private if you mean it")
            networks.append(network)
    return networks


def guard_of(settings: Settings, networks: Iterable[Network] = ()) -> AddressGuard:
    """Returns the guard of a robot with these settings and open private ranges: public hosts need a contact."""
    return AddressGuard(dict.fromkeys(networks), public=settings.contact is not None)


def _addresses(seed: Url, settings: Settings) -> list[str]:
    """Returns the addresses of a seed; a name is resolved only to see which private range it opens."""
    pin = _pins(settings.resolve).get((seed.host, seed.port))
    if pin:
        return [pin]
    if not is_private_host(seed.host):
        return _resolved(seed) if settings.allow_private else []
    return _resolved(seed) or ["127.0.0.1"]


@lru_cache(maxsize=1024)
def _resolved(seed: Url) -> list[str]:
    """Resolves the host of a seed. Cached, because two callers need it."""
    try:
        found = socket.getaddrinfo(seed.host, seed.port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        return []  # the crawl itself reports that the name does not resolve
    return sorted({str(entry[4][0]) for entry in found})


def _is_public(seed: Url, settings: Settings) -> bool:
    addresses = _addresses(seed, settings)
    return not (addresses and all(private_range(address) for address in addresses))


class Seeding:
    """Judges the seeds of a list without name lookups: by written addresses, `localhost` and `--resolve`.

    A list may have a million names, so none is resolved: any other name counts as public.
    """

    def __init__(self, settings: Settings) -> None:
        self._private_allowed = settings.allow_private
        self._anonymous = settings.contact is None
        self._pins = _pins(settings.resolve)
        self._range = lru_cache(maxsize=1 << 10)(self._judge_range)

    def check(self, seed: Url) -> None:
        """Raises PrivateSeedError for a private seed without `--allow-private`, InputError for a public one without a
        contact."""
        if self._range(seed.host, seed.port if self._pins else 0):
            if not self._private_allowed:
                raise PrivateSeedError(f"{seed} is on a private address; add --allow-private if you mean it")
        elif self._anonymous:
            raise InputError(_contact_missing(seed))

    def networks(self, seeds: Iterable[Url]) -> set[Network]:
        """Returns the private ranges that these seeds open."""
        if not self._private_allowed:
            return set()
        found = (self._range(seed.host, seed.port if self._pins else 0) for seed in seeds)
        return {network for network in found if network is not None}

    def _judge_range(self, host: str, port: int) -> Network | None:
        pin = self._pins.get((host, port))
        if pin is None and not is_private_host(host):
            return None
        return private_range(pin or ("127.0.0.1" if host.endswith("localhost") else host))


def _contact_missing(seed: Url) -> str:
    """Builds the error message for a public seed of a crawl without a contact."""
    return (
        f"{seed.host} is a public host: say who you are with --contact (a mail address or a URL), "
        "so that its owner can reach you"
    )


def _pins(entries: Iterable[str]) -> dict[tuple[str, int], str]:
    """Returns the address for each host and port."""
    pins: dict[tuple[str, int], str] = {}
    for host, port, address in filter(None, map(pinned, entries)):
        pins.setdefault((host, port), address)
    return pins
