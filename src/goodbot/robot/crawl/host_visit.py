"""What the loop knows of one lease under way."""

from collections.abc import Iterator

from goodbot.values import Discovery, Lease, LeasedUrl


class HostVisit:
    """One lease under way: the rest of its URLs, when its host may be asked again, how many requests are in flight."""

    def __init__(self, lease: Lease, ready_at: float) -> None:
        self.host = lease.host
        self.urls: Iterator[LeasedUrl] = iter(lease.urls)
        self.ready_at = ready_at
        self.cut_at = lease.cut_at
        self.given = len(lease.urls)
        self.in_flight = 0
        self.ended = False
        self.found_more = False
        self.sitemaps: dict[str, tuple[Discovery, ...]] = {}

    def hold(self, until: float) -> None:
        """The host is not asked before `until`, and the lease ends."""
        self.ready_at = max(self.ready_at, until)
        self.ended = True
