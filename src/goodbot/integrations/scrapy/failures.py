"""Translates the errors of Scrapy's downloader into the kinds of failure that goodbot knows."""

from typing import Final

from scrapy import exceptions
from twisted.internet import error
from twisted.web.client import ResponseFailed

from goodbot.values import Failure, FailureKind


def _kinds() -> dict[type[BaseException], FailureKind]:
    """Scrapy has errors of its own since 2.14; older ones show those of Twisted."""
    of_scrapy: dict[str, FailureKind] = {
        "CannotResolveHostError": "dns",
        "DownloadConnectionRefusedError": "connect",
        "DownloadTimeoutError": "timeout",
        "DownloadFailedError": "reset",
        "ResponseDataLossError": "reset",
    }
    found: dict[type[BaseException], FailureKind] = {
        getattr(exceptions, name): kind for name, kind in of_scrapy.items() if hasattr(exceptions, name)
    }
    return found | {
        error.DNSLookupError: "dns",
        error.TimeoutError: "timeout",
        error.TCPTimedOutError: "timeout",
        error.ConnectError: "connect",
        error.ConnectionLost: "reset",
        error.ConnectionDone: "reset",
        ResponseFailed: "reset",
        TimeoutError: "timeout",
        OSError: "connect",
    }


_KINDS: Final = _kinds()


def failure_of(exception: BaseException) -> Failure:
    """Returns the failure for an exception of a download. Unknown exceptions are of kind `protocol`, which does not
    count against the host."""
    for kind in type(exception).__mro__:
        if kind in _KINDS:
            return Failure(_KINDS[kind], str(exception) or kind.__name__)
    return Failure("protocol", str(exception) or type(exception).__name__)
