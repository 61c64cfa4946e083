"""Which links belong to this crawl. Pure; every no is a sentence."""

from collections.abc import Iterable

from goodbot.config import ScopeKind
from goodbot.robot.guard import AddressGuard
from goodbot.url import Url, is_private_host


class Scope:
    """The bounds of one crawl, drawn by its seeds. `depth`: links away from a seed at most, None for no bound."""

    def __init__(self, kind: ScopeKind, seeds: Iterable[Url], depth: int | None, guard: AddressGuard) -> None:
        seeds = tuple(seeds)
        self._kind = kind
        self._depth = depth
        self._guard = guard
        self._pages = frozenset(seeds)
        self._hosts = frozenset(seed.host for seed in seeds)
        self._sites = frozenset(seed.site for seed in seeds)
        self._prefixes = tuple(seed.origin + seed.path[: seed.path.rindex("/") + 1] for seed in seeds)

    def refuse(self, url: Url, depth: int) -> str | None:
        """Why a URL found `depth` links away from a seed does not belong; None if it does."""
        if self._depth is not None and depth > self._depth:
            return f"{depth} links away from a seed, further than --depth {self._depth}"
        if is_private_host(url.host) and not self._opened(url.host):
            return f"{url.host} is a private address; --allow-private opens only the ranges the seeds lie in"
        return self._refuse_by_kind(url)

    def _refuse_by_kind(self, url: Url) -> str | None:
        match self._kind:
            case "page" if url not in self._pages:
                return "not one of the seeds (--scope page)"
            case "prefix" if not url.text.startswith(self._prefixes):
                return "not below the folder of a seed (--scope prefix)"
            case "host" if url.host not in self._hosts:
                return f"{url.host} is not the host of a seed (--scope host)"
            case "domain" if url.site not in self._sites:
                return f"{url.site} is not the domain of a seed (--scope domain)"
        return None

    def _opened(self, host: str) -> bool:
        address = "127.0.0.1" if host == "localhost" or host.endswith(".localhost") else host
        return self._guard.permits(address, public_only=False)
