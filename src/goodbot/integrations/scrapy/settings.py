"""Reads the settings of a Scrapy project that goodbot adds."""

import ipaddress
import os
import re
import stat
from pathlib import Path
from typing import Final

from scrapy.settings import BaseSettings

from goodbot.errors import InputError
from goodbot.robot.fetch.guard import Network
from goodbot.store.requests.requests_file import FILE_NAME

CRAWL_FILES: Final = ("frontier.sqlite", "writer")
"""Every folder of `goodbot crawl` has at least one of these. If it has only `writer`, the frontier is on a database
server."""
_SPIDER: Final = "%(name)s"
"""As in Scrapy's FEEDS."""
WAIT_MOST_S: Final = 3600.0
_PUBLIC_BITS: Final = stat.S_IWGRP | stat.S_IWOTH


def requests_file(settings: BaseSettings, spider: str) -> Path:
    """Returns the file that keeps the requests of the spider with this name: in the folder GOODBOT_FOLDER, where
    `%(name)s` is replaced by the name, or else in JOBDIR. Raises InputError if neither is set, or if the folder has a
    crawl of `goodbot crawl`."""
    if folder := settings.get("GOODBOT_FOLDER"):
        path = Path(str(folder).replace(_SPIDER, _as_file_name(spider)))
    elif folder := settings.get("JOBDIR"):
        path = Path(folder)
    else:
        wanted = f'GOODBOT_FOLDER (such as "crawls/{_SPIDER}") or JOBDIR'
        raise InputError(f"goodbot's scheduler keeps requests in a folder: set {wanted}")
    if any(os.path.isfile(path / name) for name in CRAWL_FILES):
        raise InputError(f"{path} is the folder of a goodbot crawl: give the spider {spider!r} a folder of its own")
    return path / FILE_NAME


def _as_file_name(spider: str) -> str:
    """Returns the name of a spider as that of one folder within another."""
    return re.sub(r"^\.|[/\\\0]", "_", spider)


def is_private_folder(file: Path) -> bool:
    """Returns whether only this user (and root) can write to a file and its folder."""
    return all(_is_ours(path.stat()) for path in (file, file.parent))


def _is_ours(status: os.stat_result) -> bool:
    return status.st_uid in (os.geteuid(), 0) and not status.st_mode & _PUBLIC_BITS


def open_networks(settings: BaseSettings) -> list[Network]:
    """Returns the private addresses and ranges in GOODBOT_ALLOW_PRIVATE (`127.0.0.1`, `10.0.0.0/8`). Raises
    InputError."""
    networks: list[Network] = []
    for text in settings.getlist("GOODBOT_ALLOW_PRIVATE"):
        try:
            networks.append(ipaddress.ip_network(str(text).strip(), strict=False))
        except ValueError as error:
            raise InputError(
                f"GOODBOT_ALLOW_PRIVATE must list IP addresses and ranges such as 10.0.0.0/8, not {text!r}"
            ) from error
    return networks


def wait_most_s(settings: BaseSettings) -> float:
    """Returns GOODBOT_WAIT_MOST: how long a crawl waits for a host when nothing else is left to do. Raises
    InputError."""
    return seconds(settings, "GOODBOT_WAIT_MOST", WAIT_MOST_S)


def seconds(settings: BaseSettings, name: str, usual: float) -> float:
    """Returns a setting in seconds. Raises InputError."""
    try:
        value = settings.getfloat(name, usual)
    except (TypeError, ValueError):
        value = -1.0
    if not 0 <= value < float("inf"):
        raise InputError(f"{name} must be a number of seconds, not {settings.get(name)!r}")
    return value
