"""Ends a service although a thread still works for a client."""

import logging
import os
import threading
import time
from typing import Final

GRACE_S: Final = 0.3


def end_without_waiting() -> None:
    """Returns if all threads end soon. Otherwise ends the process with status 0: Python would wait for them, and the
    clients that they work for have been answered. What they write is safe, as it is if the process is killed."""
    ends_at = time.monotonic() + GRACE_S
    for thread in _working():
        thread.join(max(0.0, ends_at - time.monotonic()))
    if _working():
        logging.shutdown()
        os._exit(0)


def _working() -> list[threading.Thread]:
    here = threading.current_thread()
    return [thread for thread in threading.enumerate() if not thread.daemon and thread is not here]
