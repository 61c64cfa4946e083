"""The certificate authority of the exam: made anew for each, known to those who are given its file."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

import trustme

from goodbot.errors import RunError
from goodbot.exam.site_server import DOMAIN

NAMES: Final = ("127.0.0.1", "::1", f"*.{DOMAIN}")
"""Whom a certificate of the exam speaks for: an origin by address, and every site by name."""
STRANGER: Final = "somebody-else.example"
"""RFC 2606: a name nobody has."""

_VALID_FOR: Final = timedelta(days=90)
_LONG_AGO: Final = datetime(2019, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Authority:
    """`file` is the certificate that clients are told to trust, PEM.

    Its own key is kept in memory only. Those of the servers lie for a moment in files nobody else can read, because
    OpenSSL takes them from files.
    """

    file: Path
    _contexts: dict[str, ssl.SSLContext]

    @classmethod
    def create(cls, folder: Path) -> Self:
        """A new authority; its file is put into `folder`, which is made, for its owner only, if it is not there.

        Raises RunError if the folder cannot be written.
        """
        issuer = trustme.CA(organization_name="goodbot exam")
        now = datetime.now(UTC)
        since, until = now - timedelta(days=1), now + _VALID_FOR
        leaves = {
            "valid": issuer.issue_cert(*NAMES, not_before=since, not_after=until),
            "expired": issuer.issue_cert(*NAMES, not_before=_LONG_AGO, not_after=_LONG_AGO + _VALID_FOR),
            "wrong-name": issuer.issue_cert(STRANGER, not_before=since, not_after=until),
        }
        file = folder / "authority.pem"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            issuer.cert_pem.write_to_path(file)
            return cls(file, {kind: _context(leaf, folder) for kind, leaf in leaves.items()})
        except OSError as error:
            raise RunError(f"cannot write certificates into {folder}: {error.strerror}") from error

    def contexts(self) -> dict[str, ssl.SSLContext]:
        """What a server speaks TLS with, by kind of certificate: valid, expired, wrong-name."""
        return dict(self._contexts)


def _context(leaf: trustme.LeafCert, folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    with leaf.private_key_and_cert_chain_pem.tempfile(dir=str(folder)) as file:
        context.load_cert_chain(file)
    return context
