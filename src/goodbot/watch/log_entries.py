"""The values of one log line: a request, or why the line was skipped."""

from typing import Final, Literal, NamedTuple, get_args

SkipReason = Literal["empty", "comment", "unknown format", "bad time", "bad status", "too long"]
"""Why a line was not counted."""

SKIP_REASONS: Final[tuple[SkipReason, ...]] = get_args(SkipReason)

LONGEST_LINE: Final = 65_536
"""Bytes of the longest line that is read."""


class SignatureFields(NamedTuple):
    """The header fields of a signed request, without the escapes of the log. None: the request had none, or the log
    does not say."""

    signature_input: str
    signature: str | None = None
    signature_agent: str | None = None
    authority: str | None = None
    """The field Host."""


class LogEntry(NamedTuple):
    """One request, as the log has it.

    Text is "wire text": each byte of the log is one character (latin-1), so any bytes can be kept; `wire_text.readable`
    makes it readable.
    """

    address: str
    """The client's address, or its name if the server logs names; never empty, without brackets."""
    at: int
    """Unix seconds."""
    hour: int
    """The hour of the day as the log has it, 0 to 23."""
    request: str
    """The request line (`GET /x HTTP/1.1`); it has no protocol if the log has none, and is empty or `-` if it is not
    known."""
    status: int
    """100 to 999; 0 if the log has none (`-`)."""
    size: int
    """Bytes sent, 0 if not known."""
    referrer: bool | None
    """Whether the request had a Referer; None if the log does not say."""
    agent: str | None
    """The User-Agent; empty if the request had none, None if the log does not say."""
    duration_s: float | None = None
    """Seconds it took to answer; None if the log does not say."""
    forwarded: str | None = None
    """The text of X-Forwarded-For; None if the log does not say."""
    signature: SignatureFields | None = None
    """None if the request had no Signature-Input, or the log does not say."""
    host: str | None = None
    """The site that was asked, as the log has it: the field Host, or a virtual host; None if the log does not say."""
