"""The only module that fetches: libcurl, told to send what is asked and to change nothing that comes back."""

import math
import os
import re
import socket
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

import pycurl  # type: ignore[import-untyped]  # ships no types

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.ports import Clock
from goodbot.robot.guard import AddressGuard
from goodbot.url import Url, reached_address
from goodbot.values import Capture, Failure, FailureKind, Headers, Request, Response

ACCEPT_ENCODING = "gzip, deflate, br, zstd"
"""The content codings that `page` can take off again."""

# Header sections are bounded by libcurl: 300 KiB and 5,000 lines for all of one answer, 1xx and trailers included,
# 100 KiB for one line. A test holds it to that; a bound of our own would cost a Python call for each line.

_SUPPRESS_CONNECT_HEADERS = 265  # pycurl 7.49 has no names for these three (curl.h)
_E_HTTP2_STREAM = 92
_E_PROXY = 97

_NO_SOCKET = int(pycurl.SOCKET_BAD)
_ABORT = int(pycurl.PREREQFUNC_ABORT)
_GO_ON = int(pycurl.PREREQFUNC_OK)

_PROXY_SCHEMES = ("http", "https", "socks4", "socks4a", "socks5", "socks5h")
_DETAIL_CHARS = 300
_MOST_MS = 2**31 - 1
_MOST_LOW_SPEED_S = 65_535


@dataclass(frozen=True, slots=True)
class _Fields:
    """Header fields as libcurl is given them, and as it writes them."""

    given: list[bytes]
    sent: bytes


class CurlTransport:
    """Sends requests through one libcurl multi handle: connections are reused, HTTP/2 is spoken over TLS.

    `user_agent` is sent whole as given, `from_` as `From` (RFC 9110 §10.1.2). No cookies, no redirects followed,
    no proxy but `settings.proxy`: the environment is not asked. The system resolves names; answers serve 60 s.

    With a proxy every connection is the proxy's, which the user named and which is therefore permitted; `guard`
    then judges only hosts that are addresses written out, and `localhost`. What other names lead to is the
    proxy's to guard; `peer` is the proxy.

    Raises InputError for settings that cannot be used, ValueError for a name of the robot that cannot be sent.
    62 µs of CPU for a small page over loopback, 64 in flight; libcurl under asyncio alone takes 45, and a request head
    taken from libcurl's trace instead of built here would cost 8 more.
    """

    def __init__(
        self, settings: Settings, guard: AddressGuard, user_agent: str, from_: str | None, clock: Clock
    ) -> None:
        _check(settings)
        self._settings = settings
        self._guard = guard
        self._clock = clock
        self._user_agent = user_agent
        own = [("User-Agent", user_agent), ("Accept", "*/*"), ("Accept-Encoding", ACCEPT_ENCODING)]
        self._own: Headers = (*own, ("From", from_)) if from_ else tuple(own)
        self._fields = _fields(self._own)
        self._multi = pycurl.AsyncCurlMulti()
        self._multi.setopt(pycurl.M_MAXCONNECTS, 2 * settings.concurrency)
        self._idle: list[_Transfer] = []

    async def send(self, request: Request) -> Capture:
        """What came of it. A body is cut at `settings.body_limit` bytes (`truncated="length"`); one that ends too
        early is kept (`"disconnect"`). Time-outs are those of the settings, and a failure in a body's midst too.

        Raises ValueError for a header field that cannot be sent, CancelledError if the transport is closed meanwhile.
        """
        fetched_at = self._clock.now()
        if self._settings.proxy and (refusal := self._refusal_behind_proxy(request)):
            return Capture(request, Failure("private-address", refusal), fetched_at, 0.0)
        fields = self._fields if not request.headers else _fields(_merged(self._own, request.headers))
        transfer = self._idle.pop() if self._idle else _Transfer(self._settings, self._guard, self._user_agent)
        try:
            transfer.prepare(request, fields)
            error = await self._perform(transfer.curl)
            result = transfer.result(error)
        except BaseException:  # cancelled: the connection is in the midst of an answer
            transfer.curl.close()
            raise
        elapsed_s, peer, head = transfer.elapsed_s, transfer.peer, transfer.head_sent()
        if len(self._idle) < self._settings.concurrency:
            self._idle.append(transfer)
        else:
            transfer.curl.close()
        return Capture(request, result, fetched_at, elapsed_s, peer, head)

    async def close(self) -> None:
        """Closes every connection; requests in flight are cancelled. May be called again."""
        await self._multi.aclose()
        while self._idle:
            self._idle.pop().curl.close()

    async def _perform(self, curl: pycurl.Curl) -> tuple[int, str] | None:
        """libcurl's error code and message, or None."""
        try:
            await self._multi.add_handle(curl)
        except pycurl.error as error:
            code, message = error.args
            return code, message
        return None

    def _refusal_behind_proxy(self, request: Request) -> str | None:
        host = request.url.host
        if host == "localhost" or host.endswith(".localhost"):  # RFC 6761 §6.3
            host = "127.0.0.1"
        return self._guard.refusal(host, request.public_only) if reached_address(host) else None


class _Transfer:
    """An easy handle, set up once, and what its present request has brought. The callbacks never raise."""

    __slots__ = (
        *("_body", "_cut", "_fields", "_guard", "_limit", "_lines", "_permitted", "_proxy"),
        *("_refusal", "_request", "_sent", "curl", "peer"),
    )

    def __init__(self, settings: Settings, guard: AddressGuard, user_agent: str) -> None:
        self.curl = pycurl.Curl()
        self._guard = guard
        self._limit = settings.body_limit
        self._proxy = settings.proxy or ""
        self._fields = _Fields([], b"")
        self._lines: list[bytes] = []
        self._set_up(settings, user_agent)

    def prepare(self, request: Request, fields: _Fields) -> None:
        """Forgets the last request and takes up this one."""
        self._request = request
        self._body = bytearray()
        self._lines.clear()
        self._cut = False
        self._sent = False
        self._refusal: str | None = None
        self._permitted = False
        self.peer: str | None = None
        if fields is not self._fields:  # copying them into libcurl costs 1 µs
            self.curl.setopt(pycurl.HTTPHEADER, fields.given)
            self._fields = fields
        self.curl.setopt(pycurl.URL, request.url.text)

    def result(self, error: tuple[int, str] | None) -> Response | Failure:
        """The answer, as far as it came, or why there is none."""
        head = parse_head(self._lines)
        truncated: Literal["length", "disconnect"] | None = None
        if error is not None:
            if self._cut:
                truncated = "length"
            elif head and self._body and error[0] in _LOST_CONNECTION:
                truncated = "disconnect"
            else:
                return self._failure(*error)
        if head is None:  # libcurl takes a head that breaks off, or a 101 nobody asked for, for an answer
            whole = bool(self._lines) and not self._lines[-1].strip()
            return self._told("protocol" if whole else "reset", "the head of the answer is missing or breaks off")
        version, status, reason, headers = head
        body = bytes(self._body)
        self._body = bytearray()  # a transfer at rest holds no page
        return Response(status, headers, body, version, reason, truncated)

    @property
    def elapsed_s(self) -> float:
        return float(self.curl.getinfo(pycurl.TOTAL_TIME))

    def head_sent(self) -> bytes:
        """Request line and fields as libcurl writes them: `Host` first, then ours in order; empty if none was sent.

        HTTP/2 is written in the manner of HTTP/1. The password for a proxy is left out.
        """
        if not self._sent:
            return b""
        url = self._request.url
        target = url.text if self._proxied(url) else url.target
        start = f"GET {target} HTTP/{self._version_asked()}\r\nHost: {url.authority}\r\n"
        return start.encode("ascii") + self._fields.sent

    def _version_asked(self) -> str:
        """On a connection that was answered in HTTP/1.0 before, libcurl asks in HTTP/1.0 from then on."""
        answered = self.curl.getinfo(pycurl.INFO_HTTP_VERSION)
        if answered == pycurl.CURL_HTTP_VERSION_2_0:
            return "2"
        reused = answered == pycurl.CURL_HTTP_VERSION_1_0 and not self.curl.getinfo(pycurl.NUM_CONNECTS)
        return "1.0" if reused else "1.1"

    def _proxied(self, url: Url) -> bool:
        """Whether the request line holds the whole URL (RFC 9112 §3.2.2)."""
        return self._proxy != "" and url.scheme == "http" and not self._proxy.lower().startswith("socks")

    def _failure(self, code: int, message: str) -> Failure:
        if self._refusal and not self._permitted:  # a name may have several addresses
            return Failure("private-address", self._refusal)
        if self.peer is None:
            self.peer = self.curl.getinfo(pycurl.PRIMARY_IP) or None
        kind = _KINDS.get(code, "protocol")
        if code == pycurl.E_RECV_ERROR and message.startswith(_MALFORMED):
            kind = "protocol"
        return self._told(kind, message or pycurl.easy_strerror(code))

    def _told(self, kind: FailureKind, message: str) -> Failure:
        told = "".join(char if char.isprintable() else "?" for char in message[:_DETAIL_CHARS])
        return Failure(kind, f"{_MEANING[kind]} ({self._request.url.host}): {told}")

    # ---- callbacks --------------------------------------------------------------------------------------------------

    def _on_body(self, chunk: bytes) -> int | None:
        """Any number but the chunk's size ends the transfer."""
        room = self._limit - len(self._body)
        if len(chunk) <= room:
            self._body += chunk
            return None
        self._body += chunk[:room]
        self._cut = True
        return -1

    def _on_socket(self, purpose: int, target: pycurl.CurlSockAddr) -> "_HandedSocket | int":
        """A new connection: before its first packet."""
        address = str(target.addr[0])
        if not self._proxy and self._refuses(address):
            return _NO_SOCKET
        try:
            return _HandedSocket(target.family, target.socktype, target.protocol)
        except OSError:  # out of file descriptors: libcurl reports that it could not connect
            return _NO_SOCKET

    def _on_request(self, peer: str, _local: str, _port: int, _local_port: int) -> int:
        """Any connection, a reused one too: before the request is sent. Costs 2 µs."""
        if not self._proxy and self._refuses(peer):
            return _ABORT
        self.peer = peer
        self._sent = True
        return _GO_ON

    def _refuses(self, address: str) -> bool:
        refusal = self._guard.refusal(address, self._request.public_only)
        if refusal is None:
            self._permitted = True
        else:
            self._refusal = refusal
        return refusal is not None

    # ---- options ----------------------------------------------------------------------------------------------------

    def _set_up(self, settings: Settings, user_agent: str) -> None:
        set_option = self.curl.setopt
        set_option(pycurl.NOSIGNAL, 1)
        set_option(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
        set_option(pycurl.PATH_AS_IS, 1)
        set_option(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS)
        set_option(pycurl.HTTP_CONTENT_DECODING, 0)
        set_option(pycurl.FOLLOWLOCATION, 0)
        set_option(pycurl.PROXY, self._proxy)  # empty, not unset: unset asks the environment
        set_option(pycurl.NOPROXY, "")
        set_option(pycurl.USERAGENT, user_agent.encode("latin-1"))  # for CONNECT; requests have it in their fields
        set_option(_SUPPRESS_CONNECT_HEADERS, 1)
        set_option(pycurl.CONNECTTIMEOUT_MS, _milliseconds(settings.connect_timeout))
        set_option(pycurl.TIMEOUT_MS, _milliseconds(settings.timeout))
        set_option(pycurl.LOW_SPEED_LIMIT, 1)
        set_option(pycurl.LOW_SPEED_TIME, min(math.ceil(settings.idle_timeout), _MOST_LOW_SPEED_S))
        if settings.ca_file:
            set_option(pycurl.CAINFO, os.fsencode(settings.ca_file))
        if settings.resolve:
            set_option(pycurl.RESOLVE, list(settings.resolve))
        set_option(pycurl.HEADERFUNCTION, self._lines.append)
        set_option(pycurl.WRITEFUNCTION, self._on_body)
        set_option(pycurl.OPENSOCKETFUNCTION, self._on_socket)
        set_option(pycurl.PREREQFUNCTION, self._on_request)


class _HandedSocket(socket.socket):
    """A socket that libcurl duplicates: ours is closed as soon as it is let go, without a ResourceWarning."""

    def __del__(self) -> None:
        self.close()


# ---- what libcurl says ----------------------------------------------------------------------------------------------

_KINDS: dict[int, FailureKind] = {
    pycurl.E_COULDNT_RESOLVE_HOST: "dns",
    pycurl.E_COULDNT_RESOLVE_PROXY: "dns",
    pycurl.E_COULDNT_CONNECT: "connect",
    _E_PROXY: "connect",
    pycurl.E_INTERFACE_FAILED: "connect",
    pycurl.E_OPERATION_TIMEDOUT: "timeout",
    pycurl.E_GOT_NOTHING: "reset",
    pycurl.E_SEND_ERROR: "reset",
    pycurl.E_RECV_ERROR: "reset",
    pycurl.E_PARTIAL_FILE: "reset",
    _E_HTTP2_STREAM: "reset",
    pycurl.E_SSL_CONNECT_ERROR: "tls",
    pycurl.E_SSL_CERTPROBLEM: "tls",
    pycurl.E_SSL_CIPHER: "tls",
    pycurl.E_PEER_FAILED_VERIFICATION: "tls",
    pycurl.E_SSL_CACERT_BADFILE: "tls",
    pycurl.E_SSL_ISSUER_ERROR: "tls",
    pycurl.E_SSL_INVALIDCERTSTATUS: "tls",
}
_LOST_CONNECTION = {pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, pycurl.E_HTTP2, _E_HTTP2_STREAM}
_MALFORMED = ("chunk", "invalid chunk", "Too large")  # libcurl calls these E_RECV_ERROR as it does a reset
_MEANING: dict[FailureKind, str] = {
    "dns": "the name has no address",
    "connect": "no connection could be made",
    "timeout": "no whole answer in time",
    "reset": "the connection ended before the answer did",
    "tls": "no trusted TLS connection could be made",
    "protocol": "what came is not HTTP",
}


def parse_head(lines: Iterable[bytes]) -> tuple[str, int, str, Headers] | None:
    """Version, status, reason and fields of the first head that is no 1xx; None if none is whole.

    Lines that follow it are trailers and left out. Latin-1, so that no byte is lost (RFC 9110 §5.5); folded lines
    are joined (RFC 9112 §5.2).
    """
    text = b"".join(lines).decode("latin-1")
    if "\n " in text or "\n\t" in text:  # rare, and looking costs as much as all the rest
        text = _FOLD.sub(" ", text)
    start = ""
    fields: list[tuple[str, str]] = []
    for raw in text.split("\n")[:-1]:
        line = raw.rstrip("\r")
        if not start:
            start = line
        elif not line:
            version, status, reason = _parse_start(start)
            if status >= 200:
                return version, status, reason, tuple(fields)
            start = ""
            fields.clear()
        else:
            name, _, value = line.partition(":")
            fields.append((name.strip(_BLANKS), value.strip(_BLANKS)))
    return None


_BLANKS = " \t"
_FOLD = re.compile(r"\r?\n[ \t]+")


def _parse_start(line: str) -> tuple[str, int, str]:
    """Status line (RFC 9112 §4); status 0 if it has none."""
    version, _, rest = line.partition(" ")
    code, _, reason = rest.lstrip(_BLANKS).partition(" ")
    digits = code[:3]
    return version, int(digits) if digits.isascii() and digits.isdigit() else 0, reason.strip(_BLANKS)


# ---- what libcurl is told -------------------------------------------------------------------------------------------


def _merged(own: Headers, given: Headers) -> Headers:
    """Ours, but for those given, then those given."""
    names = {name.lower() for name, _ in given}
    return (*(field for field in own if field[0].lower() not in names), *given)


def _fields(headers: Headers) -> _Fields:
    """libcurl takes `Name;` for an empty value, and `Name:` for a field of its own to be left out."""
    lines = [f"{name}: {value}" if value else f"{name};" for name, value in headers]
    if any(char in line for line in lines for char in "\r\n\0"):
        raise ValueError(f"a header field cannot hold a line break: {lines}")
    sent = "".join(f"{name}: {value}\r\n" if value else f"{name}:\r\n" for name, value in headers) + "\r\n"
    return _Fields([*(line.encode("latin-1") for line in lines), b"Proxy-Connection:"], sent.encode("latin-1"))


def _milliseconds(seconds: float) -> int:
    return int(min(seconds * 1000, _MOST_MS))


def _check(settings: Settings) -> None:
    if settings.ca_file and not Path(settings.ca_file).is_file():
        raise InputError(f"there is no file of certificate authorities at {settings.ca_file}")
    if settings.proxy and not (settings.proxy.isascii() and urlsplit(settings.proxy).scheme in _PROXY_SCHEMES):
        raise InputError(f"a proxy is given as http://host:port or socks5h://host:port, not {settings.proxy!r}")
    for text in settings.resolve:
        host, _, rest = text.partition(":")
        port, _, address = rest.partition(":")
        if not (host and port.isdigit() and reached_address(address.strip("[]"))):
            raise InputError(f"resolve is given as HOST:PORT:ADDRESS, not {text!r}")
