"""Signed requests of the past: the drafts' own vectors, another library's signatures, and what proves nothing."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from http_message_signatures import HTTPMessageSigner, MappingKeyResolver, algorithms
from hypothesis import given
from hypothesis import strategies as st

from goodbot.registry.signature_keys import SignatureKey, parse_key_directory
from goodbot.registry.signed_request import (
    FAILURES,
    MOST_CHARS,
    TOLERANCE_S,
    KeyDirectory,
    SignedRequest,
    origin_of,
    verify_request,
)
from signatures import Asked

X = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"  # RFC 9421 B.1.4
KEY_ID = "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U"
SECRET = bytes.fromhex("9f8362f87a484a954e6e740c5b4c0e84229139a20aa8ab56ff66586f6a7d29c5")
CREATED = 1735689600
EXPIRES = 1735693200
AGENT = '"https://signature-agent.test"'


def keys() -> tuple[SignatureKey, ...]:
    found = parse_key_directory(json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": X}]}).encode())
    assert found is not None
    return found


def directory(name: str = "test", origin: str | None = "https://signature-agent.test") -> KeyDirectory:
    return KeyDirectory(name, origin, frozenset(), {key.key_id: key for key in keys()})


VECTOR = SignedRequest(
    'sig2=("@authority" "signature-agent")'
    f';created={CREATED};keyid="{KEY_ID}";alg="ed25519";expires={EXPIRES}'
    ';nonce="e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg=="'
    ';tag="web-bot-auth"',
    "sig2=:jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:",
    AGENT,
    "example.com",
    "GET",
    "/path/to/resource",
    None,
    CREATED + 1,
    CREATED + 1,
)
"""draft-ietf-webbotauth-httpsig-protocol, Test Vectors."""

DICTIONARY = VECTOR._replace(
    signature_input=(
        'sig2=("@authority" "signature-agent";key="agent2")'
        f';created={CREATED};keyid="{KEY_ID}";alg="ed25519";expires=4889289600'
        ';nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="'
        ';tag="web-bot-auth"'
    ),
    signature="sig2=:RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:",
    signature_agent=f"agent2={AGENT}",
)


def given_as(old: str, new: str) -> SignedRequest:
    text = VECTOR.signature_input or ""
    assert old in text
    return VECTOR._replace(signature_input=text.replace(old, new))


CASES: list[tuple[str, SignedRequest, str | None]] = [
    ("the vector with a string", VECTOR, None),
    ("the vector with a dictionary", DICTIONARY, None),
    ("more members", DICTIONARY._replace(signature_agent=f'other="https://b.test", agent2={AGENT}'), None),
    ("another signature beside it", given_as("sig2=(", 'sig1=("@method");tag="other", sig2=('), None),
    ("spaces between the components", given_as('("@authority" "', '( "@authority"   "'), None),
    ("a space after a semicolon", given_as(";tag", ";  tag"), None),
    ("the host in capitals", VECTOR._replace(authority="EXAMPLE.com"), None),
    ("the port of https", VECTOR._replace(authority="example.com:443"), None),
    ("the port of http", VECTOR._replace(authority="example.com:80"), None),
    ("at the last moment", VECTOR._replace(earliest=EXPIRES + TOLERANCE_S, latest=EXPIRES + TOLERANCE_S), None),
    ("answered after it expired", VECTOR._replace(latest=EXPIRES + 900), None),
    ("a clock that is behind", VECTOR._replace(earliest=CREATED - TOLERANCE_S, latest=CREATED - TOLERANCE_S), None),
    ("another path, which is not covered", VECTOR._replace(target="/other"), None),
    ("another host", VECTOR._replace(authority="b.example"), "does not verify"),
    ("another port", VECTOR._replace(authority="example.com:8080"), "does not verify"),
    ("another signature", VECTOR._replace(signature=f"sig2=:{'A' * 86}==:"), "does not verify"),
    ("a short signature", VECTOR._replace(signature="sig2=:AAAA:"), "does not verify"),
    ("another algorithm", given_as("ed25519", "hmac-sha256"), "does not verify"),
    ("another nonce", given_as("e8N7", "e8N8"), "does not verify"),
    ("a longer life", given_as(f"expires={EXPIRES}", f"expires={EXPIRES + 1}"), "does not verify"),
    ("too late", VECTOR._replace(earliest=EXPIRES + 61, latest=EXPIRES + 61), "expired"),
    ("too early", VECTOR._replace(earliest=CREATED - 61, latest=CREATED - 61), "created later"),
    ("another key", given_as(KEY_ID, KEY_ID[:-1]), "unknown key"),
    ("keys that are served elsewhere", VECTOR._replace(signature_agent='"https://b.test"'), "unknown key"),
    ("no host in the log", VECTOR._replace(authority=None), "not in log"),
    ("no Signature-Agent in the log", VECTOR._replace(signature_agent=None), "not in log"),
    ("a header that no log has", given_as('("@authority"', '("@authority" "content-digest"'), "not in log"),
    ("the answer's status", given_as('("@authority"', '("@authority" "@status"'), "not in log"),
    ("a part of the query", given_as('("@authority"', '("@authority" "@query-param";name="a"'), "not in log"),
    ("a member that is missing", DICTIONARY._replace(signature_agent=f"agent1={AGENT}"), "not in log"),
    ("no signature", VECTOR._replace(signature=None), "malformed"),
    ("another label", VECTOR._replace(signature="sig1=:AAAA:"), "malformed"),
    ("no structured field", VECTOR._replace(signature_input='sig2=("@authority'), "malformed"),
    ("a signature that is a string", VECTOR._replace(signature='sig2="AAAA"'), "malformed"),
    ("no expiry", given_as(f";expires={EXPIRES}", ""), "malformed"),
    ("an expiry in words", given_as(f"expires={EXPIRES}", "expires=never"), "malformed"),
    ("no key", given_as(f';keyid="{KEY_ID}"', ""), "malformed"),
    ("the host is not covered", given_as('"@authority" ', ""), "malformed"),
    ("Signature-Agent is not covered", given_as(' "signature-agent"', ""), "malformed"),
    ("a component twice", given_as('("@authority"', '("@authority" "@authority"'), "malformed"),
    ("a component that is a token", given_as('("@authority"', '("@authority" a'), "malformed"),
    ("a Signature-Agent that is none", VECTOR._replace(signature_agent="https://signature-agent.test"), "malformed"),
    ("too long", VECTOR._replace(signature_input=f"{VECTOR.signature_input}, a={'1' * MOST_CHARS}"), "malformed"),
]


@pytest.mark.parametrize(("request_", "failure"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_requests(request_: SignedRequest, failure: str | None) -> None:
    result = verify_request(request_, [directory("other", "https://other.test"), directory()])
    assert result is not None
    assert result.failure == failure
    assert (result.nonce is not None) == (failure is None)


UNSIGNED = [
    ("no field", VECTOR._replace(signature_input=None, signature=None, signature_agent=None)),
    ("the scheme of Mastodon", VECTOR._replace(signature_input=None, signature='keyId="https://a.test#main-key"')),
    ("another purpose", given_as("web-bot-auth", "other")),
]


@pytest.mark.parametrize("request_", [case[1] for case in UNSIGNED], ids=[case[0] for case in UNSIGNED])
def test_what_is_not_signed_for_web_bot_auth(request_: SignedRequest) -> None:
    assert verify_request(request_, [directory()]) is None


def test_a_directory_without_a_url_is_found_by_its_key() -> None:
    for origin in (None, "https://signature-agent.test"):
        result = verify_request(VECTOR, [directory("other", "https://b.test"), directory("mine", origin)])
        assert result is not None
        assert (result.failure, result.directory.name if result.directory else "") == (None, "mine")


COVERED = [
    ("@target-uri",),
    ("@authority", "@method", "@path", "@query"),
    ("@authority", "@scheme", "@request-target"),
    ("@authority", "user-agent"),
]
TARGETS = ["/", "/a/b?c=d&e", "/a?", "/%D0%B9?x=%22", ""]


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("covered", COVERED, ids=", ".join)
@pytest.mark.parametrize("target", TARGETS)
def test_the_components_as_another_library_signs_them(covered: tuple[str, ...], target: str, scheme: str) -> None:
    resolver = MappingKeyResolver(public_keys={}, private_keys={KEY_ID: Ed25519PrivateKey.from_private_bytes(SECRET)})
    signer = HTTPMessageSigner(signature_algorithm=algorithms.ED25519, key_resolver=resolver)
    url = f"{scheme}://example.com{target}"
    message: Any = Asked("GET", url, {"User-Agent": "Bot/1 (+https://a.test)"})
    created, expires = (datetime.fromtimestamp(at, UTC) for at in (CREATED, EXPIRES))
    signer.sign(
        message,
        key_id=KEY_ID,
        created=created,
        expires=expires,
        tag="web-bot-auth",
        include_alg=False,
        covered_component_ids=covered,
    )
    request = VECTOR._replace(
        signature_input=message.headers["Signature-Input"],
        signature=message.headers["Signature"],
        signature_agent=None,
        target=target or "/",
        user_agent="Bot/1 (+https://a.test)",
    )
    for form in {request.target, url}:
        if "@request-target" in covered and form != request.target:
            continue
        result = verify_request(request._replace(target=form), [directory()])
        assert result is not None
        assert result.failure is None


fragments = st.sampled_from(
    [
        *(
            "sig1",
            "=",
            "(",
            ")",
            '"@authority"',
            '"signature-agent"',
            ";key=",
            '"a"',
            ";created=1",
            ";expires=",
            "9" * 15,
        ),
        *(
            f';keyid="{KEY_ID}"',
            ';tag="web-bot-auth"',
            ";alg=",
            ", ",
            " ",
            ":AAAA:",
            "://",
            "?",
            "a",
            "\xff",
            "\\",
            "-",
        ),
    ]
)
texts = (
    st.none() | st.text(st.characters(max_codepoint=255), max_size=40) | st.lists(fragments, max_size=12).map("".join)
)


@given(st.lists(texts, min_size=7, max_size=7), st.booleans())
def test_no_field_raises(fields: list[str | None], is_signed: bool) -> None:
    request = SignedRequest._make([*fields, 0.0, 0.0])
    if is_signed:
        parameters = VECTOR.signature_input
        request = request._replace(signature_input=f"{parameters}{fields[0] or ''}", signature=VECTOR.signature)
    result = verify_request(request, [directory()])
    assert result is None or result.failure in FAILURES


ORIGINS = {
    "https://a.example/keys": "https://a.example",
    "https://A.example:443": "https://a.example",
    "http://127.0.0.1:80": "http://127.0.0.1",
    "chatgpt.com": "https://chatgpt.com",
    "GPTBot": None,
    "": None,
    "not a host.": None,
}


@pytest.mark.parametrize(("text", "origin"), ORIGINS.items())
def test_origins(text: str, origin: str | None) -> None:
    assert origin_of(text) == origin
