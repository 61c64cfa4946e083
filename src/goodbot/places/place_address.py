"""The address of a place, a URL of fsspec: its form, and the address without its password. Pure."""

import re
from typing import Final

from goodbot.errors import InputError

_AUTHORITY: Final = re.compile(r"://([^/?#]*)")
"""Server, with user and password before the last `@`. A chained URL (`simplecache::ftp://…`) may have several."""
_PORT: Final = re.compile(r"(?:\[[^]]*\]|[^:]*)(?::[0-9]*)?")


def check_place_address(address: str) -> None:
    """Raises InputError, which never shows the address, if it is no URL, or if a part of the password would be taken
    for the name of a server or folder."""
    found = list(_AUTHORITY.finditer(address))
    if not found or not address.isprintable():
        raise InputError("it must be a URL of fsspec: s3://BUCKET/FOLDER, sftp://HOST/FOLDER or file:///FOLDER")
    for authority in found:
        if not _PORT.fullmatch(authority[1].rpartition("@")[2]):
            raise InputError("a password in the URL cannot contain / ? or #: fsspec would not find the server")


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
