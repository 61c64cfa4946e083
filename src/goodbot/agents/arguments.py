"""Reads the arguments of a call. They come from a model, so each error says in one line what would be right."""

from collections.abc import Collection, Mapping
from typing import Final

from goodbot.errors import InputError, quoted
from goodbot.exclusion.text.shown_text import shown
from goodbot.url import MAX_URL_CHARS, Url, parse_url

MAX_NUMBER: Final = 1 << 53
"""Larger integers lose precision in other programs' JSON."""


class Arguments:
    """The arguments `given` to a tool whose parameters are `known`. Raises InputError for an unknown name."""

    def __init__(self, given: Mapping[str, object], known: Collection[str]) -> None:
        self._given = {name: value for name, value in given.items() if value is not None}
        unknown = [shown(name) for name in self._given if name not in known]
        if unknown:
            raise InputError(f"unknown argument {unknown[0]!r}: the arguments are {', '.join(known)}")

    def __contains__(self, name: str) -> bool:
        return name in self._given

    def text(self, name: str, most: int) -> str:
        """Returns a non-empty string of at most `most` characters."""
        value = self._required(name)
        if not isinstance(value, str):
            raise InputError(f"{name} must be a string, not {quoted(value)}")
        if not value.strip():
            raise InputError(f"{name} is empty")
        if len(value) > most:
            raise InputError(f"{name} may have at most {most:,} characters; it has {len(value):,}")
        return value

    def url(self, name: str) -> Url:
        """Returns an http or https URL."""
        if name not in self:
            raise InputError(f"{name} is missing: give an http or https URL")
        return url_of(self.text(name, MAX_URL_CHARS))

    def urls(self, name: str, most: int) -> list[Url]:
        """Returns one to `most` URLs, each once."""
        value = self._required(name)
        if not isinstance(value, list) or not value or not all(isinstance(item, str) for item in value):
            raise InputError(f"{name} must be a list of one or more URLs, not {quoted(value)}")
        if len(value) > most:
            raise InputError(f"{name} may have at most {most} URLs; {len(value):,} were given")
        return list(dict.fromkeys(url_of(item) for item in value))

    def _required(self, name: str) -> object:
        if name not in self._given:
            raise InputError(f"{name} is missing")
        return self._given[name]

    def number(self, name: str, default: int, least: int, most: int) -> int:
        """Returns a whole number from `least` to `most`."""
        value = self._given.get(name, default)
        is_whole = isinstance(value, float) and value.is_integer() and abs(value) <= MAX_NUMBER
        number = int(value) if is_whole and isinstance(value, float) else value
        if isinstance(number, bool) or not isinstance(number, int) or not least <= number <= most:
            raise InputError(f"{name} must be a whole number from {least:,} to {most:,}, not {quoted(value)}")
        return number

    def flag(self, name: str) -> bool:
        """Returns true or false; false if it is not given."""
        value = self._given.get(name, False)
        if not isinstance(value, bool):
            raise InputError(f"{name} must be true or false, not {quoted(value)}")
        return value

    def choice(self, name: str, choices: Collection[str], default: str) -> str:
        """Returns one of the `choices`."""
        value = self._given.get(name, default)
        if not isinstance(value, str) or value not in choices:
            raise InputError(f"{name} must be one of {', '.join(choices)}, not {quoted(value)}")
        return value


def url_of(text: str) -> Url:
    """Returns the URL that a robot requests for this text: in normal form, without user name, password and fragment,
    and without the dot after the host, which names the same host. Raises InputError if it is not an http or https
    URL."""
    if len(text) > MAX_URL_CHARS:
        raise InputError(f"a URL may have at most {MAX_URL_CHARS:,} characters; this one has {len(text):,}")
    url = parse_url(text.strip())
    if url is None:
        raise InputError(f"{quoted(text)} is not a complete http or https URL such as https://example.org/")
    if not url.host.endswith("."):
        return url
    host = url.host
    undotted = parse_url(url.text.replace(f"//{host}", f"//{host.rstrip('.')}", 1))
    return undotted or url
