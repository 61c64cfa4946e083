"""One run of `goodbot announce`, from the sitemaps on servers to the answers of the services."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Self

from goodbot.announce.announce_values import Batch, Service, ServiceReport
from goodbot.announce.batches import batches
from goodbot.announce.key import KeyCheck
from goodbot.announce.key_checking import check_keys
from goodbot.announce.sending import Sender, plan_report
from goodbot.announce.sitemap_fetching import SitemapFetcher
from goodbot.announce.worklist import HostPages, Worklist
from goodbot.cli.announce_inputs import Reading, Sources, check_reach, key_locations, nothing_found
from goodbot.cli.progress_line import ProgressLine
from goodbot.clock import SystemClock
from goodbot.errors import RunError
from goodbot.human import counted
from goodbot.ports import Transport
from goodbot.url import Url

HOSTS_NAMED = 3


class Announcement:
    """One run: fetches sitemaps, checks the keys, and sends."""

    def __init__(
        self, work: Worklist, services: Sequence[Service], key: str, given: Url | None, *, sends: bool, checks: bool
    ) -> None:
        self._work = work
        self._services = services
        self._key = key
        self._given = given
        self._sends = sends
        self._checks = checks
        self._clock = SystemClock()
        self._totals: dict[Service, int] = {}
        self._sender: Sender | None = None

    async def carry_out(self, sources: Sources, reading: Reading) -> list[ServiceReport]:
        """Reads sources that are on servers, and announces. Returns what became of all pages. Raises InputError or
        RunError; nothing was sent then, unless the state file cannot be written."""
        from goodbot.one_shot import service_transport  # noqa: PLC0415  (imports the robot)

        named = [service.url for service in self._services if self._sends]
        opened = [*named, *reading.sites.values(), *([self._given] if self._given else [])]
        if not (self._sends or reading.fetches(sources)):
            opened = []  # no request is sent, so no name is looked up
        async with service_transport(opened) as transport:
            await self._read_fetched(reading, sources, transport)
            if not self._work and (failure := nothing_found(sources, reading)) is not None:
                raise failure
            return await self._announce(transport)

    async def _read_fetched(self, reading: Reading, sources: Sources, transport: Transport) -> None:
        from goodbot.one_shot import service_request  # noqa: PLC0415  (imports the robot)

        with ProgressLine(lambda count: counted(round(count), "sitemap")) as line:
            fetcher = SitemapFetcher(
                transport, self._clock, service_request, reading.finished, reading.failed, line.report
            )
            await reading.read_fetched(sources, fetcher)

    async def _announce(self, transport: Transport) -> list[ServiceReport]:
        from goodbot.one_shot import service_request  # noqa: PLC0415  (imports the robot)

        found = {service: self._work.hosts(service) for service in self._services}
        origins = {host.host: host.origin for hosts in found.values() for host in hosts}
        check_reach(self._work, self._services, origins)
        locations = key_locations(self._work, origins, self._key, self._given)
        if not self._sends:
            return plan_report(self._plan(locations))
        if self._checks:
            _raise_wrong_keys(await check_keys(locations.values(), self._key, transport, service_request))
        self._totals = {service: _pages(hosts) for service, hosts in found.items()}
        with _UrlProgress(sum(self._totals.values())) as progress:
            make_post = partial(service_request, method="POST")
            self._sender = Sender(transport, self._clock, make_post, self._work.accept, progress)
            return await self._sender.send_all(self._plan(locations))

    def reports_so_far(self) -> list[ServiceReport]:
        """Returns what became of the pages until now, after an interruption; empty before anything was sent."""
        sent = {report.service: report for report in self._sender.reports()} if self._sender is not None else {}
        reports = (sent.get(service, ServiceReport(service, ())) for service in self._totals)
        return [replace(report, left=self._totals[report.service] - report.urls) for report in reports]

    def _plan(self, locations: Mapping[str, Url]) -> dict[Service, Iterable[Batch]]:
        return {
            service: batches(self._work.changes(service), self._key, locations.__getitem__)
            for service in self._services
        }


def _pages(hosts: Iterable[HostPages]) -> int:
    return sum(host.pages for host in hosts)


class _UrlProgress:
    """Shows how many URLs are finished."""

    def __init__(self, total: int) -> None:
        self._line = ProgressLine(lambda count: counted(round(count), "URL"))
        self._done, self._total = 0, total

    def __call__(self, count: int) -> None:
        self._done += count
        self._line.report(self._done, self._total)

    def __enter__(self) -> Self:
        self._line.__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        self._line.__exit__(None, None, None)


def _raise_wrong_keys(checks: Sequence[KeyCheck]) -> None:
    wrong = [check for check in checks if not check.is_right]
    if not wrong:
        return
    found = "; ".join(check.problem for check in wrong[:HOSTS_NAMED])
    more = f"; and {counted(len(wrong) - HOSTS_NAMED, 'more host')}" if len(wrong) > HOSTS_NAMED else ""
    is_answered = any(check.status is not None for check in wrong)
    why = "the key is not served" if is_answered else "there is no answer to the check of the key"
    raise RunError(f"nothing was sent, since {why}: {found}{more}; --no-check sends all the same")
