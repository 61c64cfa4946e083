"""The address of a place, a URL of fsspec: its form, and the address without its password. Pure."""

import re
from typing import Final

from goodbot.errors import InputError

_AUTHORITY: Final = re.compile(r"://([^/?#]*)")
"""Server, with user and password before the last `@`. A chained URL (`simplecache::ftp://…`) may have several."""
_PORT: Final = re.compile(r"(?:\[[^]]*\]|[^:]*)(?::[0-9]*)?")
_LOCAL: Final = re.compile(r"(?:^|::)((?:file|local):)(?!///)", re.IGNORECASE)
"""A URL of this computer whose path is not absolute, also one in a chained URL."""


def check_place_address(address: str) -> None:
    """Raises InputError, which never shows the address, if it is no URL, or if a part of the password would be taken
    for the name of a server or folder."""
    found = list(_AUTHORITY.finditer(address))
    if not found or not address.isprintable():
        raise InputError("it must be a URL of fsspec: s3://BUCKET/FOLDER, sftp://HOST/FOLDER or file:///FOLDER")
    for authority in found:
        if not _PORT.fullmatch(authority[1].rpartition("@")[2]):
            raise InputError("a password in the URL cannot contain / ? or #: fsspec would not find the server")


def check_local_address(address: str) -> None:
    """Raises InputError for a URL of a folder on this computer that does not say its absolute path, as other URLs of
    `file:` and `local:` are read in several ways."""
    if found := _LOCAL.search(address):
        raise InputError(
            f"the URL of a folder must be {found[1].lower()}///ABSOLUTE/PATH, not {shown_address(address)}"
        )
    if address.lower().startswith("file:"):
        if "?" in address or "#" in address:
            raise InputError(f"in the URL of a folder, ? is written %3F and # is written %23: {shown_address(address)}")
        if "%00" in address:
            raise InputError(f"the name of a folder cannot contain %00: {shown_address(address)}")


def shown_address(address: str) -> str:
    """Returns the address without its password, for files and messages."""
    return _AUTHORITY.sub(lambda found: "://" + _without_password(found[1]), address)


def passwords_of(address: str) -> list[str]:
    """Returns the passwords in an address."""
    users = (found[1].rpartition("@")[0].partition(":") for found in _AUTHORITY.finditer(address))
    return [password for _, _, password in users if password]


def _without_password(authority: str) -> str:
    user, at, server = authority.rpartition("@")
    return f"{user.partition(':')[0]}{at}{server}"
