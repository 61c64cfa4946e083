"""Settings that cannot mean anything, found before a crawl keeps them."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

from goodbot.config import Settings
from goodbot.errors import InputError, SettingError
from goodbot.robot.addresses import check_proxy, pins_of
from goodbot.robot.credentials import Credentials
from goodbot.robot.globs import parse_type_globs, parse_url_globs
from goodbot.robot.identity import identity_of
from goodbot.robot.seeding import parse_seeds
from goodbot.robot.signing import agent_url, signer_of

Check = Callable[[Settings], object]
"""Raises InputError."""


def check_form(settings: Settings) -> None:
    """Raises SettingError for the first value that is not written as it has to be. Reads no file and uses no network.
    Leaves out what `Settings` itself checks."""
    _apply(_FORMS, settings)


def check_files(settings: Settings) -> None:
    """Raises SettingError for the first file that a crawl needs and that cannot be used."""
    _apply(_FILES, settings)


def _apply(checks: Mapping[str, Check], settings: Settings) -> None:
    for name, check in checks.items():
        try:
            check(settings)
        except InputError as error:
            raise SettingError(name, str(error)) from error


def _nameservers(settings: Settings) -> None:
    if settings.nameservers:
        from goodbot.robot.resolver import nameserver  # noqa: PLC0415  (loads libcurl, and few crawls name any)

        for text in settings.nameservers:
            nameserver(text)


def check_authorities(file: str | None) -> None:
    """Raises InputError for a file that is missing, cannot be read, or holds no certificate in PEM form."""
    if not file:
        return
    if not Path(file).is_file():
        raise InputError(f"there is no file of certificate authorities at {file}")
    import ssl  # noqa: PLC0415  (few crawls name such a file)

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(file)
    except ssl.SSLError as error:
        raise InputError(f"{file} is not a file of certificates (PEM)") from error
    except OSError as error:
        raise InputError(f"cannot read the certificate authorities in {file}: {error.strerror}") from error
    if not context.cert_store_stats()["x509"]:
        raise InputError(f"there is no certificate in {file}")


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
    "auth": lambda settings: Credentials(settings.auth),
}
_FILES: Final[Mapping[str, Check]] = {
    "ca_file": lambda settings: check_authorities(settings.ca_file),
    "sign": signer_of,
}
