"""Opens a place by its URL."""

from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import url2pathname

from goodbot.errors import InputError
from goodbot.places.folder_place import FolderPlace
from goodbot.places.fsspec_place import FsspecPlace
from goodbot.places.place import Place
from goodbot.places.place_address import check_local_address, shown_address

WEB = ("http://", "https://")
"""How URLs of Web servers begin, which can only be read."""


def open_place(url: str) -> Place:
    """Opens the folder of a `file:` URL, or the place at a URL of fsspec. Raises InputError if it cannot be used."""
    if url.lower().startswith(WEB):
        raise InputError(
            "a Web server cannot be written to: write to a folder that it serves, or to a URL of fsspec,"
            f" not to {shown_address(url)}"
        )
    check_local_address(url)
    if url.lower().startswith("file:"):
        return FolderPlace(Path("/", url2pathname(urlsplit(url).path).lstrip("/")))
    return FsspecPlace(url)
