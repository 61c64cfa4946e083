"""A robots.txt in a file that the user named."""

import re
from typing import Final

from goodbot.cli.options import read_input
from goodbot.errors import InputError
from goodbot.exclusion import RobotsTxt

_MAY_BE_BINARY: Final = re.compile(rb"\A%PDF-|[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def read_robots_file(name: str, *, or_site: bool = False) -> bytes:
    """The bytes of a file; see `read_input`. Raises InputError for a program, an image, a web page or a text without
    rules and the like, which as a robots.txt would allow everything."""
    body = read_input(name, or_site=or_site)
    if RobotsTxt.parse(body).groups and not _MAY_BE_BINARY.search(body):
        return body
    from goodbot.check.file_kind import form_of  # noqa: PLC0415  (for plain text with rules, none of `check` is needed)

    form = form_of(body)
    if form is not None:
        raise InputError(f"{'standard input' if name == '-' else name} is {form}, not a robots.txt")
    return body
