"""Turns outcomes and visits into rows of the tables `urls`, `visits` and `seen`, and back. Pure."""

import json
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from goodbot.store.merge.coding import CODES, CODES_AGAIN, LATER, UrlKey
from goodbot.store.merge.storable_text import storable
from goodbot.values import Event, LastVisit, Outcome, RecordRef

_JSON: Final = msgspec.json.Encoder()


def settled_row(outcome: Outcome, key: UrlKey) -> tuple[Any, ...]:
    """Returns the state, tries and time of a settled URL, then its key."""
    if outcome.state == "ready":
        return (LATER, outcome.tries, outcome.ready_at, *key)
    if outcome.seen is not None and outcome.state in CODES_AGAIN:
        return (CODES_AGAIN[outcome.state], outcome.tries, outcome.seen.due_at, *key)
    return (CODES[outcome.state], outcome.tries, None, *key)


def visit_row(seq: int, outcome: Outcome) -> tuple[Any, ...]:
    """Returns a row of `visits`."""
    return (
        seq,
        outcome.at,
        outcome.status,
        outcome.digest,
        outcome.title and storable(outcome.title),
        storable(outcome.why),
        *place_of(outcome.record),
        _events_as_json(outcome.events),
    )


def queue_place_of(outcome: Outcome) -> tuple[str | None, int | None]:
    """Returns where the text of a page to index can be read again: not in the archive if a browser rendered it."""
    is_rendered = outcome.seen is not None and outcome.seen.rendered
    return (None, None) if is_rendered else place_of(outcome.record)


def place_of(record: RecordRef | None) -> tuple[str | None, int | None]:
    """Returns file and offset of a record."""
    return (None, None) if record is None else (record.file, record.offset)


def seen_row(seen: LastVisit) -> tuple[Any, ...]:
    """Returns what `seen_of` reads."""
    return (
        *(seen.at, seen.due_at, seen.interval_s, seen.changed_at),
        *(seen.etag and storable(seen.etag), seen.modified and storable(seen.modified), seen.digest),
        *(*place_of(seen.record), seen.title and storable(seen.title), seen.gone, seen.available_until),
        *(int(seen.indexed), seen.text, int(seen.rendered), storable(seen.wishes), seen.whole_at),
    )


def storable_seen(seen: LastVisit) -> LastVisit:
    """Returns the visit as `seen_of` reads it back."""
    return seen_of(seen_row(seen))


def seen_of(row: Sequence[Any]) -> LastVisit:
    """Builds a visit from these columns of `seen`: at, due_at, interval_s, changed_at, etag, modified, digest, file,
    offset, title, gone, available_until, indexed, text, rendered, wishes, whole_at. Raises ValueError if one is missing
    that every visit has."""
    at, due_at, interval_s, changed_at, etag, modified, digest, file, offset, title, gone, until, *others = row
    indexed, text, rendered, wishes, whole_at = others
    if None in (at, due_at, interval_s, changed_at, gone, indexed, rendered, wishes):
        raise ValueError("the last visit of a page is missing")
    record = None if file is None or offset is None else RecordRef(file, offset)
    return LastVisit(
        *(at, due_at, interval_s, changed_at, etag, modified, digest, record, title, gone, until),
        indexed=bool(indexed),
        text=text,
        rendered=bool(rendered),
        wishes=wishes,
        whole_at=whole_at,
    )


def _events_as_json(events: Sequence[Event]) -> str:
    """Returns events as JSON arrays: 1 µs for those of a page, where `json` takes 8. Only `json` can write a lone
    surrogate, which a reason may quote from a page."""
    try:
        return _JSON.encode(events).decode()
    except UnicodeEncodeError:
        return json.dumps(events, separators=(",", ":"))
