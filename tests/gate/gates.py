"""Gates, requests, addresses and signatures for the tests of the gate."""

import json
from base64 import urlsafe_b64encode
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms

from goodbot.gate.clients import Clients, Confirmations
from goodbot.gate.decision import Decision, Gate, Sites
from goodbot.gate.gate_request import GateRequest, read_request
from goodbot.gate.policy import Policy
from goodbot.gate.rate_limits import RateLimits
from goodbot.gate.site_rules import SiteRules, access_of_file
from goodbot.registry import AddressBook, KnownRobot, Tier
from goodbot.registry.signature_keys import parse_key_directory
from goodbot.registry.signed_request import KeyDirectory
from goodbot.watch.addresses import AddressRanges
from goodbot.watch.counting.identities import Identities
from signatures import Asked

NOW: Final = datetime(2026, 9, 10, 10, tzinfo=UTC).timestamp()
"""Within 90 days of the address lists that come with goodbot."""

LONG_AGO: Final = datetime(2015, 5, 17, 10, tzinfo=UTC).timestamp()
DAY_S: Final = 86_400

HOST: Final = "example.org"
PROXY: Final = "127.0.0.1"
PROXIES: Final = AddressRanges(Policy().networks())

STRANGER: Final = "203.0.113.9"
"""An address in no list of a robot."""

GOOGLEBOT: Final = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
GPTBOT: Final = "Mozilla/5.0 (compatible; GPTBot/1.3; +https://openai.com/gptbot)"
YANDEXBOT: Final = "Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)"
BYTESPIDER: Final = "Bytespider"
EXAMPLEBOT: Final = "ExampleBot/1.0"
FIREFOX: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
CURL: Final = "curl/8.5.0"

_BOOK: Final = AddressBook()


def address_in(list_name: str, version: int = 4) -> str:
    """The first address of a list of the operator."""
    known = _BOOK.get(list_name)
    assert known is not None
    return str(next(network.network_address for network in known.networks if network.version == version))


GOOGLE: Final = address_in("google-common")
OPENAI: Final = address_in("openai-gptbot")


def fields_of(named: Mapping[str, str]) -> list[tuple[bytes, bytes]]:
    """Header fields as a server hands them over."""
    return [(name.lower().encode(), value.encode()) for name, value in named.items()]


def asked_for(
    target: str = "/",
    agent: str = EXAMPLEBOT,
    client: str | None = STRANGER,
    host: str = HOST,
    more: Sequence[tuple[bytes, bytes]] = (),
) -> GateRequest:
    """A request for a page, as nginx hands it over."""
    named = {"X-Original-URI": target, "Host": host, "User-Agent": agent, "X-Forwarded-For": client}
    fields = fields_of({name: value for name, value in named.items() if value is not None})
    return read_request("GET", "/decide", [*fields, *more], PROXY, PROXIES)


def site_of(robots_txt: str | bytes) -> SiteRules:
    """The rules of a site with this robots.txt."""
    body = robots_txt.encode() if isinstance(robots_txt, str) else robots_txt
    return SiteRules(access_of_file(body))


def clients_with(
    directories: Sequence[KeyDirectory] = (), confirmations: Confirmations | None = None, book: AddressBook = _BOOK
) -> Clients:
    """Recognizes the robots on record."""
    return Clients(Identities(book=book), directories, confirmations)


def gate_with(
    robots_txt: str | bytes = "",
    policy: Policy | None = None,
    by_host: Mapping[str, SiteRules | None] | None = None,
    clients: Clients | None = None,
    limits: RateLimits | None = None,
) -> Gate:
    """A gate before sites with this robots.txt; `by_host` are others."""
    policy = policy or Policy()
    sites = Sites(site_of(robots_txt), by_host or {})
    return Gate(policy, clients or clients_with(), sites, RateLimits(policy.addresses) if limits is None else limits)


def unread_gate(policy: Policy) -> Gate:
    """A gate before a site whose robots.txt could not be read."""
    return Gate(policy, clients_with(), Sites(None, {}), RateLimits(policy.addresses))


def codes(gate: Gate, request: GateRequest, times: Sequence[float]) -> list[str]:
    """The decisions about one request that comes at these times."""
    return [gate.decide(request, NOW + at, at).code for at in times]


def decided(gate: Gate, request: GateRequest, at: float = 0.0) -> Decision:
    """The decision about a request that comes so many seconds after `NOW`."""
    return gate.decide(request, NOW + at, at)


class Answers:
    """What reverse DNS showed, by address. It remembers which addresses were asked about."""

    def __init__(self, tiers: Mapping[str, Tier]) -> None:
        self._tiers = tiers
        self.asked: list[tuple[str, str]] = []

    def tier(self, robot: KnownRobot, address: str, tier: Tier) -> Tier:
        self.asked.append((robot.name, address))
        return self._tiers.get(address, tier)


# ---- signatures -----------------------------------------------------------------------------------------------------


class Key:
    """A key with which a robot signs its requests."""

    def __init__(self, seed: bytes) -> None:
        self._secret = Ed25519PrivateKey.from_private_bytes(seed * 32)
        x = urlsafe_b64encode(self._secret.public_key().public_bytes_raw()).decode().rstrip("=")
        self._keys = parse_key_directory(json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]}).encode())

    @property
    def key_id(self) -> str:
        assert self._keys is not None
        return self._keys[0].key_id

    def directory(self, name: str, *robots: str) -> KeyDirectory:
        """The directory with this key, of these robots."""
        assert self._keys is not None
        return KeyDirectory(name, None, frozenset(robots), {key.key_id: key for key in self._keys})

    def signed(
        self,
        target: str = "/",
        host: str = HOST,
        at: float = NOW,
        covered: Sequence[str] = ("@authority", "@path", "@method"),
    ) -> list[tuple[bytes, bytes]]:
        """The fields of a signature that is valid for a minute, as another library makes them."""
        resolver = MappingKeyResolver(public_keys={}, private_keys={self.key_id: self._secret})
        signer = HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=resolver)
        message: Any = Asked("GET", f"https://{host}{target}", {})
        signer.sign(
            message,
            key_id=self.key_id,
            created=datetime.fromtimestamp(at, UTC),
            expires=datetime.fromtimestamp(at + 60, UTC),
            tag="web-bot-auth",
            include_alg=False,
            covered_component_ids=covered,
        )
        return fields_of({name: message.headers[name] for name in ("Signature-Input", "Signature")})
