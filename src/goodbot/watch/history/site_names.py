"""The name of a site's folder in a history: `www.example.org`, `http,www.example.org,8080`, `[2001-db8--1]`."""

import re
from typing import Final
from urllib.parse import quote, unquote

from goodbot.errors import InputError
from goodbot.url import Url, authority_of, parse_url

MAX_NAME_CHARS: Final = 255
"""The longest name of a folder on common file systems."""

_NAME: Final = re.compile(r"(?:(https?),)?(\[[0-9a-f.-]+\]|[^,/\\\x00-\x20]+)(?:,([0-9]{1,5}))?")


def site_name(url: Url) -> str:
    """Returns the name of the folder for the origin of `url`: its host, with the scheme if that is not https, and with
    the port if that is not the default. Characters that a file system may refuse are percent-encoded. Raises InputError
    if the name is too long for a folder."""
    host = url.host
    written = f"[{host.replace(':', '-')}]" if ":" in host else quote(host, safe="")
    if written.startswith("."):
        written = f"%2E{written[1:]}"
    port = "" if url.authority == authority_of(host) else f",{url.port}"
    name = f"{'' if url.scheme == 'https' and not port else f'{url.scheme},'}{written}{port}"
    if len(name) > MAX_NAME_CHARS:
        raise InputError(f"the name of this host is too long for a folder: {host[:60]}…")
    return name


def site_origin(name: str) -> str | None:
    """Returns the origin for the name of a folder: `http,www.example.org,8080` → `http://www.example.org:8080`; None if
    no site has such a folder name. Never raises."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    scheme, host, port = found.groups()
    written = host.replace("-", ":") if host.startswith("[") else unquote(host)
    url = parse_url(f"{scheme or 'https'}://{written}{f':{port}' if port else ''}/")
    return url.origin if url is not None and _is_name_of(url, name) else None


def _is_name_of(url: Url, name: str) -> bool:
    try:
        return site_name(url) == name
    except InputError:
        return False
