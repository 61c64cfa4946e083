"""Listening: every connection has an end, at the latest when the listener stops."""

import asyncio
import socket
import ssl
import subprocess
import sys
import time

import pytest

from goodbot.errors import RunError
from goodbot.exam.listener import HandshakeError, Listener, begin_tls, unread_s


async def _for_ever(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(bytes(65536))
        await writer.drain()


async def test_it_stops_though_a_client_neither_reads_nor_leaves() -> None:
    listener = Listener()
    port = await listener.listen("127.0.0.1", 0, _for_ever)
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
    await asyncio.sleep(0.05)
    await listener.stop()
    writer.transport.abort()


async def test_it_stops_though_what_was_said_last_is_not_taken() -> None:
    async def last_words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(bytes(2**24))

    listener = Listener()
    port = await listener.listen("127.0.0.1", 0, last_words)
    _, writer = await asyncio.open_connection("127.0.0.1", port, limit=1)
    await asyncio.sleep(0.05)
    await listener.stop()
    writer.transport.abort()


async def test_what_was_said_last_arrives() -> None:
    async def last_words(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        writer.write(bytes(2**22))

    listener = Listener()
    port = await listener.listen("127.0.0.1", 0, last_words)
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"x")
    writer.write_eof()
    assert len(await reader.read()) == 2**22
    writer.close()
    await listener.stop()


async def test_a_handshake_that_fails_is_one_error() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    errors: list[Exception] = []

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await begin_tls(writer, context)
        except HandshakeError as error:
            errors.append(error)
            raise

    listener = Listener()
    port = await listener.listen("127.0.0.1", 0, talk)
    for said in (b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x00\x05hello", b""):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(said)
        writer.write_eof()
        await reader.read()
        writer.close()
    await listener.stop()
    assert len(errors) == 3


@pytest.mark.parametrize("port", [70_000, -1])
async def test_a_port_that_is_none(port: int) -> None:
    with pytest.raises(RunError, match=f"cannot serve on 127.0.0.1:{port}: "):
        await Listener().listen("127.0.0.1", port, _for_ever)


async def test_a_port_that_is_taken() -> None:
    listener = Listener()
    port = await listener.listen("127.0.0.1", 0, _for_ever)
    with pytest.raises(RunError, match=f"port {port} is in use on 127.0.0.1: choose another with --port"):
        await listener.listen("127.0.0.1", port, _for_ever)
    await listener.stop()


async def test_too_many_connections_are_closed_at_once_and_counted() -> None:
    async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while data := await reader.read(100):
            writer.write(data)

    listener = Listener(most_open=3)
    port = await listener.listen("127.0.0.1", 0, echo)
    clients = [await asyncio.open_connection("127.0.0.1", port) for _ in range(5)]
    for _, writer in clients[:3]:
        writer.write(b"x")
    assert [await reader.read(1) for reader, _ in clients] == [b"x", b"x", b"x", b"", b""]
    assert listener.refused == 2
    for reader, writer in clients:
        writer.write_eof()
        await reader.read()
        writer.close()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"y")
    assert await reader.read(1) == b"y"
    writer.close()
    await listener.stop()


CROWD = """
import asyncio, resource, socket, sys
from goodbot.exam.listener import Listener, max_connections

async def talk(reader, writer):
    writer.write(await reader.read(1))

async def main():
    resource.setrlimit(resource.RLIMIT_NOFILE, (60, 60))
    assert max_connections() == 20
    listener = Listener(most_open=1000)
    port = await listener.listen("127.0.0.1", 0, talk)
    clients = []
    try:
        while True:
            clients.append(socket.create_connection(("127.0.0.1", port)))
            if len(clients) % 4 == 0:
                await asyncio.sleep(0)
    except OSError:
        pass
    await asyncio.sleep(0.05)
    for client in clients:
        client.close()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(b"x")
    print(len(clients) > 20, await reader.read())
    writer.close()
    await listener.stop()

asyncio.run(main())
"""


def test_a_process_without_files_left_goes_on_when_there_are() -> None:
    ended = subprocess.run([sys.executable, "-c", CROWD], capture_output=True, text=True, timeout=60, check=False)
    assert (ended.stdout, ended.stderr) == ("True b'x'\n", "")


@pytest.mark.skipif(sys.platform != "linux", reason="the system does not say")
def test_for_how_long_something_lay_unread() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server, socket.create_connection(server.getsockname()) as client:
        connection, _ = server.accept()
        with connection:
            client.sendall(b"x")
            connection.recv(1, socket.MSG_PEEK)  # it is there
            time.sleep(0.2)
            assert unread_s(connection) > 0.15
    assert (unread_s(connection), unread_s(None)) == (0.0, 0.0)
