"""How property tests run: the same examples each time, so that a change is judged by what it changes, and no clock ends
one. `make fuzz` draws new examples, many more. How much Python looks for garbage. And that signals work."""

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
    gc.disable()  # modules and tests stay: looking through them again and again took half of the time of collecting


def pytest_collection_finish() -> None:
    gc.enable()
    gc.freeze()


def _listen_to_signals() -> None:
    """What a shell starts in the background ignores Ctrl-C, and under nohup SIGHUP: so would all it starts."""
    for number, handler in ((signal.SIGINT, signal.default_int_handler), (signal.SIGHUP, signal.SIG_DFL)):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
