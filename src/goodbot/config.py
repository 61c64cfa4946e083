"""goodbot.toml → frozen settings. One record per setting feeds the options, their help and the reference.

In force, from weakest to strongest: the defaults here, `goodbot.toml`, `GOODBOT_…` in the environment (read by the
command line only), `goodbot.toml` in the folder of a crawl that is resumed, options.
"""

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin

from goodbot.errors import InputError, RunError

FILE_NAME = "goodbot.toml"

ScopeKind = Literal["page", "prefix", "host", "domain", "all"]


def _setting(default: Any, help_: str, reason: str = "", *, internal: bool = False) -> Any:
    """`help_`: one line for `--help`; `reason`: why the default is what it is; `internal`: not an option of `crawl`."""
    return field(default=default, metadata={"help": help_, "reason": reason, "internal": internal})


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything a crawl can be told. Times in seconds, sizes in bytes."""

    seeds: tuple[str, ...] = _setting((), "URLs the crawl starts from", internal=True)
    scope: ScopeKind = _setting(
        "host",
        "Which links belong to the crawl, as seen from the seeds",
        "staying on the seeds' hosts surprises nobody",
    )
    depth: int | None = _setting(None, "How many links away from a seed to go; no bound if not given")
    concurrency: int = _setting(64, "Requests in flight at most", "each costs a socket, and memory for a body")
    per_host: int = _setting(1, "Requests in flight to one host at most", "one at a time is the manner of the trade")
    delay: float | None = _setting(
        None,
        "Least seconds from an answer to the next request of the same host; never lowers what a site asks",
        "1 for public hosts and 0 for private ones if not given: a private host is the user's own",
    )
    agent: str = _setting("goodbot", "Product token the robot goes by, in User-Agent and in robots.txt")
    contact: str | None = _setting(
        None,
        "Address or URL where a site's owner reaches you; needed for public hosts",
        "RFC 9110 10.1.2, RFC 9309 2.2.1",
    )
    allow_private: bool = _setting(
        False, "Open the private address range each seed lies in", "links from outside must not reach inside"
    )
    ca_file: str | None = _setting(None, "File of certificate authorities to trust instead of the system's")
    resolve: tuple[str, ...] = _setting((), "HOST:PORT:ADDRESS to connect to instead of asking the resolver")
    proxy: str | None = _setting(
        None, "Proxy to fetch through", "the environment's proxy settings are not used unasked"
    )
    index: bool = _setting(True, "Index the pages that let themselves be indexed")
    archive: bool = _setting(True, "Keep what was fetched in WARC files")
    body_limit: int = _setting(
        10 * 1024 * 1024,
        "Bytes of one answer kept at most",
        "the rest of a longer one is cut and marked",
        internal=True,
    )
    decoded_limit: int = _setting(
        20 * 1024 * 1024, "Bytes read of one answer once decompressed", "bounds gzip, br and zstd bombs", internal=True
    )
    connect_timeout: float = _setting(15.0, "Seconds to connect", "three SYN retries take 7 s (Linux)", internal=True)
    timeout: float = _setting(60.0, "Seconds for one whole answer", "ends slow drips", internal=True)
    idle_timeout: float = _setting(20.0, "Seconds without a byte after which a transfer ends", internal=True)
    tries: int = _setting(
        3, "Fetches of one URL before it is `failed`", "most faults that pass, pass at once", internal=True
    )
    retry_first: float = _setting(2.0, "Seconds before a failed fetch is tried again; doubled each time", internal=True)
    robots_tries: int = _setting(
        4, "Fetches of robots.txt without any answer before a host's URLs are `failed`", internal=True
    )
    robots_retry_first: float = _setting(
        2.0,
        "Seconds before an unreachable robots.txt is asked again; tripled each time",
        "2, 6, 18: half a minute bridges a restart of a server",
        internal=True,
    )
    backoff_first: float = _setting(
        1.0,
        "Seconds a host is left alone after its first 429 or 503 that names no time; doubled each time",
        internal=True,
    )
    backoff_most: float = _setting(3600.0, "Seconds a host's own trouble adds at most", internal=True)
    max_lease_urls: int = _setting(
        64, "URLs of one host leased at once", "a lease is a transaction, whose cost they share", internal=True
    )

    def __post_init__(self) -> None:
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is not None and not least <= value < _MOST:
                raise InputError(f"{name.replace('_', '-')} must be at least {least} and below {_MOST:.0e}: {value}")


_LEAST: dict[str, float] = {
    "depth": 0,
    "concurrency": 1,
    "per_host": 1,
    "delay": 0,
    "body_limit": 512 * 1024,
    "decoded_limit": 512 * 1024,
    "connect_timeout": 0.1,
    "timeout": 0.1,
    "idle_timeout": 1,
    "tries": 1,
    "retry_first": 0,
    "robots_tries": 1,
    "robots_retry_first": 0,
    "backoff_first": 0,
    "backoff_most": 0,
    "max_lease_urls": 1,
}
_MOST = 1e12


def load_settings(file: Path, base: Settings) -> Settings:
    """`base` with what the file says. Raises InputError for a file that is not TOML, an unknown key or a wrong type."""
    try:
        text = file.read_text(encoding="utf-8")
        values = tomllib.loads(text)
    except OSError as error:
        raise InputError(f"cannot read {file}: {error.strerror}") from error
    except (UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"{file} is not TOML: {error}") from error
    return with_values(base, values, origin=str(file))


def save_settings(file: Path, settings: Settings) -> None:
    """Writes what differs from the defaults, so that better defaults reach old crawls. Raises RunError if it cannot."""
    lines = ["# What was asked of this crawl. `goodbot crawl --into` this folder resumes it."]
    for item in fields(Settings):
        value = getattr(settings, item.name)
        if value != item.default:
            lines.append(f"{item.name} = {json.dumps(list(value) if isinstance(value, tuple) else value)}")
    try:
        file.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise RunError(f"cannot write {file}: {error.strerror}") from error


def from_environment(base: Settings, environment: Mapping[str, str]) -> Settings:
    """`base` with `GOODBOT_SCOPE=…` and the like; several values of one setting are separated by blanks."""
    names = {f"GOODBOT_{item.name.upper()}": item.name for item in fields(Settings)}
    values: dict[str, Any] = {}
    for variable, text in environment.items():
        if variable in names:
            values[names[variable]] = _from_text(names[variable], text, variable)
    return with_values(base, values, origin="environment")


def with_values(base: Settings, values: Mapping[str, Any], origin: str) -> Settings:
    """`base` with `values` by setting name; `origin` is named in errors."""
    known = {item.name: item.type for item in fields(Settings)}
    clean: dict[str, Any] = {}
    for name, value in values.items():
        if name not in known:
            raise InputError(f"{origin}: unknown setting {name!r}")
        clean[name] = _checked(known[name], value, f"{origin}: {name}")
    try:
        return replace(base, **clean)
    except InputError as error:
        raise InputError(f"{origin}: {error}") from error


def _from_text(name: str, text: str, variable: str) -> Any:
    wanted = next(item.type for item in fields(Settings) if item.name == name)
    options = get_args(wanted) if isinstance(wanted, UnionType) else (wanted,)
    if get_origin(wanted) is tuple:
        return text.split()
    if bool in options:
        if text.lower() not in ("1", "0", "true", "false", "yes", "no"):
            raise InputError(f"{variable} must be true or false: {text!r}")
        return text.lower() in ("1", "true", "yes")
    for kind in (int, float):
        if kind in options:
            try:
                return kind(text)
            except ValueError:
                raise InputError(f"{variable} must be a number: {text!r}") from None
    return text


def _checked(wanted: Any, value: Any, where: str) -> Any:
    """`value` as the type the setting has, or InputError."""
    options = get_args(wanted) if isinstance(wanted, UnionType) else (wanted,)
    if get_origin(wanted) is tuple and isinstance(value, list | tuple) and all(isinstance(item, str) for item in value):
        return tuple(value)
    if get_origin(wanted) is Literal:
        if value in get_args(wanted):
            return value
        raise InputError(f"{where} must be one of {', '.join(get_args(wanted))}: {value!r}")
    if float in options and isinstance(value, int) and not isinstance(value, bool):
        return float(value)
    if any(isinstance(option, type) and type(value) is option for option in options):
        return value
    raise InputError(f"{where} has the wrong type: {value!r}")
