"""All exceptions. What is expected on the Web is a value (`Verdict`, `Outcome`, `Failure`), never an exception.

GoodbotError                  everything goodbot raises on purpose; its text is one clear line that says what to do
├── InputError      exit 2    the user's input cannot be used: a scheme, a folder, a query, a setting
│   ├── SettingError          a setting's value; `name` is the setting
│   ├── NoIndexError          this crawl keeps no index, so it cannot be searched
│   └── UrlError              what a visitor typed is not the URL of a page
│       └── UnusableUrlError  it is a URL, but one that no crawl can have
└── RunError        exit 3    the work cannot continue: disk full, port in use, no seed could be fetched
    ├── DamagedError          a frontier, archive or index cannot be read
    │   └── OutdatedError     an older goodbot made this index: it must be rebuilt
    ├── BusyError             another process is writing to the crawl's folder
    ├── AwaitedError          the index is still being fetched, so it cannot be searched yet
    ├── StoreAwayError        the server that keeps a frontier does not answer
    └── LeasesLostError       another machine has taken over the hosts of this one
"""

import re
from typing import ClassVar, Final

QUOTED_CHARS: Final = 100


class GoodbotError(Exception):
    """The base class. `exit_status` is the exit status of the command line."""

    exit_status: ClassVar[int] = 3


class InputError(GoodbotError):
    """The input cannot be used. Nothing was changed."""

    exit_status: ClassVar[int] = 2


class SettingError(InputError):
    """The setting `name` has an invalid value."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name

    def naming(self, shown: str) -> str:
        """Returns the text with the setting called `shown`, as the user gave it: `--contact`, `GOODBOT_CONTACT`."""
        return re.sub(
            rf"(?:^|(?<![\w-])--)(?:{option_of(self.name)}|{self.name})(?![\w-])", lambda _: shown, str(self), count=1
        )


def quoted(value: object) -> str:
    """Returns a value in quotes for an error: one line, cut after `QUOTED_CHARS`."""
    text = repr(value)
    return text if len(text) <= QUOTED_CHARS else f"{text[:QUOTED_CHARS]}…"


def option_of(name: str) -> str:
    """Returns the option of a setting, without the dashes."""
    return "type" if name == "types" else name.replace("_", "-")


class NoIndexError(InputError):
    """The crawl keeps no index, so it cannot be searched."""


class UrlError(InputError):
    """What a visitor typed is not the URL of a page."""


class UnusableUrlError(UrlError):
    """What a visitor typed is a URL, but one that no crawl can have: no server can have its host or port, as in
    `http://1.2.3.4.5/`, or it is too long."""


class RunError(GoodbotError):
    """The environment failed (disk, port, network). The work done before is kept and can be resumed."""


class DamagedError(RunError):
    """A file that goodbot wrote is damaged; the text names it."""


class OutdatedError(DamagedError):
    """The index has the schema of an older goodbot, so it must be rebuilt."""


class BusyError(RunError):
    """Another process holds the lock; a later attempt may succeed."""


class AwaitedError(RunError):
    """The index is still being fetched from another machine; a later attempt may succeed."""


class StoreAwayError(RunError):
    """The server that keeps a frontier does not answer. The call may have been carried out or not; it may be repeated
    as it is."""


class LeasesLostError(RunError):
    """This machine was silent for too long, so others have taken over its hosts. What it still settles is rejected."""
