"""The policy of a gate: what happens to requests that robots.txt alone does not decide. It is read from gate.toml."""

import tomllib
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any, Final, Literal

import msgspec

from goodbot.errors import InputError, quoted
from goodbot.watch.remedies.targets import parse_address_or_range

Mode = Literal["observe", "enforce"]
"""`observe`: every request is answered with 200, and the log says what would have happened."""

Action = Literal["allow", "limit", "refuse"]

RobotAction = Literal["allow", "rules", "refuse"]
"""`rules`: what robots.txt says, as for every robot."""

MOST_BYTES: Final = 4 * 1024 * 1024
"""The largest gate.toml that is read."""

_PerMinute = Annotated[float, msgspec.Meta(gt=0, le=1_000_000)]
_Burst = Annotated[int, msgspec.Meta(ge=1, le=1_000_000)]


class Impostors(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests in the name of a robot whose operator's records show that it did not send them."""

    action: Literal["allow", "refuse"] = "refuse"


class Limited(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests that may be limited: `per_minute` on average, and up to `burst` at once."""

    action: Action = "limit"
    per_minute: _PerMinute = 60.0
    burst: _Burst = 100


class Undeclared(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests of programs that name no robot, such as curl, and without a User-Agent; for each address, and for its
    network with all its addresses."""

    action: Action = "limit"
    per_minute: _PerMinute = 120.0
    burst: _Burst = 240
    network_per_minute: _PerMinute = 1200.0
    network_burst: _Burst = 2400
    rules: Literal["named", "all"] = "named"
    """Which groups of robots.txt they must obey: those that name them, or also those for `*`."""


class Browsers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Requests with the User-Agent of a browser or an app, for each address."""

    action: Literal["allow", "limit"] = "allow"
    per_minute: _PerMinute = 600.0
    burst: _Burst = 1200


class Policy(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole policy. The defaults are those of a gate without gate.toml."""

    mode: Mode = "enforce"
    contact: str = ""
    """Whom the refusal page names: a mail address or a URL."""
    unknown_rules: Literal["allow", "refuse"] = "allow"
    """What happens to robots while the robots.txt of a site could not be read since the gate was started."""
    proxies: tuple[str, ...] = ("127.0.0.0/8", "::1")
    """The Web servers that ask: only they are believed about the client's address."""
    reverse_dns: bool = True
    """Whether robots are also verified by reverse DNS, in the background."""
    keys: tuple[str, ...] = ()
    """Key directories for signatures: FILE or NAME=FILE."""
    addresses: Annotated[int, msgspec.Meta(ge=100, le=10_000_000)] = 100_000
    """Addresses and networks of which the gate remembers how fast they were; 0.2 kB each."""
    impostors: Impostors = Impostors()
    unverified: Limited = Limited()
    """Robots that cannot be verified."""
    undeclared: Undeclared = Undeclared()
    browsers: Browsers = Browsers()
    robots: Mapping[str, RobotAction] = {}
    """By the name of a robot, as in its record."""
    sites: Mapping[str, str] = {}
    """By the host, where its robots.txt is: a file or a URL."""

    def networks(self) -> list[IPv4Network | IPv6Network]:
        """Returns `proxies` as networks."""
        return [parse_address_or_range(text) for text in self.proxies]


def parse_policy(text: bytes, name: str = "gate.toml") -> Policy:
    """Reads a policy. Raises InputError, which names the file and the setting, for anything that is not one."""
    if len(text) > MOST_BYTES:
        raise InputError(f"{name} has more than {MOST_BYTES:,} bytes, which is too long for a policy")
    try:
        values = tomllib.loads(text.decode("utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{name} is not valid TOML: {error}") from error
    try:
        policy = msgspec.convert(values, Policy)
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: {_in_words(str(error), values)}") from error
    _check(policy, name)
    return policy


def _check(policy: Policy, name: str) -> None:
    for text in policy.proxies:
        try:
            parse_address_or_range(text)
        except ValueError as error:
            raise InputError(f"{name}: proxies: {quoted(text)} is neither an address nor a range") from error
    for host, source in policy.sites.items():
        if not host or "/" in host or host != host.strip():
            raise InputError(f"{name}: sites: {quoted(host)} is not the name of a host, such as example.org")
        if not source:
            raise InputError(f"{name}: sites: the place of the robots.txt of {quoted(host)} is empty")


def _in_words(message: str, values: Mapping[str, Any]) -> str:
    """Makes a message of msgspec readable: `Expected int, got str - at $.undeclared.burst`."""
    what, _, place = message.partition(" - at `")
    where = place.removesuffix("`").removeprefix("$").removeprefix(".")
    if what.startswith("Object contains unknown field"):
        field = what.partition("`")[2].rstrip("`")
        table = f"[{where}] has" if where else "there is"
        return f"{table} no setting {quoted(field)}; see goodbot gate --help"
    return f"{where or 'the file'}: {what[:1].lower()}{what[1:].replace('`', '')}"
