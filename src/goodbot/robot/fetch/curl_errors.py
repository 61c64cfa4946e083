"""Translates libcurl's errors into a kind for programs and a sentence for people. Pure."""

import os
import re
from collections.abc import Callable
from typing import Final

import pycurl  # type: ignore[import-untyped]  # ships no types

from goodbot.exclusion.text.shown_text import visible
from goodbot.url import Url, authority_of
from goodbot.values import Failure, FailureKind

_E_HTTP2_STREAM: Final = 92  # pycurl 7.49 has no names for these two (curl.h)
_E_PROXY: Final = 97

_KINDS: dict[int, FailureKind] = {
    pycurl.E_COULDNT_RESOLVE_HOST: "dns",
    pycurl.E_COULDNT_RESOLVE_PROXY: "connect",
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
_LOST_CONNECTION: Final = {pycurl.E_PARTIAL_FILE, pycurl.E_RECV_ERROR, pycurl.E_HTTP2, _E_HTTP2_STREAM}
HTTP2_FAULTS: Final = {pycurl.E_HTTP2, _E_HTTP2_STREAM}
_MALFORMED: Final = ("chunk", "invalid chunk", "Too large")  # libcurl calls these E_RECV_ERROR as it does a reset
_MEANING: dict[FailureKind, str] = {
    "dns": "the name has no address",
    "connect": "no connection could be made",
    "timeout": "no complete answer in time",
    "reset": "the connection ended before the answer did",
    "tls": "no TLS connection could be set up",
    "protocol": "the answer is not valid HTTP",
}
_DETAIL_CHARS: Final = 300
_OVER_PROXY: Final = re.compile(r" over proxy [^ ]{1,300}")

# What OpenSSL found wrong with a certificate (x509_vfy.h).
_EXPIRED: Final = 10
_NOT_YET_VALID: Final = 9
_NAME_MISMATCH: Final = {0, 1, 62}
_UNKNOWN_AUTHORITY: Final = {2, 18, 19, 20, 21, 24, 27, 28}


def is_lost(code: int) -> bool:
    """Returns whether the connection ended within an answer, of which the beginning may be kept."""
    return code in _LOST_CONNECTION


def failure_of(code: int, message: str, url: Url, info: Callable[[int], int]) -> Failure:
    """Builds a Failure for a libcurl error; `info` is the `getinfo` of the handle that failed."""
    kind = _KINDS.get(code, "protocol")
    if code == pycurl.E_RECV_ERROR and message.startswith(_MALFORMED):
        kind = "protocol"
    detail = message or pycurl.easy_strerror(code)
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        return _failure(kind, _certificate_fault(info(pycurl.SSL_VERIFYRESULT)), url.host, detail)
    if code == pycurl.E_COULDNT_CONNECT and (errno := info(pycurl.OS_ERRNO)):
        return _not_connected(url, errno, detail)
    if code == pycurl.E_COULDNT_RESOLVE_PROXY:
        return Failure(kind, visible(f"the name of the proxy has no address: {detail[:_DETAIL_CHARS]}"))
    return make_failure(kind, url.host, detail)


def _not_connected(url: Url, errno: int, message: str) -> Failure:
    """Builds `connection refused (127.0.0.1:9)`, because libcurl says only that it could not connect."""
    proxy = _OVER_PROXY.search(message)
    where = f"{authority_of(url.host)}:{url.port}{proxy[0] if proxy else ''}"
    return Failure("connect", f"{os.strerror(errno).lower()} ({visible(where)})")


def make_failure(kind: FailureKind, host: str, message: str) -> Failure:
    """Builds a failure whose detail is one printable line, whatever the message."""
    return _failure(kind, _MEANING[kind], host, message)


def _failure(kind: FailureKind, meaning: str, host: str, message: str) -> Failure:
    detail = visible(message[:_DETAIL_CHARS])
    return Failure(kind, f"{meaning} ({host}): {detail}")


def _certificate_fault(result: int) -> str:
    """Names the fault of a certificate. libcurl compares names itself, before it reads OpenSSL's result."""
    if result == _EXPIRED:
        return "the certificate has expired"
    if result == _NOT_YET_VALID:
        return "the certificate is not valid yet"
    if result in _UNKNOWN_AUTHORITY:
        return "the certificate is from an unknown authority"
    return "the certificate is for another host" if result in _NAME_MISMATCH else "the certificate cannot be trusted"
