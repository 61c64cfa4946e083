"""A drop-in replacement for `urllib.robotparser` that follows RFC 9309.

Names, arguments and types are those of CPython's documentation. docs/how-to/urllib-robotparser.md lists the answers
that differ, and why.
"""

import http.client
import re
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

from goodbot.exclusion import LIMIT_BYTES, Access, Group, Record
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.integrations.adapted import agent_of, octets_of, read_text, slowest, url_of, whole

__all__ = ["RobotFileParser"]

TIMEOUT_S: Final = 30.0
"""How long `read` waits for each network operation, and for the whole body, unless `socket.setdefaulttimeout` sets
another limit."""

_LINE_END = re.compile("\r\n?|\n")
_CODINGS = frozenset({"gzip", "x-gzip", "deflate", "compress", "br", "zstd"})


class RequestRate(NamedTuple):
    """At most `requests` in `seconds`."""

    requests: int
    seconds: float


Limits = tuple[float | None, RequestRate | None]
"""The seconds between two requests, and the rate; None: there is no such record."""


class RobotFileParser:
    """One site's robots.txt, fetched by `read` or passed to `parse`.

    `allow_all` and `disallow_all` take precedence over the rules, and programs may set them. `last_checked` is the time
    when a robots.txt was last read (Unix seconds, 0: never), `sitemaps` the values of its Sitemap records.
    """

    def __init__(self, url: str | urllib.request.Request = "") -> None:
        self._access = read_text("")
        self.sitemaps: list[str] = []
        self.disallow_all = False
        self.allow_all = False
        self.set_url(url)
        self.last_checked: float = 0

    def mtime(self) -> float:
        """Returns when a robots.txt was last read or parsed, in Unix seconds; 0 if none was."""
        return self.last_checked

    def modified(self) -> None:
        """Records that the robots.txt was read now."""
        self.last_checked = time.time()

    def set_url(self, url: str | urllib.request.Request) -> None:
        """Sets the URL of the robots.txt. A Request also carries the headers that `read` sends (as in CPython 3.15).

        Earlier rules do not serve as a last good copy for this URL.
        """
        self.url = url
        self._has_copy = False
        parts = urllib.parse.urlsplit(url.full_url if isinstance(url, urllib.request.Request) else url)
        self.host, self.path = parts.netloc, parts.path

    def read(self) -> None:
        """Fetches the robots.txt with `urllib.request.urlopen`, and passes it to `parse`.

        Only http and https are supported; the first 500 KiB of the body count (RFC 9309 §2.5). After a 4xx status
        everything is allowed (§2.3.1.3: after 401 and 403 too). After 402, 429, 5xx, or without an answer, nothing is
        (§2.3.1.4), unless there is a good copy from the last 30 days. Raises URLError if there is no answer, ValueError
        if the URL is invalid.
        """
        last_good = self._access if self._has_copy else None
        try:
            status, headers, body = _fetch(self.url)
        except urllib.error.URLError:
            # The kind of failure appears only in a sentence that is not shown here.
            self._settle(Access.from_failure("connect", time.time(), last_good=last_good))
            self.allow_all = self.disallow_all = False
            raise
        access = Access.from_response(status, headers, body, time.time(), last_good=last_good, conditional=False)
        self.allow_all, self.disallow_all = access.in_force == "open", access.is_closed
        if access.result == "successful":
            self.parse(_LINE_END.split(access.body.decode("utf-8", "surrogateescape")))
        else:
            self._settle(access)

    def parse(self, lines: Iterable[str | bytes]) -> None:
        """Parses the lines of a robots.txt, with or without their ends, or its whole text, and replaces earlier rules.

        Never raises on content; raises TypeError for lines that are neither text nor bytes.
        """
        self.modified()
        parts = [lines] if isinstance(lines, str | bytes) else lines
        self._settle(read_text(b"\n".join(map(octets_of, parts)), time.time()))

    def can_fetch(self, useragent: str, url: str) -> bool:
        """Whether this robot may fetch this URL of the site. False before a robots.txt is known."""
        if self.disallow_all:
            return False
        if self.allow_all:
            return True
        if not self.last_checked:
            return False
        return self._access.rules.allows(url_of(url), agent_of(useragent))

    def crawl_delay(self, useragent: str) -> float | None:
        """Returns the seconds between two requests (an int if they are whole), None if there is no Crawl-delay."""
        return self._limits(useragent)[0]

    def request_rate(self, useragent: str) -> RequestRate | None:
        """Returns the slowest Request-rate, None if there is none."""
        return self._limits(useragent)[1]

    def site_maps(self) -> list[str] | None:
        """Returns the values of the Sitemap records, None if there are none."""
        return self.sitemaps or None

    @property
    def entries(self) -> list["Entry"]:
        """The groups that name robots, in the order of the file, one entry for each run of their User-agent lines;
        read-only: changing the list changes nothing."""
        groups = self._access.rules.groups
        return [entry for group in groups if "*" not in group.agents for entry in _entries(group)]

    @property
    def default_entry(self) -> "Entry | None":
        """All groups for all robots, combined into one entry; None if there are none."""
        groups = self._default_groups()
        if not groups:
            return None
        rules = [rule for group in groups for rule in _rules(group)]
        return Entry(["*"], rules, *_limits(self._access.rules.timing("*")))

    def __str__(self) -> str:
        """Returns the groups as a robots.txt with the same rules, those for all robots last."""
        named = [group for group in self._access.rules.groups if "*" not in group.agents]
        return "\n\n".join(map(_written, named + self._default_groups()))

    def __getstate__(self) -> dict[str, Any]:
        """For pickle and copy: leaves out compiled rules, which are compiled again when needed."""
        return {**self.__dict__, "_access": replace(self._access)}

    def _settle(self, access: Access) -> None:
        self._access, self._has_copy = access, True
        self.sitemaps = list(access.rules.sitemaps)

    def _limits(self, useragent: str) -> Limits:
        return _limits(self._access.rules.timing(agent_of(useragent))) if self.mtime() else (None, None)

    def _default_groups(self) -> list[Group]:
        return [group for group in self._access.rules.groups if "*" in group.agents]


@dataclass(frozen=True, slots=True)
class RuleLine:
    """One Allow (`allowance`) or Disallow line; `path` is its pattern as written."""

    path: str
    allowance: bool

    def __str__(self) -> str:
        return f"{'Allow' if self.allowance else 'Disallow'}: {self.path}"


@dataclass(frozen=True, slots=True)
class Entry:
    """One group: names of robots, rules, and the limits on requests."""

    useragents: list[str]
    rulelines: list[RuleLine]
    delay: float | None
    req_rate: RequestRate | None

    def __str__(self) -> str:
        return "\n".join([*self.head(), *_rule_lines(self.rulelines)])

    def head(self) -> list[str]:
        """Returns the lines before the rules."""
        lines = [f"User-agent: {agent}" for agent in self.useragents]
        if self.delay is not None:
            lines.append(f"Crawl-delay: {self.delay}")
        if self.req_rate is not None:
            lines.append(f"Request-rate: {self.req_rate.requests}/{self.req_rate.seconds}")
        return lines


def _entries(group: Group) -> list[Entry]:
    """Returns one entry for each run of the group's User-agent lines, all with the same rules."""
    rules = _rules(group)
    names: dict[int, list[str]] = {}
    below: dict[int, list[Record]] = {}
    for agent, run in zip(group.agents, group.runs, strict=True):
        names.setdefault(run, []).append(agent)
    for run, record in group.records_by_run():
        below.setdefault(run, []).append(record)
    return [Entry(agents, rules, *_limits(Timing.of(below.get(run, ())))) for run, agents in names.items()]


def _rules(group: Group) -> list[RuleLine]:
    return [RuleLine(rule.pattern, rule.allow) for rule in group.rules]


def _rule_lines(rules: Sequence[RuleLine]) -> list[str]:
    # A User-agent line begins a new group only after a rule, so a group without rules gets an empty one.
    return list(map(str, rules)) if rules else ["Disallow:"]


def _written(group: Group) -> str:
    # Entries without a delay come last, so that they do not inherit another entry's delay.
    entries = sorted(_entries(group), key=lambda entry: entry.delay is None and entry.req_rate is None)
    return "\n".join([*(line for entry in entries for line in entry.head()), *_rule_lines(_rules(group))])


def _limits(timing: Timing) -> Limits:
    rate = slowest(timing.rates)
    return (
        None if timing.delay_s is None else whole(timing.delay_s),
        None if rate is None else RequestRate(rate.documents, whole(rate.seconds)),
    )


# ---- The fetch ------------------------------------------------------------------------------------------------------

Answer = tuple[int, list[tuple[str, str]], bytes]


def _fetch(url: str | urllib.request.Request) -> Answer:
    """Returns the final answer, after the redirects that urllib follows. Raises URLError whatever goes wrong."""
    request = url if isinstance(url, urllib.request.Request) else urllib.request.Request(url)  # noqa: S310 - next line
    _refuse_other_schemes(request.full_url)
    timeout_s = socket.getdefaulttimeout() or TIMEOUT_S
    try:
        with urllib.request.urlopen(request, timeout=timeout_s) as answer:  # noqa: S310 - http and https only
            _refuse_other_schemes(answer.url)
            return answer.status, answer.headers.items(), _body(answer, timeout_s)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, list(error.headers.items()), b""
    except urllib.error.URLError:
        raise
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise urllib.error.URLError(error) from error


def _refuse_other_schemes(url: str) -> None:
    scheme = urllib.parse.urlsplit(url).scheme
    if scheme not in ("http", "https"):
        raise urllib.error.URLError(f"robots.txt is fetched only over http and https, not {scheme}")


def _body(answer: http.client.HTTPResponse, timeout_s: float) -> bytes:
    """Reads at most one byte more than the limit, so that a cut is noticed; the whole body must arrive within
    `timeout_s`."""
    coding = answer.headers.get("Content-Encoding", "").strip().lower()
    if coding in _CODINGS:
        raise http.client.HTTPException(f"the body has the content coding {coding}, which is not supported")
    length = getattr(answer, "length", None)  # an opener that the program installed may not set it
    most = LIMIT_BYTES + 1 if length is None else min(length, LIMIT_BYTES + 1)
    ends, body = time.monotonic() + timeout_s, bytearray()
    while len(body) < most and (part := answer.read1(most - len(body))):
        body += part
        if time.monotonic() > ends:
            raise TimeoutError(f"the body did not arrive within {timeout_s:g} s")
    if length is not None and len(body) < most:
        raise http.client.IncompleteRead(bytes(body), most - len(body))
    return bytes(body)
