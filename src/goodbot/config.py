"""Frozen settings. One record per setting feeds the options, their help and the reference.

In force, from weakest to strongest: the defaults here, `goodbot.toml`, `GOODBOT_…` in the environment (read by the
command line only), `goodbot.toml` in the folder of a crawl that is resumed, options.
"""

import os
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin

from goodbot.errors import InputError, SettingError
from goodbot.exclusion.dialects import DIALECTS, find_dialect

ScopeKind = Literal["page", "prefix", "host", "domain", "all"]
FollowRel = Literal["both", "ugc", "sponsored", "none"]
SignatureAgentForm = Literal["october", "august", "string"]


def _setting(default: Any, help_: str, reason: str = "", *, internal: bool = False, secret: bool = False) -> Any:
    """`help_`: one line for `--help`; `reason`: why the default is what it is; `internal`: not an option of `crawl`;
    `secret`: never written or shown."""
    metadata = {"help": help_, "reason": reason, "internal": internal, "secret": secret}
    return field(default=default, repr=not secret, metadata=metadata)


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
    include: tuple[str, ...] = _setting(
        (),
        "Only URLs that match one of these globs belong: over the whole URL, * any run, ? any one character, [?] a ?",
    )
    exclude: tuple[str, ...] = _setting((), "URLs that match one of these globs do not belong, included or not")
    types: tuple[str, ...] = _setting(
        (), "Read, index and keep only answers of these media types, such as text/html or 'text/*'"
    )
    max_size: int | None = _setting(
        None,
        "Give up answers longer than this many bytes (10M: 10 million)",
        "if not given, the first 10 MiB of a longer answer are kept",
    )
    workers: int | None = _setting(
        None,
        "Robot processes; each host belongs to one of them",
        "as many as the machine has cores if not given, and never more than hosts that can be in play",
    )
    concurrency: int = _setting(64, "Requests in flight at most", "each costs a socket, and memory for a body")
    per_host: int = _setting(1, "Requests in flight to one host at most", "one at a time is the manner of the trade")
    host_pages: int | None = _setting(
        None, "Pages of one host visited at most; no bound if not given; what is beyond is left out of the crawl"
    )
    host_lists: int = _setting(
        1000,
        "Most sitemaps, sitemap indexes and feeds, named as such by robots.txt or a sitemap index, that a crawl reads "
        "from one host in a day; the others wait for the next run, or for the next visit of the index that names them",
        "1,000 sitemaps may name 50 million URLs, 18 months of pages at one a second; sitemaps and pages take turns",
        internal=True,
    )
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
    sign: str | None = _setting(
        None, "File of the key every request is signed with (Web Bot Auth); `goodbot key new` makes one"
    )
    signature_agent: str | None = _setting(
        None, "https URL where the public key is served, for those who verify signatures; needed with --sign"
    )
    signature_agent_form: SignatureAgentForm = _setting(
        "october",
        "How Signature-Agent is written: the URL of the keys, a site with type=directory, or a site as a bare string",
        "the drafts of October and August 2026 and those before differ; october is the newest",
    )
    dialect: str = _setting(
        "rfc9309",
        f"How robots.txt is read: {', '.join(DIALECTS)}",
        "the standard; the others are for crawls that must do as a certain robot does",
    )
    follow_rel: FollowRel = _setting(
        "both",
        "Which links are followed though marked by rel: ugc, sponsored, both or none; nofollow never is",
        "they are hints about who stands behind a link, not about what may be fetched",
    )
    clean_urls: bool = _setting(
        True,
        "Take out of links what only says who sent the visitor or who the visitor is (utm_*, gclid, PHPSESSID…), and "
        "what the site's Clean-param names",
        "the same page is not fetched under ever new names",
    )
    duplicates: bool = _setting(
        True,
        "Index one of pages that say the same: by canonical, by their bytes, by their text; leave out whole mirrors",
        "copies crowd out what there is to be found",
    )
    traps: bool = _setting(
        True,
        "Stop at pages without end that say nothing new: repeating paths, calendars, session ids, soft 404, and sites "
        "whose pages lead to ever new URLs and say nothing new",
        "`goodbot why` has the evidence; a crawl of 27 real sites (79,922 URLs) lost no page",
    )
    trap_pages: int = _setting(
        1000,
        "Pages of one origin (half as many of a folder) that may lead to new URLs and say nothing new before the crawl "
        "leaves it",
        "25 generated traps ended after 520 to 4,070 pages; an honest site of numbers or captions has room for 8,000 "
        "to 16,000 pages, half as many in one folder",
        internal=True,
    )
    sitemaps: bool = _setting(
        True,
        "Take up the sitemaps that robots.txt files name, as far as they and what they list are in scope",
        "they name what no page links to, and say what has changed",
    )
    allow_private: bool = _setting(
        False, "Open the private address range each seed lies in", "links from outside must not reach inside"
    )
    ca_file: str | None = _setting(None, "File of certificate authorities to trust instead of the system's")
    resolve: tuple[str, ...] = _setting((), "HOST:PORT:ADDRESS to connect to instead of asking the resolver")
    nameservers: tuple[str, ...] = _setting(
        (), "ADDRESS or ADDRESS:PORT of name servers to ask instead of the system's", internal=True
    )
    auth: tuple[str, ...] = _setting(
        (),
        "HOST=basic:USER:PASSWORD or HOST=bearer:TOKEN: sent to that host alone, over TLS and at port 443, or at the "
        "port named: HOST:PORT=…; http://HOST=… sends it in the clear, as is done to private addresses. Not kept with "
        "a crawl: to be given again when it is resumed",
        "not an option, since others can see those",
        internal=True,
        secret=True,
    )
    cookies: bool = _setting(
        False,
        "Send back the cookies a host sets, to that host alone, until the robot ends",
        "pages that differ by visitor are not what others see",
        internal=True,
    )
    proxy: str | None = _setting(
        None, "Proxy to fetch through", "the environment's proxy settings are not used unasked"
    )
    render: bool = _setting(
        False,
        "Let scripts run before a page is read, in Chromium: every request of theirs is put to the same verdicts and "
        "fetched by the robot. Needs goodbot[render], and one robot process does it whatever --workers says",
        "a page takes about a second of a core, the browser 400 MB",
    )
    render_executable: str | None = _setting(
        None,
        "Chromium or Chrome to render with",
        "Playwright's own if it is installed, else one on PATH",
        internal=True,
    )
    render_time: float = _setting(
        30.0,
        "Seconds for a page to render; what its scripts have made of it by then is read",
        "twenty scripts of one public host, asked one a second, and time to run",
        internal=True,
    )
    render_requests: int = _setting(
        50, "Requests one page may make while it renders", "what one page may cost its hosts", internal=True
    )
    index: bool = _setting(True, "Index the pages that let themselves be indexed")
    archive: bool = _setting(True, "Keep what was fetched in WARC files")
    body_limit: int = _setting(
        10 * 1024 * 1024,
        "Bytes of one answer kept at most, if max_size is not set",
        "a longer one is cut there, and marked",
        internal=True,
    )
    bodies_limit: int = _setting(
        64 * 1024 * 1024,
        "Most bytes of long answers (over 256 KiB) that all robot processes together hold at once; transfers pause "
        "until there is room",
        "room for six answers of the greatest length; a crawl whose every answer is that long stays under 400 MB",
        internal=True,
    )
    documents_at_once: int = _setting(
        2,
        "Most documents read at once in processes of their own; every robot process may read at least one",
        "each keeps a core busy for up to six seconds, and takes up to 136 MiB",
        internal=True,
    )
    decoded_limit: int = _setting(
        2 * 1024 * 1024,
        "Bytes read of a page once decompressed; the rest is kept, but neither indexed nor searched for links (of a "
        "sitemap or feed: 50 MiB; of a PDF: document_limit)",
        "bounds gzip, br and zstd bombs; what is made of a page takes up to 24 times its size in memory",
        internal=True,
    )
    document_limit: int = _setting(
        10 * 1024 * 1024,
        "Bytes read of a PDF once decompressed",
        "a PDF cannot be read without its end, and grows only in a process of its own; 10 MiB is what is fetched",
        internal=True,
    )
    warc_size: int = _setting(
        1_000_000_000,
        "Bytes after which a new WARC file is begun",
        "the target size that the WARC standard names; some 180,000 pages",
        internal=True,
    )
    connect_timeout: float = _setting(15.0, "Seconds to connect", "three SYN retries take 7 s (Linux)", internal=True)
    timeout: float = _setting(60.0, "Seconds for one whole answer", "ends slow drips", internal=True)
    idle_timeout: float = _setting(
        20.0,
        "Seconds without a byte of the body after which a transfer ends, the wait for the first one included: header "
        "fields are not counted. Rounded up to whole seconds",
        internal=True,
    )
    tries: int = _setting(
        3, "Fetches of one URL before it is `failed`", "most faults that pass, pass at once", internal=True
    )
    retry_first: float = _setting(2.0, "Seconds before a failed fetch is tried again; doubled each time", internal=True)
    robots_tries: int = _setting(
        4,
        "Fetches of robots.txt without any answer before a host's URLs are `failed`",
        "a site whose rules nobody can learn is left alone, and a crawl comes to its end",
        internal=True,
    )
    robots_retry_first: float | None = _setting(
        None,
        "Seconds before an unreachable robots.txt is asked again; no connection: a quarter",
        "60 for public hosts: with the factor 1, 5 and 25 minutes, which bridge half an hour. 2 for private "
        "ones (2, 6, 18: a restart), and for names without an address: no server is troubled by asking again",
        internal=True,
    )
    robots_retry_factor: float | None = _setting(
        None, "By what that pause grows each time", "5 for public hosts, 3 for private ones", internal=True
    )
    response_factor: float | None = _setting(
        None,
        "A host rests at least so many times as long as its answer took",
        "1 for public hosts: who is slow is asked slowly, and spends half its time on us at most; 0 for private ones",
        internal=True,
    )
    address_delay: float = _setting(
        0.25,
        "Least seconds from the answer of one public host to the request of another at the same address",
        "from each robot process, one machine with many sites gets at most four requests a second, one at a time; not "
        "on private addresses",
        internal=True,
    )
    backoff_first: float | None = _setting(
        None,
        "Seconds added to a host's rest by its first 429, 503 or failure to answer; doubled each time in a row, halved "
        "by each success",
        "5 for public hosts, 1 for private ones and names without an address",
        internal=True,
    )
    backoff_most: float | None = _setting(
        None,
        "Seconds a host's own trouble adds at most; in trouble again after that, its URLs are `failed`",
        "3600 for public hosts: eleven times in a row, over two hours. 60 for private ones: seven times, two minutes",
        internal=True,
    )
    crawl_delay_most: float = _setting(
        3600.0,
        "Longest time between two requests, in seconds, that a crawl accepts; if a robots.txt asks for more, the URLs "
        "of its host become `failed`, and the delay is never shortened",
        "of 1,001 real robots.txt files 180 have a Crawl-delay, and only one of these asks for more than an hour",
    )
    retry_after_most: float = _setting(
        86400.0,
        "Longest Retry-After, in seconds, that a crawl waits for; if a host asks for more, its URLs are `failed`",
        "a crawl that is asked to come back tomorrow does; next month is for the next crawl",
        internal=True,
    )
    busy_tries: int = _setting(
        8,
        "Fetches of one URL answered 429 or 503 before it is `failed`",
        "doubling from 5 seconds, ten minutes of patience with a public host",
        internal=True,
    )
    revisit_first: float = _setting(
        86400.0,
        "Seconds after which a page is asked for again that was visited once; what it says of itself comes before this",
        "a page that changes daily is known for one in days; the sooner, the more is spent on pages that never change",
        internal=True,
    )
    revisit_least: float = _setting(
        4 * 3600.0,
        "Least seconds between two visits of one page; sets the pace of all: a page that changes every t seconds is "
        "visited every sqrt(revisit_least * t)",
        "fresher than a visit a day to every page, for 15 % fewer requests (make bench-freshness); 280800 (78 hours), "
        "with a revisit_first of a week, spends what a visit a week does",
        internal=True,
    )
    revisit_most: float = _setting(
        90 * 86400.0,
        "Most seconds between two visits of one page",
        "four times a year also of what calls itself static",
        internal=True,
    )
    revisit_growth: float = _setting(
        1.5,
        "By what the wait grows at most when a page has not changed; one that has halves it",
        "2 forgets in two visits what took two to learn, and is less fresh at any budget",
        internal=True,
    )
    gone_tries: int = _setting(
        3,
        "Times a page is asked for again that answers 404 or 410 at a revisit, after waits that double; then no more",
        "a site that lost pages by mistake has a week to find them",
        internal=True,
    )
    given_up_rest: float = _setting(
        3600.0,
        "Seconds for which a host or a robots.txt is taken for dead after the last of its tries",
        "its URLs are `failed` meanwhile without being asked for",
        internal=True,
    )
    max_lease_urls: int = _setting(
        64, "URLs of one host leased at once", "a lease is a transaction, whose cost they share", internal=True
    )

    @property
    def answer_limit(self) -> int:
        """Bytes of one answer fetched at most: one more than `max_size` shows that it is longer. Never less than a
        robots.txt may need (RFC 9309 §2.5)."""
        return self.body_limit if self.max_size is None else max(self.max_size + 1, _LEAST_BODY)

    def __post_init__(self) -> None:
        """Raises SettingError for a value that one setting, or two together, cannot have."""
        self._check_texts()
        try:
            find_dialect(self.dialect)
        except InputError as error:
            raise SettingError("dialect", str(error)) from error
        self._make_paths_absolute()
        for name, choices in _CHOICES.items():
            if (chosen := getattr(self, name)) not in choices:
                raise SettingError(name, f"{name.replace('_', '-')} must be one of {', '.join(choices)}: {chosen!r}")
        for name, least in _LEAST.items():
            value = getattr(self, name)
            if value is None and name in _OPTIONAL:
                continue
            if not isinstance(value, int | float):
                raise SettingError(name, f"{name.replace('_', '-')} must be a number: {value!r}")
            if not least <= value < _MOST:
                bounds = f"at least {least} and below {_MOST:.0e}"
                raise SettingError(name, f"{name.replace('_', '-')} must be {bounds}: {value}")
        if self.revisit_least > self.revisit_most:
            bounds = f"{self.revisit_least:.12g} and {self.revisit_most:.12g}"
            raise SettingError("revisit_least", f"revisit-least must not be more than revisit-most: {bounds}")

    def _make_paths_absolute(self) -> None:
        """A crawl may be resumed or served from another folder than the one it was started in."""
        for name in FILES:
            if path := getattr(self, name):
                object.__setattr__(self, name, os.path.abspath(path))

    def _check_texts(self) -> None:
        """Raises SettingError for text that is not Unicode: no file could hold it."""
        for item in fields(self):
            value = getattr(self, item.name)
            texts = value if isinstance(value, tuple) else (value,)
            if not item.metadata["secret"] and any(isinstance(text, str) and not _is_unicode(text) for text in texts):
                raise SettingError(item.name, f"{item.name.replace('_', '-')} must be Unicode text (UTF-8): {value!r}")


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


FILES = ("sign", "ca_file")
"""Settings that are paths of files. `Settings` makes them absolute."""
_LEAST_BODY = 512 * 1024
_LEAST: dict[str, float] = {
    "depth": 0,
    "max_size": 1,
    "workers": 1,
    "concurrency": 1,
    "per_host": 1,
    "host_pages": 1,
    "trap_pages": 1,
    "host_lists": 1,
    "delay": 0,
    "body_limit": _LEAST_BODY,
    "bodies_limit": _LEAST_BODY,
    "documents_at_once": 1,
    "decoded_limit": _LEAST_BODY,
    "document_limit": _LEAST_BODY,
    "warc_size": 1_000_000,
    "connect_timeout": 0.1,
    "timeout": 0.1,
    "idle_timeout": 1,
    "tries": 1,
    "retry_first": 0,
    "robots_tries": 1,
    "robots_retry_first": 0,
    "robots_retry_factor": 1,
    "response_factor": 0,
    "address_delay": 0,
    "crawl_delay_most": 0,
    "retry_after_most": 0,
    "busy_tries": 1,
    "revisit_first": 0,
    "revisit_least": 0,
    "revisit_most": 0,
    "revisit_growth": 1,
    "gone_tries": 0,
    "given_up_rest": 0,
    "render_time": 0.1,
    "render_requests": 0,
    "backoff_first": 0,
    "backoff_most": 0,
    "max_lease_urls": 1,
}
_MOST = 1e12
_CHOICES: dict[str, tuple[str, ...]] = {
    item.name: get_args(item.type) for item in fields(Settings) if get_origin(item.type) is Literal
}
_OPTIONAL = frozenset(item.name for item in fields(Settings) if item.default is None)
