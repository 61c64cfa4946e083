"""Searches run in a few threads, and all are answered."""

import asyncio
import threading

from starlette.requests import Request
from starlette.responses import Response

from goodbot.web.search.search_threads import SearchThreads


async def test_no_more_searches_run_than_there_are_threads() -> None:
    running, most, lock = 0, 0, threading.Lock()
    pair = threading.Barrier(2)

    def endpoint(request: Request) -> Response:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        pair.wait(60)  # two run at the same time, or this raises
        with lock:
            running -= 1
        return Response(request.url.path)

    run = SearchThreads(2).runs(endpoint)
    requests = [Request({"type": "http", "path": f"/{number}", "headers": []}) for number in range(8)]
    answers = await asyncio.gather(*(run(request) for request in requests))
    assert [bytes(answer.body) for answer in answers] == [f"/{number}".encode() for number in range(8)]
    assert most == 2
