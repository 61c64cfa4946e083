"""The address of a PostgreSQL database, a URL as libpq reads it: its form, and the address without its password.

Pure, so that commands can check and show an address where psycopg is not installed.
"""

import re
from typing import Final
from urllib.parse import unquote

from goodbot.errors import InputError

_ADDRESS: Final = re.compile(r"(postgres(?:ql)?://)(?:([^@/]*)@)?([^?]*)(?:\?(.*))?", re.DOTALL)
"""Scheme, user and password, place, parameters. For libpq the user ends at the first `@` or `/`."""
_SECRETS: Final = ("password", "sslpassword")
"""Parameters that have a password."""


def check_database_address(address: str) -> None:
    """Raises InputError, which never shows the address, if it is none of a PostgreSQL database, or if libpq would take
    a part of the password for the name of the server."""
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        raise InputError("--frontier must be the address of a PostgreSQL database: postgresql://HOST/DATABASE")
    if not address.isprintable():
        raise InputError("--frontier has a character that cannot be in an address: percent-encode it")
    if "@" in parts[3]:
        raise InputError("--frontier: in the user's name and the password write @ as %40 and / as %2F")


def without_password(address: str) -> str:
    """Returns the address without its passwords, for a file or a message: libpq finds the password by itself."""
    parts = _ADDRESS.fullmatch(address)
    if parts is None:
        return address
    scheme, user, place, query = parts.groups()
    kept = [item for item in (query or "").split("&") if unquote(item.partition("=")[0]) not in _SECRETS]
    shown = scheme + ("" if user is None else f"{user.partition(':')[0]}@") + place.rpartition("@")[2]
    return f"{shown}?{'&'.join(kept)}" if query and any(kept) else shown
