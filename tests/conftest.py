"""Configures the test run. Property tests use the same examples each time, and no time limit, so that only a change
of the code changes a result; `make fuzz` draws many new examples. Garbage collection is reduced; signals work."""

import gc
import signal

from hypothesis import HealthCheck, settings

_NO_CLOCK = [HealthCheck.too_slow]

settings.register_profile("same", derandomize=True, deadline=None, suppress_health_check=_NO_CLOCK)
settings.register_profile(
    "fuzz", derandomize=False, deadline=None, max_examples=2000, print_blob=True, suppress_health_check=_NO_CLOCK
)
settings.load_profile("same")


def pytest_configure() -> None:
    _listen_to_signals()
    gc.disable()  # modules and tests stay in memory; examining them again and again took half of the collection time


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


def _listen_to_signals() -> None:
    """Restores SIGINT and SIGHUP: background jobs of a shell ignore SIGINT, under nohup SIGHUP too, and so would the
    processes that tests start."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
