"""The whole error tree. What is expected on the Web is a value (`Verdict`, `Outcome`, `Failure`), never an error.

GoodbotError                  everything goodbot raises on purpose; its text is one clear line that says what to do
├── InputError      exit 2    the user gave something that cannot be used: a scheme, a folder, a query, a setting
│   └── SettingError          a setting's value; `name` is the setting
└── RunError        exit 3    the work cannot go on: disk, port, no seed could be fetched
    ├── DamagedError          a frontier, archive or index that cannot be read
    └── BusyError             another process writes to the folder of this crawl
"""

from typing import ClassVar


class GoodbotError(Exception):
    """Base of all; `exit_status` is what the command line ends with."""

    exit_status: ClassVar[int] = 3


class InputError(GoodbotError):
    """Whose fault: the caller's. Nothing was changed."""

    exit_status: ClassVar[int] = 2


class SettingError(InputError):
    """A value that the setting `name` cannot have."""

    def __init__(self, name: str, text: str) -> None:
        super().__init__(text)
        self.name = name


class RunError(GoodbotError):
    """Whose fault: the surroundings'. What was done before is kept and can be resumed."""


class DamagedError(RunError):
    """A file of ours that does not hold what it should; the text names the file."""


class BusyError(RunError):
    """Another process writes where this one wants to; tried again later, it may work."""
