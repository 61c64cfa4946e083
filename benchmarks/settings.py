"""The settings of the benchmarks: environment variables, which `make bench-NAME HOSTS=20` sets too.

A benchmark lists its settings and passes them to `start`, which prints the help, and checks all settings before the
benchmark begins. Bad settings and unknown arguments are refused with one line and exit status 2.
"""

import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from shlex import quote
from typing import Any, Generic, TypeVar

T = TypeVar("T")
COMMANDS = frozenset({"wget", "wget2"})
"""The peers that are commands. The others are Python packages, except spider-rs."""
NODE_MODULES = Path(__file__).resolve().parent.parent / ".peers" / "node_modules"
SPIDER = "@spider-rs/spider-rs"
"""The package of spider-rs for Node.js."""


class UsageError(Exception):
    """The user gave something that the benchmark cannot use. The message says what to do."""


@dataclass(frozen=True)
class Setting(Generic[T]):
    """One environment variable. `about`: what it sets. `required`: what its value must be. `parse` raises ValueError or
    OSError for other values."""

    name: str
    default: str
    about: str
    required: str
    parse: Callable[[str], T]

    def value(self) -> T:
        """Returns the value, or the default if the variable is not set."""
        text = os.environ.get(self.name, self.default)
        try:
            return self.parse(text)
        except (ValueError, OSError) as error:
            given = f"not {text!r}" if self.name in os.environ else "and is not set"
            raise UsageError(f"{self.name} must be {self.required}, {given}") from error


def number(name: str, default: float, about: str, least: float, most: float) -> Setting[float]:
    """Returns a setting that is a number from `least` to `most`."""
    required = f"a number {_range(least, most)}"
    return Setting(name, f"{default:g}", about, required, lambda text: _number(text, least, most))


def whole(name: str, default: int, about: str, least: int, most: int) -> Setting[int]:
    """Returns a setting that is a whole number from `least` to `most`."""
    required = f"a whole number {_range(least, most)}"
    return Setting(name, str(default), about, required, lambda text: _whole(text, least, most))


def numbers(name: str, default: str, about: str, least: float, most: float) -> Setting[list[float]]:
    """Returns a setting that is a list of numbers from `least` to `most`, or empty. Its value is sorted."""

    def parse(text: str) -> list[float]:
        return sorted(_number(word, least, most) for word in words(text))

    return Setting(name, default, about, f"a list of numbers {_range(least, most)}", parse)


def choice(name: str, default: str, about: str, known: Sequence[str]) -> Setting[list[str]]:
    """Returns a setting that is a list of one or more of the `known` words."""
    return Setting(name, default, about, f"one or more of {', '.join(known)}", lambda text: _chosen(text, known))


def corpus(pattern: str, about: str) -> Setting[Path | None]:
    """Returns the setting CORPUS, a folder with files that match the pattern. Its value is None if it is not set."""
    required = f"a folder with {Path(pattern).name} files"
    return Setting("CORPUS", "", about, required, lambda text: _corpus(text, pattern))


def words(text: str) -> list[str]:
    """Returns the words of a list, separated by commas or spaces, each once."""
    return list(dict.fromkeys(text.replace(",", " ").split()))


def _range(least: float, most: float) -> str:
    return f"from {least:,} to {most:,}"


def _number(text: str, least: float, most: float) -> float:
    value = float(text)
    if not least <= value <= most:
        raise ValueError(text)
    return value


def _whole(text: str, least: int, most: int) -> int:
    value = _number(text, least, most)
    if not value.is_integer():
        raise ValueError(text)
    return int(value)


def _chosen(text: str, known: Sequence[str]) -> list[str]:
    chosen = words(text)
    if not chosen or not set(chosen) <= set(known):
        raise ValueError(text)
    return chosen


def _corpus(text: str, pattern: str) -> Path | None:
    if text and not any(path.is_file() for path in Path(text).glob(pattern)):
        raise ValueError(text)
    return Path(text) if text else None


def _writable(text: str) -> Path:
    if not text:
        raise ValueError(text)
    folder = Path(text)
    folder.mkdir(parents=True, exist_ok=True)
    tempfile.TemporaryFile(dir=folder).close()
    return folder


RESULTS = Setting(
    "RESULTS",
    os.path.relpath(Path(__file__).parent / "results"),
    "where the JSON file with the results goes",
    "a folder that can be written to",
    _writable,
)


def start(file: str, about: str | None, settings: Sequence[Setting[Any]], main: Callable[[], int]) -> int:
    """Runs the benchmark `main` of a file, or prints its help: `about` and its settings. Returns the exit status."""
    name = Path(file).stem.replace("_", "-")
    settings = [*settings, RESULTS]
    arguments = sys.argv[1:]
    if {"-h", "--help"} & set(arguments):
        print(_help(name, about or "", settings))
        return 0
    if arguments:
        return _refuse(name, f"unknown argument {arguments[0]!r}; settings are environment variables, see --help")
    try:
        for setting in settings:
            setting.value()
        return main()
    except UsageError as error:
        return _refuse(name, str(error))


def _refuse(name: str, reason: str) -> int:
    print(f"{name}: {reason}", file=sys.stderr)
    return 2


def _help(name: str, about: str, settings: Sequence[Setting[Any]]) -> str:
    left = [f"  {one.name}={quote(one.default) if one.default else ''}" for one in settings]
    width = max(map(len, left)) + 2
    lines = [f"{first:<{width}}{one.about}: {one.required}" for first, one in zip(left, settings, strict=True)]
    title = f"Settings, with their defaults, for the environment or for `make {name}`:"
    return "\n".join([about, title, "", *lines])


def installed(programs: Iterable[str]) -> list[str]:
    """Returns the programs that are installed, and prints a line for each of the others."""
    found = []
    for program in programs:
        if _is_installed(program):
            found.append(program)
        else:
            print(f"{program} is not installed and is left out", file=sys.stderr)
    return found


def installed_of(programs: Setting[list[str]]) -> list[str]:
    """Returns the programs of a setting that are installed. Raises UsageError if none is."""
    found = installed(programs.value())
    if not found:
        raise UsageError(f"no program of {programs.name} is installed; install one, or choose others")
    return found


def _is_installed(program: str) -> bool:
    if program in COMMANDS:
        return shutil.which(program) is not None
    if program == "spider-rs":
        return shutil.which("node") is not None and (NODE_MODULES / SPIDER).is_dir()
    try:
        version(program)
    except PackageNotFoundError:
        return False
    return True


def save(name: str, figures: Mapping[str, Any]) -> None:
    """Writes the results of a benchmark to a JSON file in the folder RESULTS."""
    text = json.dumps({"python": sys.version.split()[0], **figures}, indent=1)
    (RESULTS.value() / f"{name}.json").write_text(text + "\n")
