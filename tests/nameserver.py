"""A small real DNS server for tests, on loopback, over UDP and TCP.

    async with NameServer({"site.test": ["192.0.2.1", "2001:db8::1"]}) as server:
        Settings(nameservers=(server.address,))

A name has addresses, another name (`CNAME other.test`), or a function that takes the query and returns the bytes of the
answer. Names that are not listed do not exist.
"""

import asyncio
import socket
import struct
from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from types import TracebackType
from typing import Self, cast

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.rrset

Records = Sequence[str] | Callable[[bytes], bytes]

SILENCE: Records = lambda question: b""  # noqa: E731
"""Sends no answer."""


def one_port() -> tuple[socket.socket, socket.socket]:
    """Returns a TCP and a UDP socket that are bound to the same port of 127.0.0.1."""
    while True:
        tcp, udp = socket.socket(), socket.socket(type=socket.SOCK_DGRAM)
        tcp.bind(("127.0.0.1", 0))
        try:
            udp.bind(tcp.getsockname())
        except OSError:  # the UDP port is in use
            tcp.close()
            udp.close()
        else:
            return tcp, udp


class NameServer:
    """Answers DNS queries from `records`, which may change at any time. `asked` lists name and type of each query."""

    def __init__(self, records: Mapping[str, Records], ttl: int = 300) -> None:
        self.records = dict(records)
        self.ttl = ttl
        self.asked: list[tuple[str, str]] = []
        self.port = 0
        self._udp: asyncio.DatagramTransport | None = None
        self._tcp: asyncio.Server | None = None

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.port}"

    async def __aenter__(self) -> Self:
        loop, (tcp, udp) = asyncio.get_running_loop(), one_port()
        self.port = tcp.getsockname()[1]
        self._tcp = await asyncio.start_server(self._accepted, sock=tcp)
        self._udp, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(self.answer), sock=udp)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._udp is not None
        assert self._tcp is not None
        self._udp.close()
        self._tcp.close()
        await self._tcp.wait_closed()

    def answer(self, asked: bytes, most: int) -> bytes:
        """Returns the answer in at most `most` bytes; a longer answer is truncated, with the TC flag."""
        question = dns.message.from_wire(asked)
        name = question.question[0].name.to_text(omit_final_dot=True).lower()
        kind = question.question[0].rdtype
        self.asked.append((name, dns.rdatatype.to_text(kind)))
        records = self.records.get(name)
        if callable(records):
            return records(asked)
        response = dns.message.make_response(question)
        response.flags |= dns.flags.RA
        if records is None:
            response.set_rcode(dns.rcode.NXDOMAIN)
        for owner, texts in self._chain(name):
            self._add(response, owner, texts, kind)
        wire = response.to_wire(max_size=65535)
        if len(wire) > most:
            response.answer.clear()
            response.flags |= dns.flags.TC
            wire = response.to_wire()
        return wire

    def _chain(self, name: str) -> list[tuple[str, Sequence[str]]]:
        """Returns the name and the names its CNAMEs lead to. Follows a loop a few times."""
        chain: list[tuple[str, Sequence[str]]] = []
        while len(chain) < 40:
            records = self.records.get(name)
            if records is None or callable(records):
                break
            chain.append((name, records))
            target = next((text for text in records if text.startswith("CNAME ")), None)
            if target is None:
                break
            name = target.removeprefix("CNAME ")
        return chain

    def _add(
        self, response: dns.message.Message, owner: str, texts: Sequence[str], kind: dns.rdatatype.RdataType
    ) -> None:
        version = {dns.rdatatype.A: 4, dns.rdatatype.AAAA: 6}.get(kind)
        alias = [text.removeprefix("CNAME ") + "." for text in texts if text.startswith("CNAME ")]
        fit = [text for text in texts if not text.startswith("CNAME ") and ip_address(text).version == version]
        if alias:
            response.answer.append(dns.rrset.from_text(owner + ".", self.ttl, "IN", "CNAME", alias[0]))
        elif fit:
            response.answer.append(dns.rrset.from_text(owner + ".", self.ttl, "IN", kind, *fit))

    async def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            (length,) = struct.unpack("!H", await reader.readexactly(2))
            wire = self.answer(await reader.readexactly(length), 65535)
            writer.write(struct.pack("!H", len(wire)) + wire)
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client has left
        finally:
            writer.close()


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, answer: Callable[[bytes, int], bytes]) -> None:
        self._answer = answer
        self._transport: asyncio.DatagramTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.DatagramTransport", transport)  # Python 3.11 passes another class

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        assert self._transport is not None
        if wire := self._answer(data, 512):
            self._transport.sendto(wire, addr)
