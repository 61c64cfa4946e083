"""Connections of clients that choose every byte they send."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from email import message_from_bytes
from email.message import Message
from socket import create_connection, socket
from typing import NamedTuple
from urllib.parse import urlsplit


class Response(NamedTuple):
    version: str
    status: int
    headers: Message
    body: bytes


@contextmanager
def connected(url: str, count: int = 1, first: bytes = b"") -> Iterator[list[socket]]:
    """Opens connections; each sends `first` before the next one is opened."""
    place = urlsplit(url)
    with ExitStack() as stack:
        connections = list[socket]()
        for _ in range(count):
            connections.append(stack.enter_context(create_connection((place.hostname, place.port), timeout=60)))
            connections[-1].sendall(first)
        yield connections


def received(connection: socket) -> bytes:
    """Reads until the server ends the connection. Raises ConnectionResetError if it resets it."""
    answer = bytearray()
    while part := connection.recv(65536):
        answer += part
    return bytes(answer)


def responses(answer: bytes, methods: str = "") -> list[Response]:
    """Splits what a server sent into responses with a Content-Length, each of which must be whole. `methods` are those
    of the requests, if one is HEAD."""
    found = []
    asked = iter(methods.split())
    while answer:
        head, end, answer = answer.partition(b"\r\n\r\n")
        assert end, head
        line, _, fields = head.partition(b"\r\n")
        version, status, _ = line.decode().split(" ", 2)
        headers = message_from_bytes(fields)
        has_body = next(asked, "GET") != "HEAD" and status not in ("204", "304")
        length = int(headers["Content-Length"]) if has_body else 0
        assert len(answer) >= length, (len(answer), length)
        found.append(Response(version, int(status), headers, answer[:length]))
        answer = answer[length:]
    return found


def conversation(url: str, data: bytes, methods: str = "") -> list[Response]:
    """Sends bytes on a new connection, and reads the responses until the server ends it."""
    with connected(url) as (connection,):
        connection.sendall(data)
        return responses(received(connection), methods)
