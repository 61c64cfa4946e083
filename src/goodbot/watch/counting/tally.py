"""The counts of a whole log, or of several."""

from dataclasses import dataclass, field

from goodbot.watch.counting.block_counts import MOST_HOSTS, PATHS, BlockCounts
from goodbot.watch.counting.client_table import ClientTable
from goodbot.watch.counting.disallowed_addresses import DisallowedAddresses
from goodbot.watch.counting.distinct import address_hash
from goodbot.watch.counting.frequent import FrequentItems
from goodbot.watch.counting.robot_totals import Durations, RequestCounts, RobotKey, RobotTotals, add_counts
from goodbot.watch.counting.signature_counts import NonceBook, SignatureCounts
from goodbot.watch.counting.signature_judge import SignatureBlock
from goodbot.watch.log_entries import SkipReason


@dataclass(slots=True)
class Tally:
    """Counts of all blocks added, in the order of the log.

    Known robots are counted exactly. Of the other addresses the busiest have a row in `clients`.
    """

    clients: ClientTable = field(default_factory=ClientTable)
    lines: int = 0
    skipped: dict[SkipReason, int] = field(default_factory=dict)
    outside: int = 0
    formats: dict[str, int] = field(default_factory=dict)
    counts: RequestCounts = field(default_factory=RequestCounts)
    durations: Durations = field(default_factory=Durations)
    robots_txt: dict[int, int] = field(default_factory=dict)
    """Answers to requests for robots.txt, by status."""
    requested: FrequentItems = field(default_factory=lambda: FrequentItems(PATHS))
    """The most frequent request lines."""
    robots: dict[RobotKey, RobotTotals] = field(default_factory=dict)
    disallowed: DisallowedAddresses = field(default_factory=DisallowedAddresses)
    """Disallowed requests of other addresses."""
    elsewhere: FrequentItems = field(default_factory=lambda: FrequentItems(MOST_HOSTS))
    """Requests that are not judged because they were for another host."""
    hosts: FrequentItems = field(default_factory=lambda: FrequentItems(MOST_HOSTS))
    """Requests by their host, if it is not known which one the robots.txt is for."""
    signers: dict[str, SignatureCounts] = field(default_factory=dict)
    """Signed requests of clients whose User-Agent names no known robot, by the name of the key directory."""
    nonces: NonceBook = field(default_factory=NonceBook)

    def add(self, block: BlockCounts) -> None:
        """Adds the counts of the next block."""
        self.lines += block.lines
        add_counts(self.skipped, block.skipped)
        self.outside += block.outside
        add_counts(self.formats, block.formats)
        self.counts.merge(block.counts)
        self.durations.merge(block.durations)
        add_counts(self.robots_txt, block.robots_txt)
        self.requested.add(block.requested, block.requested_error)
        for key, found in block.robots.items():
            hashes = [address_hash(address) for address in found.addresses]
            self.robots.setdefault(key, RobotTotals()).add(found, hashes)
            self.clients.visitors.update(hashes)
        self.elsewhere.add(block.elsewhere)
        self.hosts.add(block.hosts)
        if block.disallowed is not None:
            self.disallowed.add(block.disallowed)
        self._add_signatures(block.signatures)
        block.clients.add_to(self.clients)

    def _add_signatures(self, block: SignatureBlock) -> None:
        for key, counts in block.robots.items():
            self.robots[key].signatures.merge(counts)
        for name, counts in block.others.items():
            self.signers.setdefault(name, SignatureCounts()).merge(counts)
        for nonce, who in block.nonces:
            if self.nonces.is_repeated(nonce):
                counts = self.signers[who] if isinstance(who, str) else self.robots[who].signatures
                counts.replayed += 1
