"""What an answer is before it is read: its digest, whether it is complete, and an outcome to begin with. Pure."""

from base64 import b32encode
from hashlib import sha1

from goodbot.archive_values import EncodedRecords
from goodbot.url import Url
from goodbot.values import Capture, Event, LeasedUrl, Outcome, Response


def is_broken_off(leased: LeasedUrl, response: Response) -> bool:
    """Whether the answer breaks off, and it is the first try."""
    return response.truncated == "disconnect" and not leased.tries


def fetched_event(capture: Capture, response: Response) -> Event:
    """Returns the event of an answered request."""
    cut = f", cut ({response.truncated})" if response.truncated else ""
    took = f"{len(response.body)} bytes in {capture.elapsed_s * 1000:.0f} ms{cut}"
    return Event(capture.fetched_at, "fetch", str(response.status), took)


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
