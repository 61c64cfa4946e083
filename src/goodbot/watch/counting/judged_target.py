"""What robots.txt is asked about: the URL of a request."""

import re
from typing import Final

from goodbot.watch.counting.request_kinds import target_of

ORIGIN: Final = re.compile(r"https?://[^/?#]*", re.IGNORECASE | re.ASCII)
_NOT_ASCII: Final = re.compile(r"\\x([0-9A-Fa-f]{2})|([^\x00-\x7f])", re.ASCII)


def judged_target(request: str) -> str | None:
    """Returns the target of a request line (wire text) if robots.txt applies to it; None for any other. Octets beyond
    ASCII are percent-encoded, also those that the log has as `\\xC3`."""
    target = target_of(request)
    if not (target.startswith("/") or ORIGIN.match(target)):
        return None
    if target.isascii() and "\\x" not in target:
        return target
    return _NOT_ASCII.sub(lambda found: f"%{found[1].upper() if found[1] else f'{ord(found[2]):02X}'}", target)
