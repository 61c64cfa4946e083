"""Reports to systemd that a service is ready or begins to stop, as `Type=notify` of a unit expects (sd_notify(3))."""

import os
import socket
from contextlib import suppress
from typing import Final

READY: Final = "READY=1"
STOPPING: Final = "STOPPING=1"


def notify_systemd(state: str) -> None:
    """Sends `state` to the socket that systemd named in the environment. Does nothing if there is none, or if it does
    not accept the message: systemd then says that the service did not become ready."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if address.startswith(("/", "@")):
        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as sender:
            sender.sendto(state.encode(), address.replace("@", "\0", 1) if address[0] == "@" else address)
