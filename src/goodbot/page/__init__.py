"""Reads pages: turns bytes and headers into values. Pure; never raises; linear and bounded."""

from goodbot.page.body import Body
from goodbot.page.coding import Decoded, decode_content
from goodbot.page.document import read_body, read_page
from goodbot.page.encoding import decode_text

__all__ = ["Body", "Decoded", "decode_content", "decode_text", "read_body", "read_page"]
