"""The gate's HTTP over real sockets: what Web servers send, and what nobody should."""

import asyncio
import socket

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gate.gate_sockets import Teller, Wire, get, listening_gate, until
from goodbot.gate.answers import Answer
from goodbot.gate.gate_protocol import (
    CLOSE_TIMEOUT_S,
    HEAD_TIMEOUT_S,
    IDLE_TIMEOUT_S,
    MOST_HEAD_BYTES,
    MOST_UNREAD_BYTES,
    written,
)

# ---- what servers send ----------------------------------------------------------------------------------------------


async def test_a_connection_carries_one_request_after_another() -> None:
    async with listening_gate(teller := Teller()) as gate:
        wire = await Wire.to(gate.port)
        for number in range(50):
            reply = await wire.ask(get(f"/{number}"))
            assert (reply.version, reply.status, reply.fields["x-seen"]) == ("HTTP/1.1", 200, f"GET /{number}")
            assert "connection" not in reply.fields
        assert len(gate.connections) == 1
        await wire.close()
        await until(lambda: not len(gate.connections))
    assert [request[3] for request in teller.requests] == ["127.0.0.1"] * 50


async def test_pipelined_requests_are_answered_in_their_order() -> None:
    async with listening_gate(Teller(body="<p>é")) as gate:
        wire = await Wire.to(gate.port)
        await wire.send(b"".join(get(f"/{number}") for number in range(500)))
        replies = [await wire.reply() for _ in range(500)]
        await wire.close()
    assert [reply.fields["x-seen"] for reply in replies] == [f"GET /{number}" for number in range(500)]
    assert {reply.body for reply in replies} == {"<p>é".encode()}


async def test_an_answer_to_head_has_no_body() -> None:
    async with listening_gate(Teller(body="a page")) as gate:
        wire = await Wire.to(gate.port)
        await wire.send(get("/a", method="HEAD") + get("/b"))
        head, after = await wire.reply(of_head=True), await wire.reply()
        await wire.close()
    assert (head.fields["content-length"], after.fields["x-seen"], after.body) == ("6", "GET /b", b"a page")


@pytest.mark.parametrize(("line", "keeps"), [("", False), ("Connection: keep-alive\r\n", True)])
async def test_http_1_0_ends_unless_it_asks_for_more(line: str, keeps: bool) -> None:
    request = f"GET /old HTTP/1.0\r\n{line}\r\n".encode()
    async with listening_gate(Teller()) as gate:
        wire = await Wire.to(gate.port)
        first = await wire.ask(request)
        assert first.fields["connection"] == ("keep-alive" if keeps else "close")
        if keeps:
            assert (await wire.ask(request)).status == 200
            await wire.close()
        else:
            assert await wire.rest() == b""


async def test_connection_close_is_obeyed() -> None:
    async with listening_gate(Teller()) as gate:
        wire = await Wire.to(gate.port)
        assert (await wire.ask(get("/", "Connection: close"))).fields["connection"] == "close"
        assert await wire.rest() == b""


@pytest.mark.parametrize(
    "lines",
    [
        ["Content-Length: 5"],
        ["Content-Length: 100000000000"],
        ["Transfer-Encoding: chunked"],
        ["Transfer-Encoding: gzip, chunked"],
        ["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="],
        ["Connection: Upgrade, HTTP2-Settings", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"],
    ],
    ids=["length", "great length", "chunked", "two codings", "WebSocket", "HTTP/2"],
)
async def test_a_head_is_answered_before_what_follows_it_which_ends_the_connection(lines: list[str]) -> None:
    """nginx names the length of a body that it does not pass on."""
    async with listening_gate(teller := Teller()) as gate:
        wire = await Wire.to(gate.port)
        reply = await wire.ask(get("/form", *lines, method="POST"))
        assert (reply.status, reply.fields["connection"]) == (200, "close")
        assert await wire.rest() == b""
    assert len(teller.requests) == 1


async def test_a_body_is_no_second_request() -> None:
    inner = get("/smuggled")
    async with listening_gate(teller := Teller()) as gate:
        for line, body in (
            (f"Content-Length: {len(inner)}", inner),
            ("Transfer-Encoding: chunked", b"%x\r\n%b\r\n0\r\n\r\n" % (len(inner), inner)),
        ):
            wire = await Wire.to(gate.port)
            await wire.send(get("/outer", line, method="POST") + body + get("/after"))
            assert (await wire.reply()).status == 200
            assert await wire.rest() == b""
    assert [request[1] for request in teller.requests] == ["/outer", "/outer"]


@pytest.mark.parametrize("value", ["0", "00", ""])
async def test_a_length_of_zero_is_no_body(value: str) -> None:
    async with listening_gate(Teller()) as gate:
        wire = await Wire.to(gate.port)
        reply = await wire.ask(get("/", *([f"Content-Length: {value}"] if value else [])))
        assert "connection" not in reply.fields
        assert (await wire.ask(get("/again"))).status == 200
        await wire.close()


async def test_connect_is_answered_like_any_method() -> None:
    async with listening_gate(teller := Teller()) as gate:
        reply = await gate.asked(b"CONNECT example.org:443 HTTP/1.1\r\nHost: example.org:443\r\n\r\n")
    assert (reply.status, reply.fields["connection"]) == (200, "close")
    assert teller.requests[0][:2] == ("CONNECT", "example.org:443")


async def test_a_peer_that_sends_no_more_still_gets_its_answer() -> None:
    async with listening_gate(Teller()) as gate:
        wire = await Wire.to(gate.port)
        await wire.send(get("/last"))
        wire.half_close()
        assert (await wire.reply()).status == 200
        assert await wire.rest() == b""
        await until(lambda: not len(gate.connections))


async def test_ipv6() -> None:
    async with listening_gate(teller := Teller(), host="::1") as gate:
        wire = await Wire.to(gate.port, "::1")
        assert (await wire.ask(get())).status == 200
        await wire.close()
    assert teller.requests[0][3] == "::1"


# ---- large heads ----------------------------------------------------------------------------------------------------


async def test_a_uri_of_64_kb_passes_whole() -> None:
    long = "/" + "a" * 65_000
    async with listening_gate(teller := Teller()) as gate:
        reply = await gate.asked(get(long, f"X-Original-URI: {long}", f"X-Forwarded-Uri: {long}"))
    assert reply.status == 200
    ((_, target, fields, _),) = teller.requests
    assert target == long
    assert dict(fields)[b"x-original-uri"] == long.encode()


async def test_control_characters_in_a_field_are_no_error() -> None:
    """nginx passes them on, and would make 500 of a 400."""
    async with listening_gate(teller := Teller()) as gate:
        reply = await gate.asked(b"GET / HTTP/1.1\r\nHost: a\r\nUser-Agent: \x01My\x0bBot\x7f/1\r\n\r\n")
    assert reply.status == 200
    assert dict(teller.requests[0][2])[b"user-agent"] == b"\x01My\x0bBot\x7f/1"


async def test_10_000_fields_and_doubled_ones_pass_in_their_order() -> None:
    lines = [f"X-{number}: {number}" for number in range(10_000)] + ["User-AGENT: one", "user-agent: two"]
    async with listening_gate(teller := Teller()) as gate:
        assert (await gate.asked(get("/", *lines))).status == 200
    fields = teller.requests[0][2]
    assert fields[1:10_001] == [(f"x-{number}".encode(), str(number).encode()) for number in range(10_000)]
    assert fields[10_001:] == [(b"user-agent", b"one"), (b"user-agent", b"two")]


@pytest.mark.parametrize("what", [b"X-A: " + b"a" * MOST_HEAD_BYTES, b"X-A: b\r\n" * (MOST_HEAD_BYTES // 8)])
async def test_a_head_that_is_too_long_is_refused(what: bytes) -> None:
    async with listening_gate(teller := Teller()) as gate:
        wire = await Wire.to(gate.port)
        await wire.send(get()[:-2] + what)
        await until(lambda: not len(gate.connections))
        answer = await wire.rest()
        assert (await gate.asked(get("/next"))).status == 200
    assert answer.startswith(b"HTTP/1.1 431 Request Header Fields Too Large\r\n")
    assert [request[1] for request in teller.requests] == ["/next"]


# ---- what nobody should send ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "garbage",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        b"GET\r\n\r\n",
        b"GET / HTTP/9.9\r\n\r\n",
        b"\x00" * 100,
        get("/", "Content-Length: x"),
        get("/", "Content-Length: 1", "Content-Length: 2"),
        get("/", "Content-Length: 1", "Transfer-Encoding: chunked"),
        get("/", "No colon here"),
    ],
    ids=["TLS", "HTTP/2", "no target", "version", "NUL", "length", "two lengths", "length and chunks", "no field"],
)
async def test_garbage_is_refused_and_the_next_connection_answered(garbage: bytes) -> None:
    async with listening_gate(Teller()) as gate:
        wire = await Wire.to(gate.port)
        await wire.send(garbage)
        assert (await wire.rest()).startswith(b"HTTP/1.1 400 Bad Request\r\n")
        assert (await gate.asked(get())).status == 200


async def test_half_a_head_is_waited_for_10_seconds() -> None:
    async with listening_gate(Teller()) as gate:
        loop, wire = asyncio.get_running_loop(), await Wire.to(gate.port)
        reply = await wire.ask(get("/whole"))
        assert reply.status == 200
        await wire.send(get("/whole") + b"GET /half HTTP/1.1\r\nHost: ")
        assert (await wire.reply()).status == 200
        began = loop.time()
        gate.connections.sweep(began + HEAD_TIMEOUT_S - 5)
        assert len(gate.connections) == 1
        gate.connections.sweep(began + HEAD_TIMEOUT_S + 1)
        assert (await wire.rest()).startswith(b"HTTP/1.1 408 Request Timeout\r\n")


async def test_single_octets_do_not_prolong_a_head() -> None:
    async with listening_gate(teller := Teller()) as gate:
        loop, wire = asyncio.get_running_loop(), await Wire.to(gate.port)
        began = loop.time()
        for octet in b"GET /slow HTTP":
            await wire.send(bytes([octet]))
            await asyncio.sleep(0.01)
        gate.connections.sweep(began + HEAD_TIMEOUT_S + 0.1)
        assert (await wire.rest()).startswith(b"HTTP/1.1 408 ")
    assert teller.requests == []


async def test_an_idle_connection_ends_without_a_word() -> None:
    async with listening_gate(Teller()) as gate:
        silent, used = await Wire.to(gate.port), await Wire.to(gate.port)
        assert (await used.ask(get())).status == 200
        await until(lambda: len(gate.connections) == 2)
        now = asyncio.get_running_loop().time()
        gate.connections.sweep(now + IDLE_TIMEOUT_S - 5)
        assert len(gate.connections) == 2
        gate.connections.sweep(now + IDLE_TIMEOUT_S + 1)
        assert [await silent.rest(), await used.rest()] == [b"", b""]


async def test_a_peer_that_does_not_read_is_cut_off() -> None:
    async with listening_gate(teller := Teller(body="x" * 10_000), kernel_bytes=65_536) as gate:
        deaf = await unread(gate.port)
        await asyncio.get_running_loop().sock_sendall(deaf, get() * 4000)
        await until(lambda: teller.requests and not len(gate.connections))
        assert (await gate.asked(get())).status == 200
        deaf.close()
    assert len(teller.requests) * 10_000 < 2 * MOST_UNREAD_BYTES


async def test_a_peer_that_does_not_read_its_last_answer_is_cut_off_too() -> None:
    async with listening_gate(teller := Teller(body="x" * 900_000), kernel_bytes=65_536) as gate:
        loop, deaf = asyncio.get_running_loop(), await unread(gate.port)
        await loop.sock_sendall(deaf, get("/", "Connection: close"))
        await until(lambda: teller.requests)
        gate.connections.sweep(loop.time() + CLOSE_TIMEOUT_S - 5)
        await asyncio.sleep(0.05)
        assert len(gate.connections) == 1
        gate.connections.sweep(loop.time() + CLOSE_TIMEOUT_S + 1)
        await until(lambda: not len(gate.connections))
        deaf.close()


async def unread(port: int) -> socket.socket:
    """Returns a connection whose peer can send little before it is read."""
    deaf = socket.socket()
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    deaf.setblocking(False)
    await asyncio.get_running_loop().sock_connect(deaf, ("127.0.0.1", port))
    return deaf


async def test_connections_beyond_the_limit_are_refused() -> None:
    async with listening_gate(Teller(), most=3) as gate:
        wires = [await Wire.to(gate.port) for _ in range(3)]
        for wire in wires:
            assert (await wire.ask(get())).status == 200
        late = [await Wire.to(gate.port) for _ in range(2)]
        assert [(await wire.reply()).status for wire in late] == [503, 503]
        assert [await wire.rest() for wire in late] == [b"", b""]
        assert (len(gate.connections), gate.connections.refused) == (3, 2)
        await wires[0].close()
        await until(lambda: len(gate.connections) == 2)
        assert (await gate.asked(get())).status == 200
        for wire in wires[1:]:
            await wire.close()


async def test_at_the_end_all_connections_end() -> None:
    async with listening_gate(Teller()) as gate:
        wires = [await Wire.to(gate.port) for _ in range(5)]
        for wire in wires[:3]:
            await wire.ask(get())
        await wires[3].send(b"GET / HT")
        await until(lambda: len(gate.connections) == 5)
    assert [await wire.rest() for wire in wires] == [b""] * 5
    assert not len(gate.connections)


def test_what_cannot_be_encoded_is_replaced() -> None:
    answer = Answer(403, (("X-Goodbot-Why", "snow ☃"),), "a \udcff page")
    assert written(answer, is_head=False, keeps=True) == (
        b"HTTP/1.1 403 Forbidden\r\nX-Goodbot-Why: snow ?\r\nContent-Type: text/html; charset=utf-8\r\n"
        b"Content-Length: 8\r\n\r\na ? page"
    )


PIECES = st.sampled_from(
    [
        b"GET ", b"POST ", b"/", b" HTTP/1.1\r\n", b" HTTP/1.0\r\n", b"Host: a\r\n", b"\r\n", b"\r\n\r\n", b"\n", b": ",
        b"Content-Length: 3\r\n", b"Transfer-Encoding: chunked\r\n", b"3\r\nabc\r\n", b"0\r\n\r\n", b"Upgrade: x\r\n",
        b"Connection: upgrade\r\n", b"X-Original-URI: /\xff\r\n", b"HEAD ", b"\x00", get("/x"),
    ]
)  # fmt: skip


@settings(max_examples=60)
@given(st.lists(st.lists(PIECES | st.binary(max_size=20), max_size=12).map(b"".join), max_size=6))
@example([get("/a") + b"GET", b" /b HTTP/1.1\r\n\r\n"])
def test_no_octets_in_no_pieces_disturb_the_next_connection(pieces: list[bytes]) -> None:
    async def send() -> None:
        failures: list[dict[str, object]] = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: failures.append(context))
        async with listening_gate(Teller(body="é")) as gate:
            wire = await Wire.to(gate.port)
            for piece in pieces:
                await wire.send(piece)
                await asyncio.sleep(0)
            assert (await gate.asked(get("/next"))).fields["x-seen"] == "GET /next"
            wire.half_close()
            answers = await wire.rest()
            assert not answers or answers.startswith(b"HTTP/1.1 ")
            await until(lambda: not len(gate.connections))
        assert failures == []

    asyncio.run(send())
