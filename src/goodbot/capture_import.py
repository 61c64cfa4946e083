"""Takes captures of other programs into a crawl: archives them, records the outcomes of their URLs as a crawl does,
and indexes their pages. A batch is one transaction, so a kill neither loses nor duplicates anything.

The order of writing: archive flushed → URLs, links and notes in one transaction → (now and then) index committed. What
a killed import has written to the archive without committing it is cut off by the next one (`cut_back`).
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from math import inf
from typing import Final, NamedTuple

import msgspec

from goodbot.archive_values import EncodedRecords
from goodbot.config import Settings
from goodbot.errors import DamagedError
from goodbot.exclusion import Access, Verdict
from goodbot.exclusion.robotstxt.timing import Timing
from goodbot.index import TantivyIndex, prepare
from goodbot.page import decode_content, read_page
from goodbot.ports import Clock
from goodbot.robot.crawl.assembly import readers_of
from goodbot.robot.crawl.batch import Batch
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.manners.permission import Permit
from goodbot.robot.manners.search_preferences import StoredPreferences
from goodbot.robot.manners.walled_answers import wall_of_answer
from goodbot.robot.scope.scope import Scope
from goodbot.store.foreign.foreign_values import ForeignCapture, Skipped
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.store.sqlite.import_notes import ImportNotes, NamedPage
from goodbot.store.warc.warc_archive import WarcArchive
from goodbot.store.warc.warc_record import encode_capture
from goodbot.url import Url, parse_url
from goodbot.values import Capture, LeasedUrl, Outcome, Request, Response, UrlRecord
from goodbot.visit_values import VisitResult

MAX_CAPTURES: Final = 100
MAX_BODY_BYTES: Final = 32 * 1024 * 1024
"""A batch ends after this many captures, or this many bytes of bodies."""

MAX_JUDGED_AGAIN: Final = 8
"""How often a page is judged again at most. A page that turns out to be a copy may have had copies itself."""

NOT_IMPORTED: Final = "not in the imported archives"
"""Why a URL is out of scope that only links in imported pages name."""

_LAST_TRY: Final = 1
_TRIES: Final = " (2 tries)"
_ENCODER: Final = msgspec.msgpack.Encoder()


class _ImportScope(Scope):
    """Refuses every URL, so that links of imported pages are not requested."""

    def refuse(self, url: Url, depth: int) -> str | None:
        """See `Scope.refuse`."""
        return NOT_IMPORTED


class _ImportedCopies:
    """Takes notice of what is indexed. Copies of a page that leaves the index are judged again at the end: nothing is
    fetched."""

    def __init__(self, frontier: SqliteFrontier, notes: ImportNotes) -> None:
        self.indexed = frontier.indexed
        self.copies_of = frontier.copies_of
        self._notes = notes

    def requeue(self, urls: Iterable[Url]) -> None:
        """See `IndexedPages.requeue`."""
        for url in urls:
            self._notes.name(url.text, url.text)


class _Waiting(NamedTuple):
    """A revisit record as it waits for its payload."""

    url: str
    at: float
    status: int
    headers: tuple[tuple[str, str], ...]
    version: str
    reason: str
    payload: str
    peer: str | None
    request_head: bytes
    refers_to: str


@dataclass(slots=True)
class ImportCounts:
    """What an import did. `captures`: new in the archive; `known`: imported before; `pages`: captures that became the
    current version of their URL; `robots`: robots.txt files; `skipped`: captures that were not imported, by reason."""

    captures: int = 0
    known: int = 0
    pages: int = 0
    robots: int = 0
    skipped: Counter[Skipped] = field(default_factory=Counter)


class CaptureImport:
    """Takes captures, and commits them in batches. `frontier` has no limit of pages per host. `index` is None for a
    crawl without one. `source` names the file that captures come from, for `goodbot why`."""

    def __init__(
        self,
        settings: Settings,
        token: str,
        frontier: SqliteFrontier,
        archive: WarcArchive,
        index: TantivyIndex | None,
        clock: Clock,
    ) -> None:
        self._settings = replace(settings, tries=1, busy_tries=1)
        self._token = token
        self._frontier = frontier
        self._archive = archive
        self._clock = clock
        scope = _ImportScope(replace(self._settings, depth=None), (), AddressGuard())
        prepared = prepare if index is not None else None
        readers = readers_of(
            *(self._settings, token, scope), encode=encode_capture, prepare=prepared, represents=self._represents
        )
        self._reader, self._knowledge = readers.reader, readers.knowledge
        self._preferences = StoredPreferences(frontier, token, settings.dialect)
        self._notes: ImportNotes = frontier.import_notes()
        copies = _ImportedCopies(frontier, self._notes)
        self._batch = Batch(frontier, copies, archive, index, clock, self._observe)
        self._pending: dict[str, tuple[bytes, ForeignCapture]] = {}
        self._revisits: list[tuple[bytes, ForeignCapture]] = []
        self._bytes = 0
        self._payloads: dict[str, str] = {}
        self._hosts: set[str] = set()
        self._forgotten = frontier.forgotten_hosts()
        self._reading = ""
        self.counts = ImportCounts()
        self.source = ""

    def prepare(self) -> None:
        """Makes the notes ready: from now on, a kill leaves a note of where the archive ended."""
        with self._frontier.together():
            self._notes.prepare()
            self._notes.note_end(*self._archive.written_to())

    def add(self, capture: ForeignCapture) -> None:
        """Takes a capture; commits the batch if it is full."""
        if capture.url.host_key in self._forgotten:
            self.counts.skipped["forgotten"] += 1
            return
        key = _key_of(capture)
        if self._notes.has(key) and not self._is_lost(capture):
            self.counts.known += 1
            return
        if capture.refers_to is not None and (found := self._resolved(capture)) is None:
            self._revisits.append((key, capture))
        else:
            self._hold(key, capture if capture.refers_to is None else found)  # type: ignore[arg-type]
        if len(self._pending) + len(self._revisits) >= MAX_CAPTURES or self._bytes >= MAX_BODY_BYTES:
            self.commit()

    def finish(self) -> None:
        """Commits everything. Then resolves revisit records whose payload came later, and judges pages again whose
        canonical URL got a page later."""
        self.commit()
        for some in self._notes.waiting():
            for key, data in some:
                self._end_wait(key, data)
        self.commit()
        for _ in range(MAX_JUDGED_AGAIN):
            last = self._notes.last_named()
            while pages := self._notes.named(last):
                self._judge_again(pages)
        with self._frontier.together():
            self._notes.finish()
        self._batch.commit_all()

    def save(self) -> None:
        """Commits the index, so that searches find all that was committed. What waits in the batch is dropped."""
        self._batch.commit_all()

    def commit(self) -> None:
        """Commits the captures of the batch."""
        held, revisits = list(self._pending.values()), self._revisits
        self._pending, self._revisits, self._bytes = {}, [], 0
        if not (held or revisits):
            return
        newest = [one for _, one in held if not _is_robots_txt(one.url) and self._is_newest(one)]
        self._remember({one.url.host_key for one in newest})
        with self._frontier.together():
            for key, revisit in revisits:
                self._notes.wait(key, _ENCODER.encode(_waiting(revisit)))
            self._import([capture for _, capture in held], newest)
            self._batch.commit()
            self._archive.flush()
            self._notes.add([key for key, _ in held])
            self._notes.note_end(*self._archive.written_to())
        self.counts.captures += len(held)
        self._batch.commit_if_due()

    def _hold(self, key: bytes, capture: ForeignCapture) -> None:
        if capture.url.text in self._pending:
            if self._pending[capture.url.text][0] == key:
                self.counts.known += 1
                return
            self.commit()
        self._pending[capture.url.text] = (key, capture)
        self._bytes += len(capture.response.body)

    # ---- one batch

    def _import(self, captures: Sequence[ForeignCapture], newest: Sequence[ForeignCapture]) -> None:
        """Archives the captures, and records the outcomes of the URLs of the `newest`."""
        robots = [capture for capture in captures if _is_robots_txt(capture.url)]
        for capture in robots:
            self._take_robots_txt(capture)
        claims = self._frontier.claim([one.url for one in newest], self._clock.now())
        claimed = {one.url: claim for one, claim in zip(newest, claims, strict=True)}
        for capture in captures:
            claim = claimed.get(capture.url)
            if claim is not None:
                self._settle(capture, *claim)
            elif capture.url in claimed:
                self.counts.skipped["forgotten"] += 1
                self.counts.captures -= 1
            elif not _is_robots_txt(capture.url):
                self._archive_only(capture)

    def _settle(self, capture: ForeignCapture, leased: LeasedUrl, token: int) -> None:
        result = self._read(leased, token, self._capture_of(capture))
        if result.encoded is not None and not result.encoded.headers_only and capture.response.body:
            self._payloads[capture.url.text] = capture.payload
        self._batch.add(result)
        self.counts.pages += 1

    def _read(self, leased: LeasedUrl, token: int, fetched: Capture) -> VisitResult:
        permit = Permit(fetched.request.verdict, Timing(), no_search=self._preferences.refusal(leased.url))
        self._reading = leased.url.text
        wall = wall_of_answer(fetched)
        result = self._reader.read(leased._replace(tries=_LAST_TRY), permit, fetched, wall=wall)
        return replace(result, outcome=_settled(result.outcome, token))

    def _represents(self, canonical: Url, depth: int) -> bool:
        """Whether there is a page at the canonical URL of the page being read. If there is none, the latter is noted,
        and judged again at the end of the import."""
        if self._notes.has_page(canonical):
            return True
        self._notes.name(self._reading, canonical.text)
        return False

    def _judge_again(self, pages: Sequence[NamedPage]) -> None:
        """Reads these pages again if there is a page at their canonical URLs now, and drops their notes."""
        copies = [Url(page.url) for page in pages if self._notes.has_page(Url(page.canonical))]
        known = [record for url in copies if (record := self._frontier.record(url)) is not None]
        with self._frontier.together():
            for record in known:
                self._read_again(record)
            self._batch.commit()
            self._notes.drop_named(pages[-1].number)

    def _read_again(self, known: UrlRecord) -> None:
        """Reads a page from the archive, as at its first visit."""
        try:
            kept = None if known.record is None else self._archive.read(known.record)
        except DamagedError:
            kept = None
        if kept is None or kept.headers_only:
            return
        (claimed,) = self._frontier.claim([known.url], self._clock.now())
        if claimed is None:
            return
        leased, token = claimed
        reason = next((event.reason for event in known.events if event.step == "permission"), "")
        fetched = self._captured(known.url, kept.response, kept.fetched_at, reason)
        result = self._read(leased._replace(seen=None), token, fetched)
        events = (*result.outcome.events, *(event for event in known.events if event.step == "keep"))
        leaves = known.seen is not None and known.seen.indexed and not result.outcome.to_index
        outcome = replace(result.outcome, record=known.record, events=events, from_index=leaves)
        self._batch.add(replace(result, encoded=None, outcome=outcome))

    def _observe(self, outcome: Outcome) -> None:
        """Notes where the payload of a capture is now; called within the transaction."""
        payload = self._payloads.pop(outcome.url.text, None)
        if payload is not None and outcome.record is not None:
            self._notes.keep_place(_payload_key(payload), outcome.record)

    def _archive_only(self, capture: ForeignCapture) -> None:
        """Archives a capture of a page of which a newer one is known."""
        settings, response = self._settings, capture.response
        page = read_page(
            capture.url, response, self._token, settings.decoded_limit, document_bytes=settings.document_limit
        )
        encoded = encode_capture(self._capture_of(capture), not page.directives.archive)
        self._append(capture, encoded)

    def _append(self, capture: ForeignCapture, encoded: EncodedRecords) -> None:
        record = self._archive.append(encoded)
        if not encoded.headers_only and capture.response.body:
            self._notes.keep_place(_payload_key(capture.payload), record)

    def _take_robots_txt(self, capture: ForeignCapture) -> None:
        """Archives a robots.txt, and keeps it for what it says about search, if it is newer than the one known."""
        self._append(capture, encode_capture(self._capture_of(capture)))
        self.counts.robots += 1
        response, origin = capture.response, capture.url.origin
        known = self._frontier.load_robots(origin)
        at = self._time_of(capture)
        if response.status >= 500 or 300 <= response.status < 400 or (known and known.fetched_at >= at):
            return
        body = decode_content(response, self._settings.decoded_limit).body
        access = Access.from_response(response.status, response.headers, body, at, self._settings.dialect)
        self._frontier.save_robots(origin, access)

    def _remember(self, hosts: set[str]) -> None:
        new = sorted(hosts - self._hosts)
        if new:
            self._knowledge.remember(self._frontier.load_indexed_pages(new))
            self._hosts = self._hosts | hosts if len(self._hosts) < 100_000 else hosts

    def _is_newest(self, capture: ForeignCapture) -> bool:
        """Whether the capture says more than what is known of its URL: it is newer, or it is the first with a page. One
        dated in the future is not taken for newer, since its date is wrong."""
        known = self._frontier.record(capture.url)
        if known is None or known.fetched_at is None or known.fetched_at < capture.at <= self._clock.now():
            return True
        return not _has_page(known) and 200 <= capture.response.status < 300

    def _is_lost(self, capture: ForeignCapture) -> bool:
        """Whether this was the page of its URL, and `goodbot archive repair` found that the archive has lost it."""
        known = self._frontier.record(capture.url)
        if known is None or known.state != "ready" or known.record is not None:
            return False
        return known.fetched_at == capture.at or capture.at > self._clock.now()

    def _time_of(self, capture: ForeignCapture) -> float:
        """Returns the date of the capture, or now if that lies in the future: times of a crawl never do."""
        return min(capture.at, self._clock.now())

    def _capture_of(self, capture: ForeignCapture) -> Capture:
        reason = f"another program fetched it; imported from {self.source}"
        fetched = self._captured(capture.url, capture.response, self._time_of(capture), reason)
        return replace(fetched, peer=capture.peer, request_head=capture.request_head)

    def _captured(self, url: Url, response: Response, at: float, reason: str) -> Capture:
        verdict = Verdict(True, None, None, reason, "", url=url.text, agent=self._token)
        return Capture(Request(url, verdict), response, at, 0.0)

    # ---- revisits

    def _resolved(self, revisit: ForeignCapture) -> ForeignCapture | None:
        """Returns the capture with the body that a revisit record refers to; None: it is not in the archive yet."""
        place = self._notes.place(_payload_key(revisit.refers_to or ""))
        if place is None:
            return None
        try:
            body = self._archive.read(place).response.body
        except DamagedError:
            return None
        return replace(revisit, response=replace(revisit.response, body=body), refers_to=None)

    def _end_wait(self, key: bytes, data: bytes) -> None:
        revisit = _revisit(msgspec.msgpack.decode(data, type=_Waiting))
        found = None if revisit is None or self._notes.has(key) else self._resolved(revisit)
        if found is None:
            self.counts.skipped["no original"] += 1
            return
        self._hold(key, found)
        if len(self._pending) >= MAX_CAPTURES or self._bytes >= MAX_BODY_BYTES:
            self.commit()


def _key_of(capture: ForeignCapture) -> bytes:
    """Returns the digest of a capture: equal for each copy of its record, now and later."""
    what = f"{capture.url.text}\0{capture.at:.6f}\0{capture.response.status}\0{capture.payload}"
    return blake2b(what.encode("utf-8", "replace"), digest_size=16).digest()


def _payload_key(payload: str) -> bytes:
    return blake2b(payload.strip().upper().encode("utf-8", "replace"), digest_size=12).digest()


def _is_robots_txt(url: Url) -> bool:
    return url.path == "/robots.txt" and "?" not in url.target


def _has_page(known: UrlRecord) -> bool:
    return known.state == "visited" or known.seen is not None


def _settled(outcome: Outcome, token: int) -> Outcome:
    """Returns the outcome without a planned visit or another try."""
    state = "failed" if outcome.state == "ready" else outcome.state
    seen = outcome.seen and replace(outcome.seen, due_at=inf)
    events = tuple(event for event in outcome.events if event.decision != "revisit")
    why = outcome.why.replace(_TRIES, "")
    return replace(outcome, state=state, why=why, tries=0, ready_at=0.0, token=token, seen=seen, events=events)


def _waiting(revisit: ForeignCapture) -> _Waiting:
    response = revisit.response
    return _Waiting(
        *(revisit.url.text, revisit.at, response.status, response.headers, response.version, response.reason),
        *(revisit.payload, revisit.peer, revisit.request_head, revisit.refers_to or ""),
    )


def _revisit(waiting: _Waiting) -> ForeignCapture | None:
    url = parse_url(waiting.url)
    if url is None:
        return None
    response = Response(waiting.status, waiting.headers, b"", waiting.version, waiting.reason)
    rest = (waiting.payload, waiting.peer, waiting.request_head, waiting.refers_to)
    return ForeignCapture(url, waiting.at, response, *rest)


Progress = Callable[[int, int], object]
"""Called with the number of bytes done and the number of all bytes."""
