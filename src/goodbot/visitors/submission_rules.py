"""Decides which URLs of visitors a crawl takes."""

from dataclasses import dataclass
from importlib.metadata import version
from typing import Final

from goodbot.crawl_bounds import Bounds
from goodbot.errors import InputError
from goodbot.ports import CrawlReader
from goodbot.robot.fetch.identity import identity_of
from goodbot.url import Url
from goodbot.url_lookup import report_on
from goodbot.visitor_urls import is_internal
from goodbot.visitor_values import SubmissionResult, UrlReport

PRIVATE: Final = "{host} may be on a private network, so only the operator of this crawl can submit its URLs"
PROXIED: Final = "this crawl uses a proxy and cannot check that {host} has a public address"
BARRED: Final = "the operator of this crawl has excluded this host"
PRIVATE_CRAWL: Final = "this crawl visits private sites only"


@dataclass(frozen=True, slots=True)
class Judged:
    """A URL as the crawl requests it. `result` None: it may be submitted; `public_only`: see `Discovery`."""

    report: UrlReport
    result: SubmissionResult | None = None
    reason: str = ""
    public_only: bool = True


class SubmissionRules:
    """Decides which URLs of visitors are submitted, with the frontier of one moment."""

    def __init__(self, bounds: Bounds, frontier: CrawlReader, now: float) -> None:
        self._bounds = bounds
        self._frontier = frontier
        self._now = now
        self._forgotten = frontier.forgotten_hosts()
        self._token = identity_of(bounds.settings, version("goodbot")).token

    def judge(self, url: Url) -> Judged:
        """Returns what would become of a URL that a visitor submits."""
        if reason := self._private(url):
            return Judged(UrlReport(url, None, None), "private", reason)
        report = report_on(self._frontier, self._bounds.settings, url)
        result, reason = self._refusal(report)
        return Judged(report, result, reason, public_only=not self._is_of_seed(url))

    def refusal(self, url: Url, report: UrlReport) -> tuple[SubmissionResult, str] | None:
        """Returns why a visitor cannot submit a URL of which the crawl knows `report`; None if nothing forbids it."""
        if reason := self._private(url):
            return "private", reason
        result, reason = self._refusal(report)
        return (result, reason) if result is not None else None

    def _is_of_seed(self, url: Url) -> bool:
        return url.authority in self._bounds.authorities

    def _private(self, url: Url) -> str:
        """Says why the crawl might reach a private address by this URL; empty if it cannot, or if the operator chose
        the host."""
        if self._is_of_seed(url):
            return ""
        if is_internal(url):
            return PRIVATE.format(host=url.host)
        return PROXIED.format(host=url.host) if self._bounds.settings.proxy else ""

    def _refusal(self, report: UrlReport) -> tuple[SubmissionResult | None, str]:
        url = report.requested_as
        if url.host_key in self._forgotten:
            return "forgotten", BARRED
        if reason := self._bounds.scope.refuse(url, 0) or ("" if _was_visited(report) else report.trap):
            return "out of scope", reason
        try:
            self._bounds.check(url)
        except InputError:
            return "out of scope", PRIVATE_CRAWL
        return self._disallowed(url)

    def _disallowed(self, url: Url) -> tuple[SubmissionResult | None, str]:
        """Judges by the robots.txt that the crawl has, while it is fresh. While it is unreachable, the crawl itself
        waits."""
        access = self._frontier.load_robots(url.origin)
        if access is None or not access.is_fresh(self._now):
            return None, ""
        verdict = access.in_dialect(self._bounds.settings.dialect).verdict(url.text, self._token)
        if verdict.allowed or (verdict.access == "unreachable" and verdict.rule is None):
            return None, ""
        return "disallowed", verdict.reason


def _was_visited(report: UrlReport) -> bool:
    return report.record is not None and report.record.state == "visited"
