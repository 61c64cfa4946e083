"""Decides which links and which answers belong to a crawl, and gives a reason for each refusal. Pure."""

from bisect import bisect_right
from collections.abc import Iterable
from functools import lru_cache

from goodbot.config import ScopeKind, Settings
from goodbot.errors import InputError
from goodbot.human import counted
from goodbot.robot.fetch.guard import AddressGuard, no_contact
from goodbot.robot.scope.globs import parse_type_globs, parse_url_globs
from goodbot.url import MAX_HOST_CHARS, Url, is_private_host, reached_address

HOSTS_JUDGED = 1 << 12
"""Hosts whose judgement is remembered: 1 MB."""


class Scope:
    """The bounds of one crawl: its depth, the allowed private ranges, the user's globs, and the kind of scope.

    A URL is in scope if none of these refuses it. If `guard` refuses public addresses, URLs whose host is a public
    address are out of scope; the guard judges host names later, once their address is known. The scope keeps only the
    parts of the seeds that its kind compares: hosts, domains, folders, whole URLs or nothing. Raises InputError for an
    invalid glob or media type.
    """

    def __init__(self, settings: Settings, seeds: Iterable[Url], guard: AddressGuard) -> None:
        self._draw(settings, frozenset(_members(settings.scope, seeds)), guard)

    def __getstate__(self) -> tuple[Settings, frozenset[str], AddressGuard]:
        """Returns what the bounds are made from; another process makes them anew."""
        return self._settings, self._members, self._guard

    def __setstate__(self, state: tuple[Settings, frozenset[str], AddressGuard]) -> None:
        self._draw(*state)

    def _draw(self, settings: Settings, members: frozenset[str], guard: AddressGuard) -> None:
        self._settings = settings
        self._members = members
        self._depth = settings.depth
        self._max_size = settings.max_size
        self._guard = guard
        self._exclude = parse_url_globs(settings.exclude, "--exclude")
        self._include = parse_url_globs(settings.include, "--include")
        self._types = parse_type_globs(settings.types, "--type")
        self._has_rules = bool(settings.include or settings.exclude)
        self._kind: ScopeKind = settings.scope
        self._folders = _outermost(members) if settings.scope == "prefix" else []
        self._of_host = lru_cache(maxsize=HOSTS_JUDGED)(self._judge_host)

    def refuse(self, url: Url, depth: int) -> str | None:
        """Returns why a URL found `depth` links away from a seed is out of scope; None if it is in scope."""
        if self._depth is not None and depth > self._depth:
            return f"{counted(depth, 'link')} away from a seed, further than --depth {self._depth}"
        host = url.host
        if len(host) > MAX_HOST_CHARS:
            return f"its host name has more than {MAX_HOST_CHARS} characters (RFC 1035)"
        private, elsewhere = self._of_host(host)
        if private is not None:
            return private
        if self._has_rules and (reason := self._refuse_by_rules(url)):
            return reason
        if elsewhere is not None:
            return elsewhere
        if self._kind == "page" and url.text not in self._members:
            return "not one of the seeds (--scope page)"
        if self._kind == "prefix" and not self._in_a_folder(url.text):
            return "not below the folder of a seed (--scope prefix)"
        return None

    def check_seed(self, seed: Url) -> None:
        """Raises InputError for a seed that the user's own globs exclude."""
        if reason := self._refuse_by_rules(seed):
            raise InputError(f"the seed {seed} is out of scope: {reason}")

    def refuse_answer(self, media_type: str, size_bytes: int) -> str | None:
        """Returns why an answer is not read, indexed or kept; None if it is. `media_type` is empty if none was stated,
        `size_bytes` is the length of the body as received."""
        if self._types.globs and self._types.first(media_type) is None:
            stated = media_type or "an answer without a media type"
            return f"{stated} does not match --type {' '.join(self._types.globs)}"
        if self._max_size is not None and size_bytes > self._max_size:
            return f"longer than --max-size {self._max_size} bytes"
        return None

    def _refuse_by_rules(self, url: Url) -> str | None:
        excluded = self._exclude.first(url.text)
        if excluded is not None:
            return f"excluded by --exclude {excluded}"
        if self._include.globs and self._include.first(url.text) is None:
            first, *others = self._include.globs
            return f"matches none of --include {first}" + (f" and {len(others)} more" if others else "")
        return None

    def _judge_host(self, host: str) -> tuple[str | None, str | None]:
        """Returns why the host may not be reached, and why the kind of scope excludes it; None for each that does not
        apply."""
        private = elsewhere = None
        if is_private_host(host) and not self._opened(host):
            private = f"{host} is a private address; --allow-private opens only the ranges the seeds lie in"
        if self._kind == "host" and host not in self._members:
            elsewhere = f"{host} is not the host of a seed (--scope host)"
        if self._kind == "domain" and (site := _site(host)) not in self._members:
            elsewhere = f"{site} is not the domain of a seed (--scope domain)"
        if elsewhere is None and not self._guard.public and _is_public_address(host):
            elsewhere = no_contact(host)
        return private, elsewhere

    def _opened(self, host: str) -> bool:
        address = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host
        return self._guard.permits(address, public_only=False)

    def _in_a_folder(self, text: str) -> bool:
        # No folder lies in another, so only the last one sorted before the text can be its beginning.
        place = bisect_right(self._folders, text) - 1
        return place >= 0 and text.startswith(self._folders[place])


def _members(kind: ScopeKind, seeds: Iterable[Url]) -> Iterable[str]:
    match kind:
        case "page":
            return (seed.text for seed in seeds)
        case "prefix":
            return (seed.origin + seed.path[: seed.path.rindex("/") + 1] for seed in seeds)
        case "host":
            return (seed.host for seed in seeds)
        case "domain":
            return (_site(host) for host in {seed.host for seed in seeds})
        case "all":
            return ()
    raise InputError(f"there is no scope {kind!r}")


@lru_cache(maxsize=HOSTS_JUDGED)
def _site(host: str) -> str:
    return Url(f"http://[{host}]/" if ":" in host else f"http://{host}/").site


def _is_public_address(host: str) -> bool:
    return reached_address(host) is not None and not is_private_host(host)


def _outermost(folders: Iterable[str]) -> list[str]:
    """Returns the folders sorted, without those that lie in another."""
    kept: list[str] = []
    for folder in sorted(folders):
        if not kept or not folder.startswith(kept[-1]):
            kept.append(folder)
    return kept
