"""A worker at the end of the crawl: everything that it has to report reaches the coordinator."""

import asyncio
import socket
import struct
import threading
from pickle import dumps, loads

from goodbot.clock import SystemClock
from goodbot.config import Settings
from goodbot.exclusion import Access
from goodbot.robot.crawl.assembly import WorkerSetup
from goodbot.robot.crawl.page_mark import PageMark
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.identity import Identity
from goodbot.robot.processes.messages import Grant, Stop, WorkerReport, pack, unpack_releases
from goodbot.robot.processes.worker import work
from goodbot.robot.scope.scope import Scope
from goodbot.testing import FakeWeb
from goodbot.url import Url
from goodbot.values import Lease, LeasedUrl, Response

HOME = Url("http://h.example/")
LENGTH = struct.Struct("!Q")


def framed(message: object) -> bytes:
    """Returns a message as it is sent."""
    data = dumps(message)
    return LENGTH.pack(len(data)) + data


def read_all(connection: socket.socket) -> list[object]:
    """Reads until the worker closes the connection, and returns its messages."""
    data = b"".join(iter(lambda: connection.recv(1 << 16), b""))
    messages = []
    while data:
        end = LENGTH.size + LENGTH.unpack_from(data)[0]
        messages.append(loads(data[LENGTH.size : end]))
        data = data[end:]
    return messages


def test_a_worker_that_stops_waits_until_the_coordinator_has_its_last_report() -> None:
    """The coordinator reads nothing until the worker has nothing left to do. A host whose release were lost would get
    its next request without the delay."""
    clock = SystemClock()
    links = "".join(f'<a href="/{number}/{"x" * 80}">on</a>' for number in range(300))
    page = Response(200, (("content-type", "text/html"),), links.encode())
    web = FakeWeb({HOME.text: page}, clock)
    guard, settings = AddressGuard(), Settings(seeds=(HOME.text,), index=False, archive=False)
    identity, scope = Identity("goodbot", "goodbot", None), Scope(settings, [HOME], guard)
    setup = WorkerSetup(settings, identity, guard, scope, None, None, uncommitted_most=100)
    ours, theirs = socket.socketpair()
    theirs.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1)  # the least possible, so that most of a report must wait
    mark = PageMark.new()

    def run() -> None:
        with theirs:  # as the end of a process closes it
            asyncio.run(work(theirs, mark, clock, web))

    with ours:
        worker = threading.Thread(target=run)
        worker.start()
        absent = Access.from_response(404, [], b"", clock.now() - 60.0)
        lease = Lease(HOME.host_key, (LeasedUrl(HOME, 0),))
        for message in (setup, Grant(pack((lease,)), ((HOME.origin, absent),))):
            ours.sendall(framed(message))
        while HOME not in [request.url for request in list(web.requests)]:
            worker.join(0.01)
        ours.sendall(framed(Stop()))
        worker.join(1.0)
        reports = [message for message in read_all(ours) if isinstance(message, WorkerReport)]
        worker.join()
    mark.close()
    assert [release.host for report in reports for release in unpack_releases(report.releases)] == ["h.example"]
    assert len([result for report in reports for result in report.results]) == 1
