"""Holds the state of one lease while its URLs are visited."""

from collections.abc import Iterator

from goodbot.values import Discovery, Lease, LeasedUrl


class HostVisit:
    """The state of one lease: the URLs left to visit, when the host may be requested again, and the requests in flight.

    `ended`: no more URLs are visited. `found_more`: a page has new links to its own host. `cut_at`: see `Lease`.
    """

    def __init__(self, lease: Lease, ready_at: float) -> None:
        self.host = lease.host
        self.urls: Iterator[LeasedUrl] = iter(lease.urls)
        self.ready_at = ready_at
        self.cut_at = lease.cut_at
        self.url_count = len(lease.urls)
        self.in_flight = 0
        self.ended = False
        self.found_more = False
        self.sitemaps: dict[str, tuple[Discovery, ...]] = {}

    def hold(self, until: float) -> None:
        """Ends the lease. The host gets no request before `until`."""
        self.ready_at = max(self.ready_at, until)
        self.ended = True
