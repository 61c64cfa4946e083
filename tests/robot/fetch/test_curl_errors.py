"""Tests how libcurl's errors are translated."""

import pycurl  # type: ignore[import-untyped]  # ships no types
import pytest

from goodbot.robot.fetch.curl_errors import failure_of
from goodbot.url import Url

CASES = [
    (
        pycurl.E_COULDNT_RESOLVE_PROXY,
        "Could not resolve proxy: x",
        0,
        "connect",
        "the name of the proxy has no address",
    ),
    (pycurl.E_COULDNT_CONNECT, "Failed to connect", 111, "connect", "connection refused ([::1]:9)"),
    (
        pycurl.E_COULDNT_CONNECT,
        "to ::1 over proxy p:8 after",
        111,
        "connect",
        "refused ([::1]:9 over proxy p:8)",
    ),
    (pycurl.E_COULDNT_RESOLVE_HOST, "", 0, "dns", "the name has no address (::1)"),
    (pycurl.E_RECV_ERROR, "chunk hex-length", 0, "protocol", "the answer is not valid HTTP"),
]


@pytest.mark.parametrize(("code", "message", "errno", "kind", "detail"), CASES)
def test_an_error_in_words(code: int, message: str, errno: int, kind: str, detail: str) -> None:
    failure = failure_of(code, message, Url("http://[::1]:9/"), lambda name: errno)
    assert failure.kind == kind
    assert detail in failure.detail
    assert "\x1b" not in failure_of(code, f"{message} \x1b]52;", Url("http://[::1]:9/"), lambda name: errno).detail
