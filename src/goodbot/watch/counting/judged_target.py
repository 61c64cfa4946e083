"""Reads the URL of a request, about which robots.txt is asked."""

import re
from typing import Final

from goodbot.watch.counting.request_kinds import target_of
from goodbot.watch.wire_text import readable

ORIGIN: Final = re.compile(r"https?://[^/?#]*", re.IGNORECASE | re.ASCII)
_NOT_ASCII: Final = re.compile(r"\\x([0-9A-Fa-f]{2})|([^\x00-\x7f])", re.ASCII)


def judged_target(request: str, site: str | None = None) -> str | None:
    """Returns the target of a request line (wire text) if robots.txt applies to it; None for any other, and for a URL
    of another host than `site`. Octets beyond ASCII are percent-encoded, also those that the log has as `\\xC3`."""
    target = target_of(request)
    if not target.startswith("/"):
        origin = ORIGIN.match(target)
        if origin is None or (site is not None and host_name(origin.group().partition("//")[2]) != site):
            return None
    if target.isascii() and "\\x" not in target:
        return target
    return _NOT_ASCII.sub(lambda found: f"%{found[1].upper() if found[1] else f'{ord(found[2]):02X}'}", target)


def host_name(authority: str) -> str:
    """Returns the host of `host:port` (wire text) in lower case and ASCII, without port, brackets and final dot. The
    port does not count: a proxy passes requests on to another one."""
    text = authority.rpartition("@")[2].strip().encode("latin-1", "replace").lower().decode("latin-1")
    if text.startswith("["):
        return text[1:].partition("]")[0]
    host = (text if text.count(":") > 1 else text.partition(":")[0]).rstrip(".")
    if host.isascii():
        return host
    try:
        return readable(host).encode("idna").decode()
    except UnicodeError:
        return host
