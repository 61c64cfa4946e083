"""Finds settings that cannot be used, before a crawl saves them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Final

from goodbot.config import Settings
from goodbot.database_address import check_database_address
from goodbot.errors import InputError, SettingError
from goodbot.places.opening import open_place
from goodbot.places.place_address import check_place_address
from goodbot.robot.fetch.authorities import check_authorities
from goodbot.robot.fetch.credentials import Credentials
from goodbot.robot.fetch.identity import identity_of
from goodbot.robot.fetch.pinned_addresses import check_proxy, pins_of
from goodbot.robot.fetch.signing import agent_url, signer_of
from goodbot.robot.scope.globs import parse_type_globs, parse_url_globs
from goodbot.robot.scope.seeding import parse_seeds

Check = Callable[[Settings], object]
"""Raises InputError if a setting cannot be used."""


def check_form(settings: Settings) -> None:
    """Raises SettingError for the first value of a wrong form. Reads no file and uses no network. `Settings` checks
    types and ranges itself."""
    _apply(_FORMS, settings)


def check_files(settings: Settings) -> None:
    """Raises SettingError for the first file that the crawl needs and cannot use."""
    _apply(_FILES, settings)


def _apply(checks: Mapping[str, Check], settings: Settings) -> None:
    for name, check in checks.items():
        try:
            check(settings)
        except InputError as error:
            raise SettingError(name, str(error)) from error


def _nameservers(settings: Settings) -> None:
    if settings.nameservers:
        from goodbot.robot.fetch.resolver import nameserver  # noqa: PLC0415  (loads libcurl, and few crawls name any)

        for text in settings.nameservers:
            nameserver(text)


def _frontier(settings: Settings) -> None:
    if settings.frontier is not None:
        check_database_address(settings.frontier)


def _archive_to(settings: Settings) -> None:
    if settings.archive_to is None:
        return
    if not settings.archive:
        raise InputError("--archive-to moves the archive, and --no-archive keeps none: leave one of them out")
    if settings.archive_to.lower().startswith("memory:"):
        raise InputError("--archive-to: what is moved into memory is lost when the crawl ends")
    _naming("--archive-to", check_place_address, settings.archive_to)


def _place(settings: Settings) -> None:
    if settings.archive_to is not None:
        _naming("--archive-to", open_place, settings.archive_to)


def _naming(option: str, check: Callable[[str], object], text: str) -> None:
    """Adds the name of the option to the error."""
    try:
        check(text)
    except InputError as error:
        raise InputError(f"{option}: {error}") from error


_FORMS: Final[Mapping[str, Check]] = {
    "seeds": lambda settings: parse_seeds(settings.seeds),
    "include": lambda settings: parse_url_globs(settings.include, "--include"),
    "exclude": lambda settings: parse_url_globs(settings.exclude, "--exclude"),
    "types": lambda settings: parse_type_globs(settings.types, "--type"),
    "agent": lambda settings: identity_of(replace(settings, contact=None), ""),
    "contact": lambda settings: identity_of(settings, ""),
    "signature_agent": lambda settings: (
        settings.signature_agent is None or agent_url(settings.signature_agent, settings.signature_agent_form)
    ),
    "resolve": lambda settings: pins_of(settings.resolve),
    "nameservers": _nameservers,
    "proxy": lambda settings: check_proxy(settings.proxy),
    "frontier": _frontier,
    "archive_to": _archive_to,
    "auth": lambda settings: Credentials(settings.auth),
}
_FILES: Final[Mapping[str, Check]] = {
    "ca_file": lambda settings: check_authorities(settings.ca_file),
    "sign": signer_of,
    "archive_to": _place,
}
