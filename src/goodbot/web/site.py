"""The search service as its operator set it up: its name, its address, its robot, and how many requests it accepts."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Rate:
    """Permits `burst` requests at once, and `per_minute` on average. `per_minute` 0: no limit."""

    per_minute: float
    burst: int


@dataclass(frozen=True, slots=True)
class Site:
    """The operator's choices for all pages.

    `public_url` is the URL at which visitors reach the home page if a reverse proxy is in front of this server; it ends
    in `/`. `proxy_strips_prefix`: the proxy removes the path of this URL from requests. `proxies` are the addresses or
    networks of proxies whose X-Forwarded-For is believed. `token` is the product token of the robot, `user_agent` its
    User-Agent, `contact` a mail address or URL. `submissions`: visitors may submit URLs; `removals`: owners of sites
    may have their pages removed. `copy_of` is set if a copy of an index is served: the URL of the original
    service, empty if it is unknown. `page_rate` limits the requests of one client address, `post_rate` those that
    change something.
    """

    name: str = "goodbot"
    public_url: str | None = None
    proxy_strips_prefix: bool = False
    proxies: tuple[str, ...] = ()
    token: str = "goodbot"
    user_agent: str = ""
    contact: str | None = None
    submissions: bool = True
    removals: bool = True
    copy_of: str | None = None
    page_rate: Rate = Rate(300, 60)
    post_rate: Rate = Rate(10, 10)

    @property
    def prefix(self) -> str:
        """The path under which a proxy publishes the pages, without a slash at its end: `/find`; empty if there is
        none."""
        return urlsplit(self.public_url).path.rstrip("/") if self.public_url else ""

    @property
    def public_host(self) -> str | None:
        """The host of `public_url`, in lower case and without a port."""
        return urlsplit(self.public_url).hostname if self.public_url else None

    @property
    def is_secure(self) -> bool:
        """Whether visitors use https, so that cookies may be limited to it."""
        return self.public_url is not None and self.public_url.startswith("https:")

    def absolute(self, request: Request, path: str) -> str:
        """Returns the absolute URL of a path that begins with `/`. Without a `public_url` it has the host that the
        request names."""
        base = self.public_url or str(request.base_url)
        return base.rstrip("/") + path
