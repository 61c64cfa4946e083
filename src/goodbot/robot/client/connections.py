"""Holds what a `Client` needs in one event loop."""

import asyncio
from dataclasses import dataclass

from goodbot.errors import RunError
from goodbot.ports import Transport
from goodbot.robot.client.client_transports import FailureRecorder
from goodbot.robot.client.page_rendering import PageRendering
from goodbot.robot.manners.permission import Permission


@dataclass(slots=True)
class Connections:
    """The objects that belong to one event loop. `public_permission` requests public addresses only, and keeps what it
    learns apart from `permission`."""

    loop: asyncio.AbstractEventLoop
    transport: Transport
    permission: Permission
    public_permission: Permission
    failures: FailureRecorder
    room: asyncio.Semaphore
    rendering: PageRendering
    closed: bool = False

    def check(self) -> None:
        """Raises RunError if the client was closed while the request waited."""
        if self.closed:
            raise RunError("the robot was closed while the request waited")

    def permission_for(self, *, public_only: bool) -> Permission:
        """Returns the permission for a request that may go to public addresses only, or to allowed private ones too."""
        return self.public_permission if public_only else self.permission

    async def close(self) -> None:
        """Cancels the requests in flight and closes the transport and the browser."""
        self.closed = True
        self.permission.close()
        self.public_permission.close()
        await self.rendering.close()
        await self.failures.close()
