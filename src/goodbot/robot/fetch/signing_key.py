"""Makes, stores and loads the key that a robot signs with, in a file that only its owner can read.

Ed25519 (RFC 8032), as JWK (RFC 8037).
"""

import json
import stat
from base64 import urlsafe_b64decode, urlsafe_b64encode
from hashlib import sha256
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from goodbot.errors import InputError
from goodbot.files import create_file

_MOST_BYTES = 10_000
_OTHERS_MAY = 0o077


class SigningKey:
    """A private key that shows only its public half. It cannot be pickled: processes pass the name of its file."""

    __slots__ = ("_private", "key_id", "public")

    def __init__(self, private: Ed25519PrivateKey) -> None:
        self._private = private
        self.public = _text(private.public_key().public_bytes_raw())
        """The public key, base64url without padding: `x` of its JWK."""
        self.key_id = _text(sha256(f'{{"crv":"Ed25519","kty":"OKP","x":"{self.public}"}}'.encode()).digest())
        """SHA-256 thumbprint of the JWK (RFC 7638 §3, RFC 8037 §2 and A.3), base64url."""

    def __repr__(self) -> str:
        return f"SigningKey({self.key_id})"

    def sign(self, message: bytes) -> bytes:
        """Returns a signature of 64 bytes, always the same for the same message."""
        return self._private.sign(message)

    def public_jwk(self) -> dict[str, str]:
        """Returns the public half, which may be published."""
        return {"kty": "OKP", "crv": "Ed25519", "kid": self.key_id, "x": self.public, "use": "sig"}

    def private_jwk(self) -> dict[str, str]:
        """Returns the key itself, only for storing it in its file."""
        return {**self.public_jwk(), "d": _text(self._private.private_bytes_raw())}


def create_key(file: Path) -> SigningKey:
    """Makes a new key and stores it in `file` (JWK, mode 0600). Raises InputError if the file exists, because a key is
    never overwritten; RunError if it cannot be written."""
    key = SigningKey(Ed25519PrivateKey.generate())
    try:
        create_file(file, f"{json.dumps(key.private_jwk())}\n".encode("ascii"), 0o600)
    except FileExistsError:
        raise InputError(f"{file} exists already and is not overwritten: choose another file with --output") from None
    return key


def load_key(file: Path) -> SigningKey:
    """Loads the key in `file`: JWK, or PEM (PKCS #8) as OpenSSL writes it. Raises InputError if there is no usable key,
    or if others than its owner may read or write it."""
    try:
        found = file.stat()
        data = file.read_bytes() if stat.S_ISREG(found.st_mode) and found.st_size <= _MOST_BYTES else b""
    except OSError as error:
        raise InputError(f"cannot read the key {file}: {error.strerror}") from error
    if found.st_mode & _OTHERS_MAY and data:
        raise InputError(f"others can read or write the key {file}: run chmod 600 on it, or make a new key")
    private = _from_pem(data) if data.startswith(b"-----BEGIN ") else _from_jwk(data)
    if private is None:
        raise InputError(f"{file} holds no Ed25519 private key (JWK or PEM without password): see goodbot key new")
    return SigningKey(private)


def _from_pem(data: bytes) -> Ed25519PrivateKey | None:
    try:
        private = load_pem_private_key(data, password=None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        return None
    return private if isinstance(private, Ed25519PrivateKey) else None


def _from_jwk(data: bytes) -> Ed25519PrivateKey | None:
    """Reads a JWK (RFC 8037 §2); None if its public half belongs to another key."""
    try:
        jwk = json.loads(data)
        if not isinstance(jwk, dict) or (jwk.get("kty"), jwk.get("crv")) != ("OKP", "Ed25519"):
            return None
        private = Ed25519PrivateKey.from_private_bytes(_bytes(jwk["d"]))
        public = private.public_key().public_bytes_raw()
        return private if _bytes(jwk.get("x", _text(public))) == public else None
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def _bytes(text: str) -> bytes:
    return urlsafe_b64decode(text + "=" * (-len(text) % 4))
