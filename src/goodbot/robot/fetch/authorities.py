"""Checks a user's file of certificate authorities."""

from pathlib import Path

from goodbot.errors import InputError


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
