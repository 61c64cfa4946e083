"""`goodbot serve`: serves the search of a crawl, pages about it, the robots.txt checker and a directory of robots."""

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.metadata import version
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from goodbot.cli.abandoned_threads import end_without_waiting
from goodbot.cli.command_class import Command
from goodbot.cli.options import base_settings, folders_option
from goodbot.cli.own_robots import data_folder
from goodbot.cli.printing import flush, say, say_folded, write_json
from goodbot.cli.serve_follow import as_copy, follow_options, start_following
from goodbot.cli.serve_options import invalid_serve_setting, serve_options, serve_settings, watch_options
from goodbot.cli.serve_services import ServedServices
from goodbot.cli.service_notice import READY, STOPPING, notify_systemd
from goodbot.config import Settings
from goodbot.crawl_admin import CrawlConsole
from goodbot.crawl_folder import CrawlFolder, index_lag, open_search_or_nothing
from goodbot.errors import InputError, SettingError
from goodbot.one_shot import robots_fetcher
from goodbot.ports import Search
from goodbot.registry import AddressBook
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.fetch.signing import WELL_KNOWN, Signer, signer_of
from goodbot.serve_settings import ServeSettings
from goodbot.visitors.services import VisitorServices, open_visitor_services
from goodbot.web import KeyDirectory, Rate, Site, create_app, serve

if TYPE_CHECKING:
    from goodbot.cli.serve_watch import LogWatch

_WATCH_NEEDS_CRAWL: Final = "--watch needs --in DIR with a crawl, whose token protects the page"

CONTROL_TIMEOUT_S = 4.0
"""How long a page that controls the crawl waits for its response."""


@click.command(
    name="serve",
    cls=Command,
    output=False,
    default_log_level="warning",
    examples="""
    goodbot serve --in crawl --port 8020
    goodbot serve --in crawl --name 'Library search' --public-url https://example.org/find/ --trusted-proxy 127.0.0.1
    goodbot serve --in crawl --watch /var/log/nginx --watch-robots robots.txt
    goodbot serve --in /srv/machine1 --in /srv/machine2
    goodbot serve --follow https://example.org/copies/
    goodbot serve --in crawl --with https://search.example.org/
    goodbot serve            # the checker and the robots directory alone
    """,
)
@folders_option(
    "Folder of a crawl or of imported documents. Repeatable: several are searched as one. Without it and "
    "--follow, only the checker and the robots directory are served."
)
@serve_options
@watch_options
@follow_options
@click.option("--host", "old_listen", hidden=True)
def command(
    folders: tuple[Path, ...],
    old_listen: str | None,
    watched: tuple[str, ...],
    watch_robots: str | None,
    places: tuple[str, ...],
    copies: Path | None,
    follow_every: str | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Serve the search of a crawl, pages about it, a robots.txt checker and a robots directory, until Ctrl-C, SIGTERM
    or SIGHUP.

    The crawl may be running, paused or finished, and need not have an index yet; DIR may also be a folder made by
    `goodbot index import`. With --follow, the server searches the latest snapshot of an index that another machine
    keeps; it goes on answering while a newer one is fetched, or if the source is away. Without --in and --follow only
    the checker and the robots directory are served.

    Several folders, such as those of the machines of one crawl, are searched as one index: hits and their order are
    those of an index of all their pages, and pages that were removed in one of them stay hidden. Cached copies come
    from all folders; settings, crawl pages, submissions and removals are those of the first one.

    docs/how-to/run-a-search-service.md sets this up with systemd and nginx.

    Pages for visitors:

    \b
    /              the search form
    /search?q=&page=  results, ten per page; site=, lang=, type=, after= and
                   before= filter them; others=1 also asks the services of
                   --with
    /cached?url=   the copy of a page in the archive
    /explain?q=&url=  why a page has its place in the results
    /why?url=      why a page is not found: its history
    /submit        submits a URL to the crawl
    /removal       removes pages for the owner of their site
    /check         checks a robots.txt while you type
    /robots        the robots directory: who operates them, how to
                   address and verify them; a page about each
    /robots/draft  drafts a record for a robot that is missing there
    /help, /about  how to write a query; about the robot

    For programs (/openapi.json describes the API, docs/reference/http.md every path):

    \b
    /api/search?q=&page=   results as JSON; /search.atom?q= as a feed
    /api/suggest?q=        completions of a query (OpenSearch suggestions)
    /api/explain?q=&url=   parts of the score of a page
    /api/why?url=          the history of a URL
    /api/robots?q=         the robots directory
    POST /api/submit       {"url": "…"} submits a URL
    POST /api/check        {"robots": "…"} or {"site": "URL"}, and "agent",
                           "url"
    POST /indexnow         takes announcements of changed URLs (IndexNow); also GET
    /opensearch.xml        adds the search to a browser
    /searxng.yml           adds the search to SearXNG
    POST /1/indexes/*/queries  searches for DocSearch, the search box of
                           documentation sites
    /metrics, /healthz     figures for Prometheus; a health check
    /robots.txt, /sitemap.xml  what robots may visit here
    /.well-known/http-message-signatures-directory  the public key of a
                           crawl with --sign

    For the operator (goodbot serve prints a link with the token): /crawl shows the crawl, its hosts, URLs not fetched
    and courtesy, and can pause, resume and stop it. With --watch, /crawl/watch shows live which robots visit your own
    Web server, as goodbot watch does. All other pages are open to everyone who can reach this server.

    With a crawl made with --no-index, everything works except search. A copy (--follow) has no crawl pages,
    submissions, removals, cached copies or histories. For the checker, removals and IndexNow, the server fetches from
    public sites only, and only if a contact is set. It also fetches from the source of --follow, and sends queries to
    the services of --with if visitors switch that on; docs/how-to/federated-search.md describes it.

    Exit status: 0: ended with Ctrl-C, SIGTERM or SIGHUP (the terminal was closed); 2: bad input, such as an invalid
    setting, a DIR that holds neither a crawl nor an index, or one that is given twice; 3: cannot listen on that address
    and port, the index of a crawl is missing or damaged, there is no snapshot to follow, or another server uses the
    folder of --into.
    """
    folder = folders[0] if folders else None
    settings = _settings(folder)
    served = serve_settings(folder, options | ({"listen": old_listen} if old_listen is not None else {}))
    if places and watched:
        raise InputError(_WATCH_NEEDS_CRAWL)
    following = start_following(places, copies, follow_every, folders)
    site, signer = site_of(served, settings), signer_of(settings)
    opened = _open(folders, settings, served)
    if following is not None:
        site, opened = as_copy(site, following.origin), Opened(following.search)
    keys = KeyDirectory(signer.key, signer.agent.authority) if signer else None
    book = AddressBook(data_folder())
    logs = _log_watch(watched, watch_robots, opened)
    copy = following.state if following is not None else None
    robots = robots_fetcher(settings)
    try:
        services = ServedServices(served, has_search=opened.search is not None)
    except SettingError as error:
        raise invalid_serve_setting(error, folder, options) from error
    parts = opened.search, site, opened.crawl, keys, robots, opened.visitors, book, logs
    app = create_app(*parts, federation=services.federation, copy=copy)

    def ready(url: str) -> None:
        urls = urls_of(url, site, opened, signer)
        _print_json(urls) if as_json else _print_urls(urls, signer, has_search=opened.search is not None)
        for line in _warnings(folders, served, site):
            say(line, err=True)
        if logs is not None:
            logs.start()
        services.start(url, site.public_url)
        notify_systemd(READY)

    def stopping() -> None:
        notify_systemd(STOPPING)
        if logs is not None:
            logs.stop()
        if following is not None:
            following.stop()
        services.stop()

    serve(app, served.listen, served.port, ready, public_host=site.public_host, on_stop=stopping)
    end_without_waiting()


def _log_watch(names: tuple[str, ...], robots: str | None, opened: "Opened") -> "LogWatch | None":
    """Returns what follows the logs of `--watch`. Raises InputError if these options cannot be used."""
    if robots is not None and not names:
        raise InputError("--watch-robots needs --watch LOG")
    if not names:
        return None
    if opened.crawl is None:
        raise InputError(_WATCH_NEEDS_CRAWL)
    from goodbot.cli.serve_watch import LogWatch, check_watched  # noqa: PLC0415  (the other pages do not need it)

    for line in check_watched(names):
        say_folded(f"goodbot: {line}", err=True)
    return LogWatch(names, robots)


def _settings(folder: Path | None) -> Settings:
    """Reads the settings in force. Raises InputError if there is no crawl in `folder`."""
    base = base_settings()
    if folder is None:
        return base
    crawl_folder = CrawlFolder(folder)
    if crawl_folder.is_import:
        return base
    crawl_folder.check()
    return crawl_folder.settings(base)


@dataclass(frozen=True, slots=True)
class Opened:
    """What is served of a crawl. Imported documents have neither a `crawl` nor services for visitors."""

    search: Search | None = None
    crawl: CrawlConsole | None = None
    visitors: VisitorServices | None = None


def _open(folders: Sequence[Path], settings: Settings, served: ServeSettings) -> Opened:
    """Opens crawls or imported documents, so that all threads of the server can use them."""
    if not folders:
        return Opened()
    first, *others = folders
    for folder in others:
        _settings(folder)
    if CrawlFolder(first).is_import:
        return Opened(open_search_or_nothing(folders))
    return open_crawl(first, settings, others, takes_urls=served.submissions)


def open_crawl(folder: Path, settings: Settings, others: Sequence[Path] = (), *, takes_urls: bool = True) -> Opened:
    """Opens a crawl, which may be running, with everything that `goodbot serve` offers for it. Its search also finds
    the pages of the folders `others`. `takes_urls`: visitors may submit URLs."""
    crawl = CrawlConsole(folder, CONTROL_TIMEOUT_S)
    visitors = open_visitor_services(folder, settings, others, takes_urls=takes_urls)
    return Opened(open_search_or_nothing([folder, *others], visitors.hidden), crawl, visitors)


def site_of(served: ServeSettings, crawl: Settings) -> Site:
    """Returns the site that these settings describe. `crawl`: the settings of the crawl that is served."""
    identity = identity_of(crawl, version("goodbot"))
    return Site(
        name=served.name,
        public_url=served.public_url,
        proxy_strips_prefix=served.proxy_strips_prefix,
        proxies=served.trusted_proxies,
        token=identity.token,
        user_agent=identity.user_agent,
        contact=crawl.contact,
        submissions=served.submissions,
        removals=served.removals,
        page_rate=Rate(served.page_rate, served.page_burst),
        post_rate=Rate(served.post_rate, served.post_burst),
    )


def _warnings(folders: Sequence[Path], served: ServeSettings, site: Site) -> list[str]:
    """Returns what the operator should know or change, in one line each."""
    lags = [(folder, index_lag(folder).why) for folder in folders]
    lines = [f"{folder}: {why}" if len(folders) > 1 else why for folder, why in lags if why]
    if _is_wildcard(served.listen) and served.public_url is None:
        lines.append(
            f"listening on every address of this machine ({served.listen}): give the URL that visitors use: "
            "--public-url URL"
        )
    if not site.contact:
        lines.append("no contact is set, so owners of sites and visitors cannot reach you: set contact in goodbot.toml")
    return lines


def _is_wildcard(address: str) -> bool:
    try:
        return ip_address(address).is_unspecified
    except ValueError:
        return False


@dataclass(frozen=True, slots=True)
class ServedUrls:
    """Where a service is: `home` on this machine, `public` for visitors. `crawl`, the operator's link, has the token of
    the crawl."""

    home: str
    public: str | None
    crawl: str | None
    check: str
    keys: str | None


def urls_of(url: str, site: Site, opened: Opened, signer: Signer | None) -> ServedUrls:
    """Returns the URLs of a service that answers at `url`."""
    crawl = None
    if opened.crawl is not None:
        crawl = f"{url}crawl" + (f"?token={opened.crawl.token}" if opened.crawl.token else "")
    return ServedUrls(url, site.public_url, crawl, f"{url}check", f"{url}{WELL_KNOWN[1:]}" if signer else None)


def _print_urls(urls: ServedUrls, signer: Signer | None, *, has_search: bool) -> None:
    public = f"; visitors use {urls.public}" if urls.public else ""
    if has_search:
        say(f"search page on {urls.home} (Ctrl-C ends it){public}", err=True)
    else:
        say(f"robots.txt checker on {urls.check} (Ctrl-C ends it){public}", err=True)
        say("no crawl is served: give one with --in DIR", err=True)
    if urls.crawl is not None:
        say(f"operator's pages on {urls.crawl}", err=True)
    if signer:
        say(f"key directory on {urls.keys}; signatures name {signer.agent}", err=True)


def _print_json(urls: ServedUrls) -> None:
    write_json(
        {
            "url": urls.home,
            "public_url": urls.public,
            "crawl_url": urls.crawl,
            "check_url": urls.check,
            "key_directory": urls.keys,
        }
    )
    flush()
