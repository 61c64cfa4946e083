"""Key directories: which keys are read, and that no bytes do harm."""

import json
from base64 import urlsafe_b64encode

import pytest
from cryptography.hazmat.primitives.asymmetric.padding import MGF1, PSS
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.hashes import SHA512
from hypothesis import given
from hypothesis import strategies as st

from goodbot.registry.signature_keys import MOST_BYTES, MOST_KEYS, SignatureKey, parse_key_directory

ED25519 = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
ED25519_ID = "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"  # RFC 8037 A.3

RSA_ID = "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs"  # RFC 7638 §3.1
RSA = {
    "kty": "RSA",
    "n": (
        "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknj"
        "hMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQv"
        "RL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnq"
        "DKgw"
    ),
    "e": "AQAB",
    "alg": "RS256",
    "kid": "2011-04-29",
}

DIRECTORIES: list[tuple[str, object, list[str] | None]] = [
    ("Ed25519", {"keys": [ED25519]}, [ED25519_ID]),
    ("RSA", {"keys": [RSA]}, [RSA_ID]),
    ("both", {"keys": [ED25519, RSA]}, [ED25519_ID, RSA_ID]),
    ("more members", {"keys": [{**ED25519, "kid": "mine", "nbf": 1}], "purpose": "x"}, [ED25519_ID]),
    ("padding", {"keys": [{**ED25519, "x": ED25519["x"] + "="}]}, [ED25519_ID]),
    ("other keys are left out", {"keys": [{"kty": "oct", "k": "AA"}, 7, None, ED25519]}, [ED25519_ID]),
    ("a number that is no text", {"keys": [{**ED25519, "x": 1}, {**RSA, "e": None}]}, []),
    ("a short key", {"keys": [{**ED25519, "x": "AAAA"}]}, []),
    ("no key of RSA", {"keys": [{**RSA, "n": "AQAB"}, {**RSA, "e": "AA"}]}, []),
    ("too long a number", {"keys": [{**RSA, "n": "A" * 10_000}]}, []),
    ("not base64", {"keys": [{**ED25519, "x": "é" * 43}, {**ED25519, "x": "A"}]}, []),
    ("no keys", {"keys": []}, []),
    ("too many", {"keys": [1] * MOST_KEYS + [ED25519]}, []),
    ("a single key", ED25519, None),
    ("a list", [ED25519], None),
    ("keys that are no list", {"keys": {"a": ED25519}}, None),
]


@pytest.mark.parametrize(("document", "ids"), [case[1:] for case in DIRECTORIES], ids=[case[0] for case in DIRECTORIES])
def test_directories(document: object, ids: list[str] | None) -> None:
    found = parse_key_directory(json.dumps(document).encode())
    assert (None if found is None else [key.key_id for key in found]) == ids


@pytest.mark.parametrize(
    "data",
    [b"", b"\xff", b"[" * 100_000, b'{"keys":[1e999', b" " * MOST_BYTES + b'{"keys":[]}', b"9" * 10_000],
    ids=["empty", "not UTF-8", "deep", "cut", "large", "digits"],
)
def test_no_directory(data: bytes) -> None:
    assert parse_key_directory(data) is None


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text(max_size=50)
    | st.sampled_from(["OKP", "RSA", "Ed25519", "AQAB"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from([*ED25519, *RSA, "keys"]), inner),
)


@given(st.binary(max_size=200) | st.fixed_dictionaries({"keys": st.lists(json_values)}).map(json.dumps).map(str.encode))
def test_no_bytes_raise(data: bytes) -> None:
    for key in parse_key_directory(data) or ():
        assert not key.verifies(data, data)


@pytest.fixture(scope="module")
def rsa() -> RSAPrivateKey:
    return generate_private_key(65537, 2048)


def key_of(private: RSAPrivateKey) -> SignatureKey:
    numbers = private.public_key().public_numbers()
    texts = {
        name: urlsafe_b64encode(number.to_bytes((number.bit_length() + 7) // 8)).decode()
        for name, number in (("n", numbers.n), ("e", numbers.e))
    }
    (key,) = parse_key_directory(json.dumps({"keys": [{"kty": "RSA", **texts}]}).encode()) or ()
    return key


@pytest.mark.parametrize(("salt", "verifies"), [(64, True), (32, False)], ids=["64 bytes of salt", "32 bytes of salt"])
def test_rsa(rsa: RSAPrivateKey, salt: int, verifies: bool) -> None:
    """RFC 9421 §3.3.1."""
    signature = rsa.sign(b"message", PSS(MGF1(SHA512()), salt), SHA512())
    assert key_of(rsa).verifies(b"message", signature) == verifies
    assert not key_of(rsa).verifies(b"another", signature)
