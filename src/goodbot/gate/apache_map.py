"""Asks the gate for Apache httpd, which has no forward authentication: as the program of a RewriteMap.

Apache writes one line for each request, the key, and reads one line, the value. An authorizer (mod_authnz_fcgi) would
not do: Apache counts everyone whom it lets through as logged in, which would open pages that need a password.
"""

import logging
import re
import socket
import time
from html import escape
from typing import Final, NamedTuple
from urllib.parse import unquote_to_bytes

import httptools

from goodbot.url import Url

FIELDS: Final = (
    "%{REMOTE_ADDR}",
    "${goodbot_escape:%{HTTP_HOST}}",
    "${goodbot_escape:%{HTTP:Signature-Input}}",
    "${goodbot_escape:%{HTTP:Signature}}",
    "${goodbot_escape:%{HTTP:Signature-Agent}}",
    "%{THE_REQUEST}",
    "%{HTTP_USER_AGENT}",
)
"""The key in the configuration of Apache, with a space between two fields. THE_REQUEST has three words."""

ALLOWED: Final = "200"
AWAY: Final = "503"
"""The answer while the gate cannot be asked, with --fail-closed."""

TIMEOUT_S: Final = 2.0
"""How long the gate may take. After that, the request is let through."""

REST_S: Final = 3.0
"""How long a gate that did not answer in time is not asked again."""

_REFUSED: Final = frozenset((403, 429))
_BREAKS: Final = re.compile(r"[\x00-\x1f\x7f]+")

_log: Final = logging.getLogger(__name__)


class AskedGate:
    """A gate that is asked about requests to Apache, over one connection. `away` is the answer while the
    gate cannot be asked."""

    def __init__(self, url: Url, away: str = ALLOWED, timeout_s: float = TIMEOUT_S) -> None:
        self._away = away
        host, colon, port = url.authority.rpartition(":")
        is_alone = not colon or url.authority.endswith("]")
        self._address = (url.authority if is_alone else host).strip("[]"), 80 if is_alone else int(port)
        self._timeout_s = timeout_s
        self._socket: socket.socket | None = None
        self._is_away = False
        self._asked_again_s = 0.0
        self._has_complained = False

    def value(self, key: str) -> str:
        """Returns the value for a key: `200`, or `403 0 WHY`, or `429 SECONDS WHY`, in which WHY is a sentence for a
        page of HTML; `away` if the gate cannot be asked, or the key cannot be read. The text of both is ISO 8859-1.
        Never raises. Takes about 0.1 ms."""
        fields = _read(key)
        if fields is None:
            if not self._has_complained:
                self._has_complained = True
                _log.error(
                    "Apache sent a line that lacks fields: compare its RewriteRule with docs/how-to/gate-apache.md"
                )
            return self._away
        if time.monotonic() < self._asked_again_s:
            return self._away
        try:
            answer = self._ask(fields.head())
        except (OSError, httptools.HttpParserError) as error:
            if not self._is_away:
                _log.error("the gate cannot be asked, so the answer is %s: %s", self._away, error)
            self._is_away = True
            if isinstance(error, TimeoutError):  # Apache waits for one line after another
                self._asked_again_s = time.monotonic() + REST_S
            return self._away
        if answer.status not in (200, *_REFUSED):  # as if it were down: it has no place for this connection
            self.close()
            return self._away
        if answer.status not in (200, *_REFUSED):  # as if it were down: it has no place for this connection
            self.close()
            return self._away
        self._is_away = False
        if answer.status not in _REFUSED:
            return ALLOWED
        why = _BREAKS.sub(" ", escape(answer.fields.get(b"x-goodbot-why", b"").decode("latin-1"), quote=False))
        return f"{answer.status} {answer.fields.get(b'retry-after', b'0').decode('latin-1')} {why}"

    def _complain_once(self) -> None:
        if not self._has_complained:
            self._has_complained = True
            _log.error("Apache sent a line that lacks fields: compare its RewriteRule with docs/how-to/gate-apache.md")

    def close(self) -> None:
        """Closes the connection."""
        if self._socket is not None:
            self._socket.close()
            self._socket = None

    def _ask(self, head: bytes) -> "_Reading":
        """Sends a request, again over a new connection if the old one was closed meanwhile. Raises OSError, or
        HttpParserError."""
        is_old = self._socket is not None
        try:
            return self._exchange(head)
        except TimeoutError:
            self.close()
            raise
        except (OSError, httptools.HttpParserError):
            self.close()
            if not is_old:
                raise
        try:
            return self._exchange(head)
        except (OSError, httptools.HttpParserError):
            self.close()
            raise

    def _exchange(self, head: bytes) -> "_Reading":
        if self._socket is None:
            self._socket = socket.create_connection(self._address, self._timeout_s)
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._socket.sendall(head)
        answer = _Reading()
        while not answer.is_complete:
            data = self._socket.recv(65536)
            if not data:
                raise ConnectionResetError("the gate closed the connection")
            answer.feed(data)
        if answer.ends_connection:
            self.close()
        return answer


class _Reading:
    """An answer while it is read."""

    def __init__(self) -> None:
        self.status = 0
        self.fields: dict[bytes, bytes] = {}
        self.is_complete = False
        self.ends_connection = False
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_header(self, name: bytes, value: bytes) -> None:
        self.fields[name.lower()] = value

    def on_message_complete(self) -> None:
        self.status, self.is_complete = self._parser.get_status_code(), True
        self.ends_connection = not self._parser.should_keep_alive()


class _Key(NamedTuple):
    address: str
    host: str
    signature_input: str
    signature: str
    signature_agent: str
    method: str
    target: str
    protocol: str
    user_agent: str

    def head(self) -> bytes:
        """Returns the request to the gate. Fields that the client did not send are left out."""
        named = {
            "X-Forwarded-Host": self.host,
            "User-Agent": self.user_agent,
            "Signature-Input": self.signature_input,
            "Signature": self.signature,
            "Signature-Agent": self.signature_agent,
        }
        lines = [
            "GET / HTTP/1.1",
            "Host: goodbot",
            f"X-Original-URI: {self.target}",
            f"X-Original-Method: {self.method}",
            f"X-Forwarded-For: {self.address}",
            *(f"{name}: {_BREAKS.sub(' ', text)}" for name, text in named.items() if text),
        ]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


def _read(key: str) -> _Key | None:
    parts = key.rstrip("\r\n").split(" ", 8)
    if len(parts) != len(_Key._fields):
        return None
    address, *escaped, method, target, protocol, agent = parts
    host, signature_input, signature, signature_agent = (
        unquote_to_bytes(text.encode("latin-1", "replace")).decode("latin-1") for text in escaped
    )
    return _Key(address, host, signature_input, signature, signature_agent, method, target, protocol, agent)
