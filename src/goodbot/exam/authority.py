"""Creates the certificate authority of an exam: a new one each time, trusted only by clients that load its file."""

import ssl
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final, Self

import trustme

from goodbot.errors import RunError
from goodbot.exam.site_server import DOMAIN

NAMES: Final = ("127.0.0.1", "::1", f"*.{DOMAIN}")
"""The names in a certificate of the exam: the addresses of all origins, and the names of all sites."""
OTHER_NAME: Final = "somebody-else.example"
"""The name in the certificate that does not match its server; `.example` is reserved (RFC 2606)."""

_VALID_FOR: Final = timedelta(days=90)
_LONG_AGO: Final = datetime(2019, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Authority:
    """A certificate authority. Clients have to trust the certificate in `file` (PEM).

    Its own key stays in memory. The keys of the servers are for a moment in files that only their owner can read,
    because OpenSSL loads them from files.
    """

    file: Path
    _contexts: dict[str, ssl.SSLContext]

    @classmethod
    def create(cls, folder: Path) -> Self:
        """Creates an authority and writes its file into `folder`, which is made, for its owner only, if it is missing.

        Raises RunError if the folder cannot be written.
        """
        issuer = trustme.CA(organization_name="goodbot exam")
        now = datetime.now(UTC)
        since, until = now - timedelta(days=1), now + _VALID_FOR
        leaves = {
            "valid": issuer.issue_cert(*NAMES, not_before=since, not_after=until),
            "expired": issuer.issue_cert(*NAMES, not_before=_LONG_AGO, not_after=_LONG_AGO + _VALID_FOR),
            "wrong-name": issuer.issue_cert(OTHER_NAME, not_before=since, not_after=until),
        }
        file = folder / "authority.pem"
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            issuer.cert_pem.write_to_path(file)
            return cls(file, {kind: _context(leaf, folder) for kind, leaf in leaves.items()})
        except OSError as error:
            raise RunError(f"cannot write certificates into {folder}: {error.strerror}") from error

    def contexts(self) -> dict[str, ssl.SSLContext]:
        """Returns the TLS contexts for servers by kind of certificate: valid, expired, wrong-name."""
        return dict(self._contexts)


def _context(leaf: trustme.LeafCert, folder: Path) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.set_alpn_protocols(["http/1.1"])
    with leaf.private_key_and_cert_chain_pem.tempfile(dir=str(folder)) as file:
        context.load_cert_chain(file)
    return context
