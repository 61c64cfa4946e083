"""The public keys with which robots sign requests, from a key directory: a JWK Set (RFC 7517 §5).

Ed25519 (RFC 8037) and RSA with RSASSA-PSS and SHA-512 (RFC 9421 §3.3.1) are read: Web Bot Auth has test vectors for
these two.
"""

import json
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any, Final, Literal

Algorithm = Literal["ed25519", "rsa-pss-sha512"]

MOST_BYTES: Final = 1024 * 1024
"""The largest key directory that is read."""

MOST_KEYS: Final = 1000
"""Keys of a directory that are read."""

_MOST_NUMBER_BYTES: Final = 1024  # an RSA key of 8,192 bits
_SALT_BYTES: Final = 64  # RFC 9421 §3.3.1


@dataclass(frozen=True, slots=True)
class SignatureKey:
    """A public key."""

    key_id: str
    """The SHA-256 thumbprint of the JWK (RFC 7638), base64url."""
    algorithm: Algorithm
    numbers: tuple[bytes, ...]
    """`x` of an Ed25519 key; `n` and `e` of an RSA key."""

    def verifies(self, message: bytes, signature: bytes) -> bool:
        """Whether this key made the signature. Takes 0.1 ms."""
        return _loaded(self)(message, signature)


def parse_key_directory(data: bytes) -> tuple[SignatureKey, ...] | None:
    """Returns the keys of a directory; keys of other kinds and unusable ones are left out. None if the bytes are not a
    JWK Set. Never raises."""
    try:
        document = json.loads(data) if len(data) <= MOST_BYTES else None
    except (ValueError, RecursionError):
        return None
    entries = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(entries, list):
        return None
    read = (_key(entry) for entry in entries[:MOST_KEYS] if isinstance(entry, dict))
    return tuple(key for key in read if key is not None)


def _key(jwk: dict[str, Any]) -> SignatureKey | None:
    """Reads a JWK. Its thumbprint is made of the numbers themselves: `kid` may be anything."""
    names: tuple[str, ...]
    algorithm: Algorithm
    if (jwk.get("kty"), jwk.get("crv")) == ("OKP", "Ed25519"):
        names, algorithm, parts = ("x",), "ed25519", {"crv": "Ed25519", "kty": "OKP"}
    elif jwk.get("kty") == "RSA":
        names, algorithm, parts = ("n", "e"), "rsa-pss-sha512", {"kty": "RSA"}
    else:
        return None
    numbers = tuple(_number(jwk.get(name)) for name in names)
    if not all(numbers):
        return None
    parts |= {name: _text(number) for name, number in zip(names, numbers, strict=True)}
    canonical = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    key = SignatureKey(_text(sha256(canonical.encode("ascii")).digest()), algorithm, numbers)
    try:
        _loaded(key)
    except ValueError:
        return None
    return key


@lru_cache(maxsize=MOST_KEYS)
def _loaded(key: SignatureKey) -> Callable[[bytes, bytes], bool]:
    """Returns what verifies signatures of a key. Raises ValueError for numbers that are no key."""
    # These take 7 MB in each process, and few logs have signatures.
    from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicNumbers  # noqa: PLC0415
    from cryptography.hazmat.primitives.hashes import SHA512  # noqa: PLC0415

    try:
        if key.algorithm == "ed25519":
            ed25519 = Ed25519PublicKey.from_public_bytes(key.numbers[0])
        else:
            modulus, exponent = (int.from_bytes(number) for number in key.numbers)
            rsa = RSAPublicNumbers(exponent, modulus).public_key()
    except UnsupportedAlgorithm as error:
        raise ValueError("this kind of key is not supported here") from error

    def verifies(message: bytes, signature: bytes) -> bool:
        try:
            if key.algorithm == "ed25519":
                ed25519.verify(signature, message)
            else:
                rsa.verify(signature, message, PSS(MGF1(SHA512()), _SALT_BYTES), SHA512())
        except InvalidSignature:
            return False
        return True

    return verifies


def _number(text: object) -> bytes:
    """Decodes base64url, with or without padding; empty if it is none, or too long."""
    if not isinstance(text, str) or not text.isascii() or len(text) > 2 * _MOST_NUMBER_BYTES:
        return b""
    try:
        return urlsafe_b64decode(text.rstrip("=") + "=" * (-len(text.rstrip("=")) % 4))
    except ValueError:
        return b""


def _text(data: bytes) -> str:
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")
