"""Holds the state of one lease while its URLs are visited."""

from collections.abc import Iterator
from typing import Final

from goodbot.values import Discovery, Lease, LeasedUrl

LEASE_GROWTH: Final = 4
"""Unless a long delay ended a lease, the next lease may have this many URLs for each URL begun in it."""


class HostVisit:
    """The state of one lease: the URLs left to visit, when the host may be requested again, and the requests in flight.

    `started`: how many of the URLs were begun. `ended`: no more URLs will be begun. `found_more`: a page had new links
    to its own host. `cut_at`, `is_full`, `token`: see `Lease`.
    """

    def __init__(self, lease: Lease, ready_at: float) -> None:
        self.host = lease.host
        self.urls: Iterator[LeasedUrl] = iter(lease.urls)
        self.ready_at = ready_at
        self.cut_at = lease.cut_at
        self.is_full = lease.is_full
        self.token = lease.token
        self.started = 0
        self.in_flight = 0
        self.ended = False
        self.found_more = False
        self.sitemaps: dict[str, tuple[Discovery, ...]] = {}

    def hold(self, until: float) -> None:
        """Ends the lease. The host gets no request before `until`."""
        self.ready_at = max(self.ready_at, until)
        self.ended = True

    def next_urls(self, *, waits: bool) -> int:
        """Returns how many URLs the next lease can use. `waits`: this lease ended because of a delay that leases do not
        wait out, so the next lease will get no further."""
        return max(self.started if waits else self.started * LEASE_GROWTH, 1)
