"""What an answer is before it is read: its digest, whether it is complete, and an outcome to begin with. Pure."""

import re
from base64 import b32encode
from collections.abc import Iterable
from hashlib import sha1
from typing import Final, NamedTuple

from goodbot.archive_values import EncodedRecords
from goodbot.url import Url
from goodbot.values import Capture, Event, LeasedUrl, Outcome, Response


def is_broken_off(leased: LeasedUrl, response: Response) -> bool:
    """Whether the answer breaks off, and it is the first try."""
    return response.truncated == "disconnect" and not leased.tries


def fetched_event(capture: Capture, response: Response) -> Event:
    """Returns the event of an answered request."""
    cut = f", cut ({response.truncated})" if response.truncated else ""
    took = took_reason(len(response.body), capture.elapsed_s)
    return Event(capture.fetched_at, "fetch", str(response.status), f"{took}{cut}")


def took_reason(size_bytes: int, taken_s: float) -> str:
    """Returns the reason of the event of a complete answer; `answer_size` reads it."""
    return f"{size_bytes} bytes in {taken_s * 1000:.0f} ms"


class AnswerSize(NamedTuple):
    """The size of an answer's body, as sent, and the time from the request to its end."""

    size_bytes: int
    taken_s: float


_TOOK: Final = re.compile(r"([0-9]{1,15}) bytes in ([0-9]{1,12}) ms", re.ASCII)


def answer_size(events: Iterable[Event]) -> AnswerSize | None:
    """Returns what the last `fetched_event` among the events of a visit states; None if there is none."""
    took = [found for event in events if event.step == "fetch" and (found := _TOOK.match(event.reason))]
    return AnswerSize(int(took[-1][1]), int(took[-1][2]) / 1000) if took else None


_REDIRECTED: Final = re.compile(r"status 3[0-9][0-9], to (https?://[^\s]+)", re.ASCII)


def redirect_reason(status: int, target: Url) -> str:
    """Returns the reason of the outcome of a redirect; `redirected_to` reads it."""
    return f"status {status}, to {target}"


def redirected_to(why: str) -> str | None:
    """Returns the target of a redirect, from the reason of its outcome; None if that names none."""
    found = _REDIRECTED.fullmatch(why)
    return None if found is None else found[1]


def failed_outcome(
    url: Url, capture: Capture, why: str, events: tuple[Event, ...], digest: str | None = None
) -> Outcome:
    """Returns an outcome with state `failed`; callers change it when they know more."""
    response = capture.result if isinstance(capture.result, Response) else None
    return Outcome(
        url=url,
        state="failed",
        at=capture.fetched_at,
        why=why,
        status=response.status if response else None,
        size_bytes=len(response.body) if response else 0,
        digest=digest,
        events=events,
    )


def body_digest(response: Response, encoded: EncodedRecords | None) -> str:
    """Returns the SHA-1 of the body as received, in base 32, as in the archive's records and its index."""
    if encoded is not None and encoded.digest is not None:
        return encoded.digest
    return "sha1:" + b32encode(sha1(response.body, usedforsecurity=False).digest()).decode()
