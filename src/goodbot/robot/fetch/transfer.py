"""Drives one easy handle of libcurl: sets its options, collects its answer, and guards its sockets."""

import asyncio
import math
import os
import socket
from functools import lru_cache
from ipaddress import ip_address
from time import monotonic
from typing import Literal

import pycurl  # type: ignore[import-untyped]  # ships no types

from goodbot.config import Settings
from goodbot.robot.fetch.body_budget import FREE_BYTES, BodyBudget, BodyShare
from goodbot.robot.fetch.curl_errors import HTTP2_FAULTS, failure_of, is_lost, make_failure
from goodbot.robot.fetch.field_lines import FieldLines, content_length, parse_head
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.standing import Standing
from goodbot.url import Url, is_private_address, is_private_host
from goodbot.values import Failure, Method, Request, Response

_SUPPRESS_CONNECT_HEADERS = 265  # pycurl 7.49 has no name for it (curl.h)

_NO_SOCKET = int(pycurl.SOCKET_BAD)
_HTTP_VERSION = int(pycurl.CURL_HTTP_VERSION_2TLS)
_ABORT = int(pycurl.PREREQFUNC_ABORT)
_GO_ON = int(pycurl.PREREQFUNC_OK)

_BUFFER_BYTES = 128 * 1024
"""How many bytes libcurl reads from a socket at once, into a buffer that all transfers share. Its default, 16 KiB,
costs 10 to 20 % more CPU for a body of 240 kB. libcurl may hold this many bytes for each paused transfer."""

_MOST_MS = 2**31 - 1
_MOST_LOW_SPEED_S = 65_535

# libcurl limits header sections: 300 KiB and 5,000 lines for one answer, including 1xx and trailers, and 100 KiB for
# one line. A test checks that; a limit of our own would cost a Python call for each line.


class Transfer:
    """An easy handle, set up once, and the answer to its current request. The callbacks never raise.

    libcurl resolves no names: it gets the addresses it may connect to (`addresses`), and a socket for any other is
    refused. A proxy is the exception: libcurl resolves its name itself.
    """

    __slots__ = (
        *(
            "_addresses",
            "_began_at",
            "_bodies",
            "_body",
            "_connected",
            "_connection_lost",
            "_counted_from",
        ),
        *("_cut", "_delay", "_fields", "_fresh", "_guard", "_limit", "_lines", "_method", "_permitted", "_plain"),
        *(
            "_proxy",
            "_refusal",
            "_request",
            "_sent",
            "_share",
            "_size",
            "_timeout_ms",
            "_was_paused",
            "_standing",
            "broke_http2",
            "curl",
            "held_back",
            "peer",
        ),
    )

    def __init__(
        self, settings: Settings, guard: AddressGuard, user_agent: str, bodies: BodyBudget, standing: Standing
    ) -> None:
        """`held_back`: the request was not sent, because the standing had ended when the connection was made."""
        self._bodies = bodies
        self._standing = standing
        self.held_back = False
        self._share: BodyShare | None = None
        self._was_paused = False
        self._timeout_ms = _milliseconds(settings.timeout)
        self.curl = pycurl.Curl()
        self._guard = guard
        self._limit = settings.answer_limit
        self._counted_from = self._limit - FREE_BYTES // 2
        self._proxy = settings.proxy or ""
        self._delay = settings.delay
        self._method: Method = "GET"
        self._fresh = self._plain = False
        self._fields = FieldLines([], b"")
        self._lines: list[bytes] = []
        self._body: list[bytes] = []  # a bytearray that grows costs twice as much for 240 kB
        self._size = 0
        self._set_up(settings, user_agent)

    def prepare(self, request: Request, fields: FieldLines, addresses: tuple[str, ...], *, plain: bool = False) -> None:
        """Forgets the last request and prepares this one. Without `addresses` the proxy resolves the name. `plain`: use
        HTTP/1.1, and no connection of HTTP/2."""
        self._request = request
        self._addresses = addresses
        self._began_at = monotonic()
        self._body.clear()
        self._size = 0
        if self._was_paused:
            self._set_timeout(self._timeout_ms)
            self._was_paused = False
        self._lines.clear()
        self._cut = False
        self._sent = 0
        self._connected = False
        self.broke_http2 = self.held_back = False
        self._connection_lost = False
        self._refusal: Failure | None = None
        self._permitted = False
        self.peer: str | None = None
        if fields is not self._fields:  # copying them into libcurl costs 1 µs
            self.curl.setopt(pycurl.HTTPHEADER, fields.given)
            self._fields = fields
        if self._method != request.method or request.method == "POST":
            self._set_method(request)
        if self._fresh != request.fresh:
            self._fresh = request.fresh
            self.curl.setopt(pycurl.FRESH_CONNECT, int(request.fresh))
        if self._plain != plain:
            self._plain = plain
            self.curl.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1 if plain else _HTTP_VERSION)
        self.curl.setopt(pycurl.URL, request.url.text)
        self.curl.setopt(pycurl.REQUEST_TARGET, self._target(request.url))  # else libcurl sends `%C3` for `%c3`
        if addresses and (pin := _pin(request.url.authority, request.url.scheme, addresses)):
            self.curl.setopt(pycurl.RESOLVE, [pin])

    def _set_method(self, request: Request) -> None:
        self._method = request.method
        if request.method == "POST":
            self.curl.setopt(pycurl.POST, 1)
            self.curl.setopt(pycurl.POSTFIELDS, request.body)
        else:
            self.curl.setopt(pycurl.NOBODY if request.method == "HEAD" else pycurl.HTTPGET, 1)

    def result(self, error: tuple[int, str] | None) -> Response | Failure:
        """Returns the answer, even if only a part of it arrived, or the failure."""
        head = parse_head(self._lines)
        truncated: Literal["length", "disconnect"] | None = None
        if error is not None:
            if self._cut:
                truncated = "length"
            elif head and self._body and is_lost(error[0]):
                truncated = "disconnect"
            else:
                return self._failure(*error)
        if head is None:  # libcurl accepts a head that breaks off, or an unexpected 101, as an answer
            whole = bool(self._lines) and not self._lines[-1].strip()
            kind: Literal["protocol", "reset"] = "protocol" if whole else "reset"
            return make_failure(kind, self._request.url.host, "the head of the answer is missing or breaks off")
        version, status, reason, headers = head
        body = b"".join(self._body)
        self._body.clear()  # an idle transfer holds no page
        response = Response(status, headers, body, version, reason, truncated)
        self.ends(response)
        return response

    def ends(self, response: Response | None = None) -> None:
        """Releases the room that the body takes, or leaves it to the answer."""
        share, self._share = self._share, None
        if share is not None:
            share.ends(response)

    def head_sent(self) -> bytes:
        """Returns the request line and fields as libcurl sends them: `Host` first, then ours in order; empty if none
        were sent.

        HTTP/2 is written in the form of HTTP/1. The passwords of proxy and host are left out.
        """
        if not self._sent:
            return b""
        url = self._request.url
        start = (
            f"{self._request.method} {self._target(url)} HTTP/{self._version_in_request()}\r\nHost: {url.authority}\r\n"
        )
        return start.encode("ascii") + self._fields.recorded

    def _version_in_request(self) -> str:
        """Returns the version of the request: after an answer in HTTP/1.0, libcurl keeps to it on that connection."""
        answered = self.curl.getinfo(pycurl.INFO_HTTP_VERSION)
        if answered == pycurl.CURL_HTTP_VERSION_2_0:
            return "2"
        reused = answered == pycurl.CURL_HTTP_VERSION_1_0 and not self.curl.getinfo(pycurl.NUM_CONNECTS)
        return "1.0" if reused else "1.1"

    def _target(self, url: Url) -> str:
        """Returns the target of the request line: the whole URL for a proxy that forwards (RFC 9112 §3.2.2)."""
        forwarded = self._proxy != "" and url.scheme == "http" and not self._proxy.lower().startswith("socks")
        return url.text if forwarded else url.target

    def _failure(self, code: int, message: str) -> Failure:
        answered = self.curl.getinfo(pycurl.INFO_HTTP_VERSION) == pycurl.CURL_HTTP_VERSION_2_0
        self.broke_http2 = code in HTTP2_FAULTS or (answered and code != pycurl.E_OPERATION_TIMEDOUT)
        if self._refusal and not self._permitted:  # a name may have several addresses
            return self._refusal
        if self._connection_lost:
            detail = "the server ended the connection, or refused the request, and did not answer"
            return make_failure(
                "reset", self._request.url.host, f"{detail}; sent {self._sent} times" if self._sent > 1 else detail
            )
        if self.peer is None:
            self.peer = self.curl.getinfo(pycurl.PRIMARY_IP) or None
        return failure_of(code, message, self._request.url, self.curl.getinfo)

    # ---- callbacks --------------------------------------------------------------------------------------------------

    def _on_body(self, chunk: bytes) -> int | None:
        """Collects the body. Returning any number but the chunk's size ends the transfer."""
        room = self._limit - self._size
        if room < self._counted_from and not self._may_grow(min(len(chunk), room)):
            return int(pycurl.WRITEFUNC_PAUSE)
        if len(chunk) > room:
            chunk = chunk[:room]
            self._cut = True
        self._body.append(chunk)
        self._size += len(chunk)
        return -1 if self._cut else None

    def _may_grow(self, more: int) -> bool:
        if self._share is None:
            self._share = BodyShare(self._bodies, self._resume, content_length(self._lines), self._limit)
        if self._share.grows_to(self._size + more):
            return True
        self._was_paused = True
        # libcurl sets no options within a callback
        asyncio.get_running_loop().call_soon(self._stop_timeout, self._share)
        return False

    def _stop_timeout(self, share: BodyShare) -> None:
        """Stops the timeout while paused, unless the transfer has ended meanwhile."""
        if share is self._share:
            self._set_timeout(0)

    def _resume(self) -> None:
        """Goes on, without counting the time of the pause. libcurl's timeout counts from the start of the request, but
        its `TOTAL_TIME` does not advance while a transfer is paused."""
        self._set_timeout(min(_milliseconds(monotonic() - self._began_at) + self._timeout_ms, _MOST_MS))
        self.curl.pause(pycurl.PAUSE_CONT)

    def _set_timeout(self, milliseconds: int) -> None:
        self.curl.setopt(pycurl.TIMEOUT_MS, milliseconds)

    def _on_socket(self, purpose: int, target: pycurl.CurlSockAddr) -> "_HandedSocket | int":
        """Opens a new connection. Called before its first packet."""
        if self._sent and not self._may_repeat(self.peer or ""):
            self._connection_lost = True
            return _NO_SOCKET
        self._connected = self._connected or not self._sent
        address = str(target.addr[0])
        if not self._proxy and (self._refuses(address) or not _is_listed(address, self._addresses)):
            return _NO_SOCKET
        try:
            return _HandedSocket(target.family, target.socktype, target.protocol)
        except OSError:  # out of file descriptors: libcurl reports that it could not connect
            return _NO_SOCKET

    def _on_request(self, peer: str, _local: str, _port: int, _local_port: int) -> int:
        """Checks the connection before the request is sent, also a reused one. Costs 2 µs."""
        if self._sent and not self._may_repeat(peer):
            self._connection_lost = True
            return _ABORT
        if not self._standing.holds:
            self.held_back = True
            return _ABORT
        if not self._proxy and self._refuses(peer):
            return _ABORT
        self.peer = peer
        self._sent += 1
        return _GO_ON

    def _may_repeat(self, peer: str) -> bool:
        """Returns whether libcurl may send the request again. It does so at once, up to five times, if the connection
        ends before an answer, or the server rejects the request unprocessed (GOAWAY, REFUSED_STREAM).

        A reused connection may have been closed while idle, so one repetition is allowed. But the host may have seen
        the request, so if its requests need a gap, none is allowed. A POST is never repeated (RFC 9110 §9.2.2).
        """
        return self._method != "POST" and self._sent < 2 and not self._connected and not self._needs_gap(peer)

    def _needs_gap(self, peer: str) -> bool:
        """Returns whether the host needs a delay between two requests, apart from its back-off."""
        request = self._request
        private = is_private_host(request.url.host) if self._proxy else is_private_address(peer)
        return not private or bool(self._delay or request.verdict.delay_s)

    def _refuses(self, address: str) -> bool:
        if self._guard.permits(address, self._request.public_only):
            self._permitted = True
            return False
        self._refusal = self._guard.failure(address, address, self._request.public_only)
        return True

    # ---- options ----------------------------------------------------------------------------------------------------

    def _set_up(self, settings: Settings, user_agent: str) -> None:
        set_option = self.curl.setopt
        set_option(pycurl.NOSIGNAL, 1)
        set_option(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        set_option(pycurl.BUFFERSIZE, _BUFFER_BYTES)
        set_option(pycurl.PATH_AS_IS, 1)
        set_option(pycurl.HTTP_VERSION, _HTTP_VERSION)
        set_option(pycurl.HTTP_CONTENT_DECODING, 0)
        set_option(pycurl.FOLLOWLOCATION, 0)
        set_option(pycurl.PROXY, self._proxy)  # empty, not unset: unset asks the environment
        set_option(pycurl.NOPROXY, "")
        set_option(pycurl.USERAGENT, user_agent.encode("latin-1"))  # for CONNECT; requests have it in their fields
        set_option(_SUPPRESS_CONNECT_HEADERS, 1)
        set_option(pycurl.CONNECTTIMEOUT_MS, _milliseconds(settings.connect_timeout))
        set_option(pycurl.TIMEOUT_MS, self._timeout_ms)
        set_option(pycurl.LOW_SPEED_LIMIT, 1)
        set_option(pycurl.LOW_SPEED_TIME, min(math.ceil(settings.idle_timeout), _MOST_LOW_SPEED_S))
        if settings.ca_file:
            set_option(pycurl.CAINFO, os.fsencode(settings.ca_file))
        set_option(pycurl.HEADERFUNCTION, self._lines.append)
        set_option(pycurl.WRITEFUNCTION, self._on_body)
        set_option(pycurl.OPENSOCKETFUNCTION, self._on_socket)
        set_option(pycurl.PREREQFUNCTION, self._on_request)


class _HandedSocket(socket.socket):
    """A socket that libcurl duplicates: ours is closed as soon as it is released, without a ResourceWarning."""

    def __del__(self) -> None:
        self.close()


@lru_cache(maxsize=1024)
def _pin(authority: str, scheme: str, addresses: tuple[str, ...]) -> str | None:
    """Builds libcurl's RESOLVE entry; None for an address. `+` makes libcurl forget it after a minute."""
    url = Url(f"{scheme}://{authority}/")
    if addresses == (url.host,):
        return None
    listed = ",".join(f"[{address}]" if ":" in address else address for address in addresses)
    return f"+{url.host}:{url.port}:{listed}"


@lru_cache(maxsize=1024)
def _is_listed(address: str, addresses: tuple[str, ...]) -> bool:
    """Returns whether the address is listed, in whatever notation."""
    try:
        return ip_address(address) in map(ip_address, addresses)
    except ValueError:
        return False


def _milliseconds(seconds: float) -> int:
    return int(min(seconds * 1000, _MOST_MS))
