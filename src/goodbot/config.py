"""Defines all settings of a crawl. The options, their help and the reference are made from the record of each setting.

From weakest to strongest, a value comes from: the defaults here, `goodbot.toml`, `GOODBOT_…` in the environment (read
by the command line only), `goodbot.toml` in the folder of a crawl that is resumed, options.
"""

import os
from dataclasses import dataclass, field, fields
from typing import Any, Literal, get_args, get_origin

from goodbot.errors import InputError, SettingError
from goodbot.exclusion.robotstxt.dialects import DIALECTS, find_dialect

ScopeKind = Literal["page", "prefix", "host", "domain", "all"]
FollowRel = Literal["both", "ugc", "sponsored", "none"]
SignatureAgentForm = Literal["october", "august", "string"]


def setting(
    default: Any,
    help_: str,
    reason: str = "",
    *,
    internal: bool = False,
    secret: bool = False,
    may_have_commas: bool = False,
    of_machine: bool = False,
) -> Any:
    """Makes a field. `help_`: the text for `--help`; `reason`: why the default was chosen; `internal`: not an option of
    the command; `secret`: never written or shown; `may_have_commas`: it is a list whose items may have commas, so in a
    variable of the environment only spaces separate them; `of_machine`: if several machines share a crawl, each may
    have a value of its own."""
    metadata = {
        "help": help_,
        "reason": reason,
        "internal": internal,
        "secret": secret,
        "may_have_commas": may_have_commas,
        "of_machine": of_machine,
    }
    return field(default=default, repr=not secret, metadata=metadata)


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings of a crawl. Times are in seconds, sizes in bytes."""

    seeds: tuple[str, ...] = setting((), "URLs the crawl starts from", internal=True, may_have_commas=True)
    scope: ScopeKind = setting(
        "host", "Which URLs belong to the crawl, relative to the seeds: page, prefix, host, domain or all"
    )
    depth: int | None = setting(None, "Maximum number of links between a seed and a page (default: no limit)")
    include: tuple[str, ...] = setting(
        (),
        "Crawl only URLs that match one of these globs. A glob matches the whole URL: * is any text, ? any one "
        "character, [?] a question mark",
        may_have_commas=True,
    )
    exclude: tuple[str, ...] = setting(
        (), "Leave out URLs that match one of these globs, even if --include matches them", may_have_commas=True
    )
    types: tuple[str, ...] = setting(
        (), "Read, index and keep only answers of these media types, such as text/html or 'text/*'"
    )
    max_size: int | None = setting(
        None,
        "Discard answers longer than this many bytes (10M = 10,000,000). Without this setting, answers over 10 MiB are "
        "cut there and kept",
    )
    workers: int | None = setting(
        None,
        "Number of worker processes; each host belongs to one of them",
        "default: one per core, at most one per host",
        of_machine=True,
    )
    concurrency: int = setting(
        64,
        "Maximum number of requests in flight at once",
        "each takes a socket, and memory for a body",
        of_machine=True,
    )
    per_host: int = setting(1, "Maximum number of requests in flight to one host at once", "standard crawler etiquette")
    host_pages: int | None = setting(
        None, "Maximum number of pages to visit per host (default: no limit); other pages of the host are left out"
    )
    host_lists: int = setting(
        1000,
        "Maximum number of sitemaps, sitemap indexes and feeds that a crawl reads from one host in a day, if "
        "robots.txt or a sitemap index names them; the others wait for the next run, or for the next visit of that "
        "index",
        "1,000 sitemaps may list 50 million URLs: 18 months at one page a second; sitemaps and pages take turns",
        internal=True,
    )
    delay: float | None = setting(
        None,
        "Minimum seconds from an answer to the next request to the same host; the crawl keeps a longer delay that a "
        "site asks for",
        "default: 1 for public hosts, 0 for private ones, which belong to the user",
    )
    agent: str = setting("goodbot", "Product token of the robot, sent in User-Agent and looked up in robots.txt")
    contact: str | None = setting(
        None,
        "Mail address or URL where a site's owner can reach you; needed for public hosts",
        "RFC 9110 10.1.2, RFC 9309 2.2.1",
    )
    sign: str | None = setting(
        None, "File of the key that signs every request (Web Bot Auth); `goodbot key new` makes one", of_machine=True
    )
    signature_agent: str | None = setting(
        None, "https URL where the public key is served to those who verify signatures; needed with --sign"
    )
    signature_agent_form: SignatureAgentForm = setting(
        "october",
        "Form of the field Signature-Agent. october: URL of the keys; august: site with type=directory; string: only "
        "the site, as in older drafts",
        "named after the months of drafts of 2026; october is the newest",
    )
    dialect: str = setting(
        "rfc9309",
        f"How robots.txt is read: {', '.join(DIALECTS)}",
        "rfc9309 is the standard; the others imitate other robots",
    )
    follow_rel: FollowRel = setting(
        "both",
        "Which marked links to follow: ugc, sponsored, both or none of them. Unmarked links are followed, nofollow "
        "links never",
        "ugc and sponsored say who placed a link, not whether it may be fetched",
    )
    clean_urls: bool = setting(
        True,
        "Remove tracking parameters (utm_*, gclid…), session ids (PHPSESSID…) and Clean-param parameters from links",
        "so that the same page is not fetched again under other URLs",
    )
    duplicates: bool = setting(
        True,
        "Index only one of several pages with the same canonical URL, bytes or text; leave out mirrors of whole sites",
        "copies crowd out other results",
    )
    traps: bool = setting(
        True,
        "Stop crawling endless pages without new content: repeating paths, calendars, session ids, soft 404, and sites "
        "whose pages lead to new URLs without end",
        "`goodbot why` shows the evidence; a crawl of 79,922 URLs on 27 real sites lost no page",
    )
    trap_pages: int = setting(
        1000,
        "The crawl leaves an origin after this many pages that have no new content but lead to new URLs, and a folder "
        "after half as many",
        "25 generated traps ended after 520 to 4,070 pages; honest sites with little text per page are crawled "
        "completely up to 8,000 to 16,000 pages, or half as many in one folder",
        internal=True,
    )
    sitemaps: bool = setting(
        True,
        "Read the sitemaps that robots.txt files name, and crawl the URLs they list, if sitemap and URL are in scope",
        "sitemaps list pages without links to them, and show which pages have changed",
    )
    allow_private: bool = setting(
        False,
        "Allow the private address range of the URLs you give; public pages still cannot lead there",
    )
    ca_file: str | None = setting(
        None, "File of certificate authorities to trust instead of the system's", of_machine=True
    )
    resolve: tuple[str, ...] = setting(
        (), "Connect to ADDRESS for HOST:PORT instead of resolving the name", of_machine=True
    )
    nameservers: tuple[str, ...] = setting(
        (), "ADDRESS or ADDRESS:PORT of name servers to use instead of the system's", internal=True, of_machine=True
    )
    auth: tuple[str, ...] = setting(
        (),
        "Credentials for one host: HOST=basic:USER:PASSWORD or HOST=bearer:TOKEN. They are sent over TLS to port 443, "
        "or to another port with HOST:PORT=…. Without TLS they are sent only if given as http://HOST=…, or if the "
        "address is private. "
        "Not saved with a crawl: give them again when you resume",
        "not a command-line option, because other users of the machine can see those",
        internal=True,
        secret=True,
        may_have_commas=True,
        of_machine=True,
    )
    cookies: bool = setting(
        False,
        "Send cookies back to the host that set them, and to no other, until the run ends",
        "with cookies a site may send pages that other visitors do not see",
        internal=True,
    )
    proxy: str | None = setting(
        None, "Proxy to fetch through", "proxy settings of the environment are ignored", of_machine=True
    )
    render: bool = setting(
        False,
        "Run the scripts of a page in Chromium before the page is read; the robot fetches what they request, by the "
        "same rules. Needs Playwright (the optional dependency `render`), and runs in one process: --workers is "
        "ignored",
        "a page takes about one second of CPU time, the browser 400 MB",
    )
    render_executable: str | None = setting(
        None,
        "Chromium or Chrome to render with",
        "Playwright's own if it is installed, else one on PATH",
        internal=True,
        of_machine=True,
    )
    render_time: float = setting(
        30.0,
        "Maximum seconds for rendering a page; then the page is read as it is",
        "enough for twenty scripts of one public host, requested one a second, and for running them",
        internal=True,
    )
    render_requests: int = setting(
        50,
        "Maximum number of requests one page may make while it renders",
        "limits the load that one page puts on hosts",
        internal=True,
    )
    frontier: str | None = setting(
        None,
        "Keep the frontier in this PostgreSQL database, which several machines may share. The password is not saved: "
        "libpq finds it in ~/.pgpass or PGPASSWORD. Needs psycopg (the optional dependency `postgres`)",
        "default: in DIR",
        of_machine=True,
    )
    index: bool = setting(True, "Index the pages that permit it", of_machine=True)
    archive: bool = setting(True, "Keep all answers in WARC files", of_machine=True)
    archive_to: str | None = setting(
        None,
        "Move each finished WARC file to this URL of fsspec (s3://BUCKET/FOLDER, sftp://HOST/FOLDER, file:///FOLDER "
        "and others), from where it is read when needed. A password in the URL is not saved. Every protocol except "
        "file: needs fsspec (the optional dependency `remote`), and most also need a package such as s3fs",
        "default: all files stay in DIR",
        of_machine=True,
    )
    body_limit: int = setting(
        10 * 1024 * 1024,
        "Maximum bytes of one answer that are kept, if max_size is not set",
        "a longer answer is cut there, and marked as cut",
        internal=True,
    )
    bodies_limit: int = setting(
        64 * 1024 * 1024,
        "Maximum bytes of long answers (over 256 KiB) that all worker processes together hold in memory; transfers "
        "pause until there is room",
        "room for six answers of the maximum length; a crawl of such answers alone stays under 400 MB",
        internal=True,
        of_machine=True,
    )
    documents_at_once: int = setting(
        2,
        "Maximum number of documents (such as PDF) read at once, each in a process of its own; every worker process "
        "may read at least one",
        "each takes up to six seconds of CPU time and 136 MiB",
        internal=True,
        of_machine=True,
    )
    decoded_limit: int = setting(
        2 * 1024 * 1024,
        "Maximum decompressed bytes that are read of a page; the rest is kept, but neither indexed nor searched for "
        "links (sitemaps and feeds: 50 MiB; PDF: document_limit)",
        "limits gzip, br and zstd bombs; a parsed page takes up to 24 times its size in memory",
        internal=True,
    )
    document_limit: int = setting(
        10 * 1024 * 1024,
        "Maximum decompressed bytes that are read of a PDF",
        "a PDF cannot be read without its end, and takes memory only in a process of its own; 10 MiB are fetched",
        internal=True,
    )
    warc_size: int = setting(
        1_000_000_000,
        "Bytes after which a new WARC file is begun",
        "the size that the WARC standard recommends; about 180,000 pages",
        internal=True,
        of_machine=True,
    )
    connect_timeout: float = setting(
        15.0, "Maximum seconds to connect", "three SYN retries take 7 s (Linux)", internal=True
    )
    timeout: float = setting(
        60.0, "Maximum seconds for one whole answer", "ends answers that arrive a few bytes at a time", internal=True
    )
    idle_timeout: float = setting(
        20.0,
        "Maximum seconds without a byte of the body; the wait for the first byte counts too, and header fields do "
        "not end it. Rounded up to whole seconds",
        internal=True,
    )
    tries: int = setting(
        3, "Fetches of one URL before it is `failed`", "most temporary faults are gone at the next try", internal=True
    )
    retry_first: float = setting(2.0, "Seconds before a failed fetch is tried again; doubled each time", internal=True)
    robots_tries: int = setting(
        4,
        "Fetches of robots.txt without any answer before a host's URLs are `failed`",
        "no page is requested from a site with unknown rules, and every crawl ends",
        internal=True,
    )
    robots_retry_first: float | None = setting(
        None,
        "Seconds before an unreachable robots.txt is requested again; a quarter of that if no connection could be made",
        "60 for public hosts: waits of 1, 5 and 25 minutes outlast an outage of half an hour. 2 for private ones "
        "(waits of 2, 6 and 18 seconds outlast a restart), and for names without an address, as a DNS lookup is no "
        "load for the site",
        internal=True,
    )
    robots_retry_factor: float | None = setting(
        None,
        "Factor by which the wait for an unreachable robots.txt (robots_retry_first) grows each time",
        "5 for public hosts, 3 for private ones",
        internal=True,
    )
    response_factor: float | None = setting(
        None,
        "Minimum wait after an answer, as a multiple of the time the answer took",
        "1 for public hosts: slow hosts are crawled slowly, and spend at most half of their time on the crawl; 0 for "
        "private ones",
        internal=True,
    )
    address_delay: float = setting(
        0.25,
        "Minimum seconds from the answer of one public host to a request to another host at the same address",
        "one machine with many sites gets at most four requests a second from each worker process, one at a time; does "
        "not apply to private addresses",
        internal=True,
    )
    backoff_first: float | None = setting(
        None,
        "Seconds that a host's first 429, 503 or failure to answer adds to its delay; doubled each time in a row, "
        "halved by each success",
        "5 for public hosts, 1 for private ones and names without an address",
        internal=True,
    )
    backoff_most: float | None = setting(
        None,
        "Maximum seconds that 429, 503 and failures to answer add to a host's delay; at the next of them its URLs are "
        "`failed`",
        "3600 for public hosts: eleven failures in a row, over two hours. 60 for private ones: seven failures, two "
        "minutes",
        internal=True,
    )
    crawl_delay_most: float = setting(
        3600.0,
        "Longest time between two requests, in seconds, that a crawl accepts; if a robots.txt asks for more, the URLs "
        "of its host become `failed`, and the delay is never shortened",
        "180 of 1,001 real robots.txt files have a Crawl-delay, and only one of these asks for more than an hour",
    )
    retry_after_most: float = setting(
        86400.0,
        "Longest Retry-After, in seconds, that a crawl waits for; if a host asks for more, its URLs are `failed`",
        "a crawl waits until tomorrow, but not until next month",
        internal=True,
    )
    busy_tries: int = setting(
        8,
        "Fetches of one URL answered 429 or 503 before it is `failed`",
        "with waits that double from 5 seconds, a public host has ten minutes to recover",
        internal=True,
    )
    revisit_first: float = setting(
        86400.0,
        "Seconds until a page's second visit, unless the page says when it changes",
        "shows within days which pages change daily; a shorter time costs more visits to pages that never change",
        internal=True,
    )
    revisit_least: float = setting(
        4 * 3600.0,
        "Minimum seconds between two visits of one page. It sets the rate of all visits: a page that changes every t "
        "seconds is visited every sqrt(revisit_least * t) seconds",
        "keeps the index fresher than daily visits of every page, with 15 % fewer requests (make bench-freshness); "
        "280800 (78 hours) with a revisit_first of a week costs as many requests as weekly visits",
        internal=True,
    )
    revisit_most: float = setting(
        90 * 86400.0,
        "Maximum seconds between two visits of one page",
        "four visits a year, even to pages that claim to be static",
        internal=True,
    )
    revisit_growth: float = setting(
        1.5,
        "Maximum factor by which the wait for the next visit grows if a page has not changed; a change halves the wait",
        "with a factor of 2 the index is less fresh for the same number of requests",
        internal=True,
    )
    gone_tries: int = setting(
        3,
        "How many more times a page that answers 404 or 410 at a revisit is requested, after waits that double",
        "a site that lost pages by mistake has a week to find them",
        internal=True,
    )
    given_up_rest: float = setting(
        3600.0,
        "Seconds for which a host, or a robots.txt, is not requested after its last try has failed",
        "its URLs are `failed` meanwhile",
        internal=True,
    )
    max_lease_urls: int = setting(
        64, "URLs of one host leased at once", "a lease is one transaction, so its cost is shared", internal=True
    )

    @property
    def answer_limit(self) -> int:
        """Maximum bytes fetched of one answer. One byte more than `max_size` shows that an answer is longer. Never less
        than a robots.txt may need (RFC 9309 §2.5)."""
        return self.body_limit if self.max_size is None else max(self.max_size + 1, _LEAST_BODY)

    def __post_init__(self) -> None:
        """Checks each value, and values that depend on each other. Raises SettingError."""
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
        """Makes the paths of files absolute, as a crawl may be resumed or served from another folder."""
        for name in FILES:
            if path := getattr(self, name):
                object.__setattr__(self, name, os.path.abspath(path))

    def _check_texts(self) -> None:
        """Raises SettingError for text that is not Unicode: it could not be saved in a file."""
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
