"""Blocks all requests to forgotten hosts, whatever led to them. This is the last gate before a request."""

from collections.abc import Iterable

from goodbot.ports import Clock, Transport
from goodbot.values import Capture, Failure, Request


class ForgottenHostsGate:
    """A Transport that sends nothing to the hosts in `left` (`Url.host_key`), a set that may grow. Each such request
    becomes a `Failure` of kind `forgotten`."""

    def __init__(self, transport: Transport, clock: Clock, hosts: Iterable[str] = ()) -> None:
        self._transport = transport
        self._clock = clock
        self.left = set(hosts)

    async def send(self, request: Request) -> Capture:
        """See `Transport.send`."""
        if request.url.host_key in self.left:
            detail = f"{request.url.host_key} is forgotten, so no request is sent (goodbot forget HOST --undo)"
            return Capture(request, Failure("forgotten", detail), self._clock.now(), 0.0)
        return await self._transport.send(request)

    async def close(self) -> None:
        """See `Transport.close`."""
        await self._transport.close()
