"""Holds the body of a response while its page is read and judged, so that the body is decoded only once."""

from dataclasses import dataclass
from functools import cached_property
from typing import Final

from goodbot.human import human_bytes
from goodbot.page.coding import Decoded, decode_content
from goodbot.page.encoding import decode_text
from goodbot.values import Response

_NOT_HTML: Final = ("text/plain", "text/markdown", "text/x-markdown")


@dataclass(frozen=True)
class Body:
    """The body of a response with its content coding removed, at most `limit_bytes` of it. Each property is computed
    once, when it is first used. No property raises an error."""

    response: Response
    limit_bytes: int

    @property
    def content(self) -> bytes:
        """The bytes of the document."""
        return self._undone.body

    @property
    def unread(self) -> str:
        """Says which part of the document is missing because its content coding is damaged or breaks off; else empty.

        It is also empty if the response itself was cut off, and if the body is used as received because its coding is
        unknown or it is not compressed.
        """
        undone, response = self._undone, self.response
        if undone.error is None or response.truncated is not None or undone.body == response.body:
            return ""
        return f"only the first {human_bytes(len(undone.body))} of it could be decoded ({undone.error})"

    @cached_property
    def _undone(self) -> Decoded:
        return decode_content(self.response, self.limit_bytes)

    @property
    def text(self) -> str:
        """The decoded document; for an HTML page this is the markup."""
        return self._decoded[0]

    @property
    def encoding(self) -> str:
        """The lower-case WHATWG name of the encoding."""
        return self._decoded[1]

    @cached_property
    def _decoded(self) -> tuple[str, str]:
        response = self.response
        return decode_text(self.content, response.header("content-type"), html=response.media_type not in _NOT_HTML)
