"""The policy of a gate, which is read from gate.toml: limits, exceptions for single robots, and the robots.txt of each
host."""

import re
import tomllib
from collections.abc import Mapping
from ipaddress import IPv4Network, IPv6Network
from typing import Annotated, Any, Final, Literal, get_args, get_origin, get_type_hints

import msgspec

from goodbot.errors import InputError, quoted
from goodbot.exclusion.text.shown_text import shown
from goodbot.gate.gate_request import host_of
from goodbot.registry import Registry
from goodbot.watch.remedies.targets import parse_address_or_range

Mode = Literal["observe", "enforce"]
"""`observe`: every request is answered with 200, and the log says what would have happened."""

Action = Literal["allow", "limit", "refuse"]

RobotAction = Literal["allow", "rules", "refuse"]
"""`rules`: what robots.txt says, as for every robot."""

MOST_BYTES: Final = 4 * 1024 * 1024
"""The largest gate.toml that is read."""

_MOST_SHOWN: Final = 300
_PLACE: Final = re.compile(r"(.*) - at `\$\.?(.*?)(\[\.\.\.\])?`", re.DOTALL)
_TYPE: Final = re.compile(r"`(\w+)`")
_TOML_NAMES: Final = {"str": "string", "int": "integer", "float": "number", "bool": "boolean", "object": "table"}

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
    except UnicodeDecodeError as error:
        line = text.count(b"\n", 0, error.start) + 1
        raise InputError(f"{name} is not valid TOML: line {line} is not UTF-8") from error
    except RecursionError as error:
        raise InputError(f"{name} is not valid TOML: it is nested too deeply") from error
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"{name} is not valid TOML: {shown(str(error), _MOST_SHOWN)}") from error
    except ValueError as error:  # of int()
        raise InputError(f"{name} is not valid TOML: a number has thousands of digits") from error
    try:
        policy = msgspec.convert(values, Policy)
    except msgspec.ValidationError as error:
        raise InputError(f"{name}: {_in_words(str(error), values)}") from error
    _check(policy, name)
    return policy


def with_recorded_names(policy: Policy, registry: Registry, name: str = "gate.toml") -> Policy:
    """Returns the policy with the names of robots as in their records: users may write product tokens, and in any case.
    Raises InputError, which names the file, for a robot that is not on record."""
    robots = {_recorded_name(text, registry, name): action for text, action in policy.robots.items()}
    return msgspec.structs.replace(policy, robots=robots)


def _recorded_name(text: str, registry: Registry, file: str) -> str:
    found = registry.find_named(text)
    if found is None:
        similar = registry.similar_tokens(text)
        more = f"did you mean {' or '.join(similar)}?" if similar else "goodbot who --list names those with a record"
        raise InputError(f"{file}: robots: no robot is called {quoted(text)}; {more}")
    return found.name


def _check(policy: Policy, name: str) -> None:
    for text in policy.proxies:
        try:
            parse_address_or_range(text)
        except ValueError as error:
            raise InputError(f"{name}: proxies: {quoted(text)} is neither an address nor a range") from error
        if parse_address_or_range(text).prefixlen == 0:
            raise InputError(f"{name}: proxies: {quoted(text)} would let every client name any address as its own")
    for host, source in policy.sites.items():
        if "*" in host:
            raise InputError(f"{name}: sites: {quoted(host)}: there are no wildcards; --robots is for all other hosts")
        if not host or "/" in host or host != host.strip():
            raise InputError(f"{name}: sites: {quoted(host)} is not the name of a host, such as example.org")
        if host_of(host) != host.lower().rstrip("."):
            raise InputError(f"{name}: sites: {quoted(host)}: write the host without port: {host_of(host)}")
        if not source:
            raise InputError(f"{name}: sites: the place of the robots.txt of {quoted(host)} is empty")


def _in_words(message: str, values: Mapping[str, Any]) -> str:
    """Makes a message of msgspec readable: `Expected `int`, got `str` - at `$.undeclared.burst``."""
    found = _PLACE.fullmatch(message)
    what, where, is_entry = found.groups() if found is not None else (message, "", None)
    if what.startswith("Object contains unknown field"):
        field = what.partition("`")[2].rstrip("`")
        table = f"[{where}] has" if where else "there is"
        return f"{table} no setting {quoted(field)}; docs/how-to/gate.md lists the settings"
    choices = get_args(RobotAction) if where == "robots" and is_entry else _choices(where)
    if is_entry:  # msgspec does not say which one
        wrong = (key for key, value in values[where].items() if value not in choices and not _is_place(where, value))
        where = f"{where}: {quoted(next(wrong, ''))}"
    if choices:
        return f"{where} must be {', '.join(choices[:-1])} or {choices[-1]}"
    expected = _TYPE.sub(lambda name: _TOML_NAMES.get(name[1], name[1]), what[:1].lower() + what[1:])
    return f"{where or 'the file'}: {expected}"


def _is_place(table: str, value: object) -> bool:
    return table == "sites" and isinstance(value, str)


def _choices(where: str) -> tuple[str, ...]:
    """Returns the values that a setting may have; empty if it is none with a choice."""
    kind: Any = Policy
    for name in where.split("."):
        kind = get_type_hints(kind).get(name)
    return get_args(kind) if get_origin(kind) is Literal else ()
