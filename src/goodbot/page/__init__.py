"""What does the page say? Pure: bytes and headers in, values out; never raises, linear and bounded."""

from goodbot.page.coding import Decoded, decode_content
from goodbot.page.encoding import decode_text
from goodbot.page.html import read_page

__all__ = ["Decoded", "decode_content", "decode_text", "read_page"]
