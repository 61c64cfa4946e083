"""Finds logs: those in the usual places of servers, and those in a folder."""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from goodbot.errors import InputError
from goodbot.watch.reader.opening import STDIN

USUAL_PLACES: Final = (
    "var/log/nginx/access.log",
    "var/log/apache2/access.log",
    "var/log/apache2/other_vhosts_access.log",
    "var/log/httpd/access_log",
    "var/log/httpd/ssl_access_log",
    "var/log/caddy/access.log",
    "var/log/lighttpd/access.log",
    "var/log/traefik/access.log",
    "var/log/haproxy/access.log",
    "var/log/httpd-access.log",
    "usr/local/var/log/nginx/access.log",
    "opt/homebrew/var/log/nginx/access.log",
    "usr/local/apache2/logs/access_log",
    "var/www/logs/access.log",
)
"""Where the packages of Debian, Red Hat, Alpine, FreeBSD, OpenBSD and Homebrew let their servers log."""

_ROTATED: Final = re.compile(r"[.-](\d{1,8})(?:\.(?:gz|bz2|xz|zst))?", re.ASCII)
_LOG_NAME: Final = re.compile(
    r"(?:.*access.*|.*\.log)(?:[.-]\d{1,8})?(?:\.(?:gz|bz2|xz|zst))?", re.ASCII | re.IGNORECASE
)
_NO_ACCESS_LOG: Final = re.compile(r"error", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class FoundLogs:
    """Logs, oldest first, and files that were passed over, each with the reason."""

    logs: tuple[str, ...] = ()
    passed_over: tuple[tuple[str, str], ...] = ()


def find_logs(names: Sequence[str], root: Path = Path("/"), *, may_be_none: bool = False) -> FoundLogs:
    """Returns the logs that are meant: the files named, those in folders named, or those in the usual places.

    Raises InputError if a folder cannot be listed, and, unless `may_be_none`, if there is no log in it or in the usual
    places.
    """
    if not names:
        found = usual_logs(root)
        if not found.logs and not may_be_none:
            unreadable = "".join(f"; {path}: {reason}" for path, reason in found.passed_over)
            raise InputError(f"no access log in the usual places; name a LOG, or - for standard input{unreadable}")
        return found
    logs: list[str] = []
    passed_over: list[tuple[str, str]] = []
    for name in names:
        if name == STDIN or not Path(name).is_dir():
            logs.append(name)
            continue
        try:
            found = logs_of_folder(Path(name))
        except OSError as error:
            raise InputError(f"cannot list {name}: {error.strerror}") from error
        if not found.logs and not may_be_none:
            raise InputError(
                f"no access log in {name} (*access* or *.log, without error in the name); name other files to read them"
            )
        logs += found.logs
        passed_over += found.passed_over
    return FoundLogs(tuple(dict.fromkeys(logs)), tuple(passed_over))


def usual_logs(root: Path = Path("/")) -> FoundLogs:
    """Looks in the usual places: the first server that has a log that can be read is taken, with its rotated logs."""
    passed_over: list[tuple[str, str]] = []
    for place in USUAL_PLACES:
        current = root / place
        try:
            names = os.listdir(current.parent)
        except FileNotFoundError:
            continue
        except OSError as error:
            passed_over.append((str(current.parent), error.strerror or str(error)))
            continue
        rotated = [name for name in names if _is_rotated(name, current.name)]
        found = _readable(current.parent, rotated)
        passed_over += found.passed_over
        if found.logs:
            return FoundLogs(found.logs, tuple(passed_over))
    return FoundLogs((), tuple(passed_over))


def logs_of_folder(folder: Path) -> FoundLogs:
    """Returns the logs in a folder, by their names: no hidden files, and empty ones only if there are no others. Raises
    OSError if it cannot be listed."""
    names = [entry.name for entry in os.scandir(folder) if entry.is_file() and not entry.name.startswith(".")]
    chosen = [name for name in names if _LOG_NAME.fullmatch(name) and not _NO_ACCESS_LOG.search(name)]
    others = tuple((str(folder / name), "not named like an access log") for name in sorted({*names} - {*chosen}))
    found = _readable(folder, chosen)
    logs = found.logs or tuple(str(folder / name) for name in sorted(chosen, key=_age) if not found.passed_over)
    return FoundLogs(logs, (*found.passed_over, *others))


def rotated_logs(log: Path) -> list[str]:
    """Returns the files whose names are that of a log and a number or a date. Raises OSError if its folder cannot be
    listed."""
    names = sorted(os.listdir(log.parent), key=_age)
    return [str(log.with_name(name)) for name in names if name != log.name and _is_rotated(name, log.name)]


def is_compressed_name(path: str) -> bool:
    """Whether a path ends like that of a compressed file."""
    return path.endswith((".gz", ".bz2", ".xz", ".zst"))


def _is_rotated(name: str, current: str) -> bool:
    """Whether a name is that of a log, or of one that was rotated from it."""
    return name.startswith(current) and (name == current or _ROTATED.fullmatch(name[len(current) :]) is not None)


def _readable(folder: Path, names: Iterable[str]) -> FoundLogs:
    """Sorts out what cannot be read, and puts the oldest first. Empty files are left out."""
    logs: list[str] = []
    passed_over: list[tuple[str, str]] = []
    for name in sorted(names, key=_age):
        path = folder / name
        try:
            if path.stat().st_size and not os.access(path, os.R_OK):
                passed_over.append((str(path), "you may not read it"))
            elif path.stat().st_size:
                logs.append(str(path))
        except OSError as error:  # it was rotated away in this moment
            passed_over.append((str(path), error.strerror or str(error)))
    return FoundLogs(tuple(logs), tuple(passed_over))


def _age(name: str) -> tuple[str, int, int, str]:
    """Returns a sort key that gives the order `access.log.2.gz`, `access.log.1`, `access.log`, and puts
    `access.log-20261101` before `access.log-20261102`."""
    rotated = re.search(r"[.-](\d{1,8})(?:\.(?:gz|bz2|xz|zst))?$", name, re.ASCII)
    if rotated is None:
        return re.sub(r"\.(?:gz|bz2|xz|zst)$", "", name), 1, 0, name
    number = int(rotated[1])
    base = name[: rotated.start()]
    return base, 0, number if len(rotated[1]) >= 6 else -number, name
