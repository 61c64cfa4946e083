"""Opens the socket of a service."""

import errno
import ipaddress
import os
import socket

from goodbot.errors import InputError, RunError


def listening(host: str, port: int, option: str = "--port") -> socket.socket:
    """Opens a socket that accepts connections on an address and a port (0: any free one). Raises RunError if that is
    not possible, InputError for a port that does not exist; both name the options that are to be changed."""
    if not 0 <= port <= 65535:  # getaddrinfo would take it modulo 65536
        raise InputError(f"port {port} does not exist: choose one from 0 to 65535 with {option}")
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, _, _, _, address = min(
            found, key=lambda entry: entry[0] != socket.AF_INET
        )  # `localhost` means 127.0.0.1
        server = socket.create_server(address[:2], family=family)
    except (OSError, UnicodeError) as error:
        raise RunError(_trouble(host, port, error, option)) from error
    # Connections inherit this. asyncio sets it only on sockets that name their protocol, which these do not; without
    # it, the second part of a response waits 40 ms for the client to acknowledge the first.
    server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return server


def _trouble(host: str, port: int, error: Exception, option: str) -> str:
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, socket.gaierror | UnicodeError) or number == errno.EADDRNOTAVAIL:
        return f"{host} is not an address of this machine: choose another with --listen"
    if number == errno.EADDRINUSE:
        return f"port {port} is in use on {host}: choose another with {option}"
    if number == errno.EACCES:
        return f"port {port} is reserved for administrators: choose one above 1023 with {option}"
    return f"cannot listen on {host} port {port}: {os.strerror(number) if number else error}"


def url_of(listener: socket.socket, host: str) -> str:
    """Returns the URL for a browser on this machine: `localhost` for a wildcard address such as 0.0.0.0."""
    address, port = listener.getsockname()[:2]
    if ipaddress.ip_address(address).is_unspecified:
        host = "localhost"
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"
