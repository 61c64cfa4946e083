"""Limits requests at private addresses to a list of hosts. Redirects and DNS names cannot lead to others."""

from collections.abc import Iterable
from dataclasses import replace

from goodbot.errors import InputError, quoted
from goodbot.ports import Transport
from goodbot.url import Url, parse_url
from goodbot.values import Capture, Request


class PrivateHosts:
    """Hosts that may be requested at private addresses, each as `HOST` (all its ports) or `HOST:PORT`. IPv6 addresses
    are in brackets. Raises InputError for an entry that is neither."""

    def __init__(self, entries: Iterable[str]) -> None:
        self._hosts = frozenset(map(_host_and_port, entries))

    def __contains__(self, url: Url) -> bool:
        host = _undotted(url.host)
        return (host, None) in self._hosts or (host, url.port) in self._hosts


class OthersPublicTransport:
    """A `Transport` that allows private addresses only for `hosts`."""

    def __init__(self, transport: Transport, hosts: PrivateHosts) -> None:
        self._transport = transport
        self._hosts = hosts

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        return await self._transport.send(request if request.url in self._hosts else replace(request, public_only=True))

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()


def _host_and_port(text: str) -> tuple[str, int | None]:
    url, (_, colon, port) = parse_url(f"http://{text}/"), text.rpartition("]")[2].rpartition(":")
    is_odd = any(character in "/\\?#@*" or character.isspace() for character in text)
    if url is None or is_odd or (colon and not port):
        raise InputError(f"not a host such as wiki.example.org, 127.0.0.1:8000 or [::1]:8000: {quoted(text)}")
    return _undotted(url.host), url.port if colon else None


def _undotted(host: str) -> str:
    return host.removesuffix(".")
