"""Refuses requests whose end two servers could see in different places: a proxy in front of this server could then take
a part of one visitor's request for the request of another (request smuggling, RFC 9112 §11.2)."""

import h11


class StrictConnection(h11.Connection):
    """Reads requests as h11 does, and also raises RemoteProtocolError for those that h11 tolerates: with both
    Content-Length and Transfer-Encoding, or with Transfer-Encoding in HTTP/1.0 (RFC 9112 §6.1), or of another version
    than HTTP/1."""

    def next_event(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        event = super().next_event()
        if isinstance(event, h11.Request):
            _check(event)
        return event


def _check(request: h11.Request) -> None:
    names = {name for name, _ in request.headers}
    if not request.http_version.startswith(b"1."):
        raise h11.RemoteProtocolError("not a version of HTTP/1", error_status_hint=505)
    if b"transfer-encoding" in names and (b"content-length" in names or request.http_version == b"1.0"):
        raise h11.RemoteProtocolError("the length of the body is ambiguous")
