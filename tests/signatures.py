"""Verifies signed requests as a site does by the drafts of Web Bot Auth, with the library http-message-signatures.

It fetches the keys over HTTP from the directory that the request names.
"""

import json
from base64 import urlsafe_b64decode
from dataclasses import dataclass, field
from email.message import Message
from typing import Any
from urllib.request import Request as Question
from urllib.request import urlopen

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from http_message_signatures import (
    HTTPMessageVerifier,
    InvalidSignature,
    MappingKeyResolver,
    VerifyResult,
    algorithms,
)

WELL_KNOWN = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE = "application/http-message-signatures-directory+json"


@dataclass
class Asked:
    """A request as a server received it."""

    method: str
    url: str
    headers: dict[str, str]


@dataclass
class Answered:
    """A response and its request."""

    status_code: int
    headers: dict[str, str]
    request: Asked
    body: bytes = field(repr=False)


def asked(head: bytes, scheme: str = "http") -> Asked:
    """Parses the head of a request."""
    start, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
    method, target, _ = start.split(" ")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return Asked(method, f"{scheme}://{headers['host']}{target}", headers)


def directory_url(request: Asked) -> str:
    """Returns the URL of the key directory that a request names, in any of the three forms of Signature-Agent."""
    value = request.headers["signature-agent"]
    if value.startswith('"'):
        return json.loads(value) + WELL_KNOWN  # type: ignore[no-any-return]
    label, _, member = value.partition("=")
    assert label == "sig1"
    url, _, kind = member.partition(";")
    assert kind in ("", "type=directory")
    return json.loads(url) + (WELL_KNOWN if kind else "")  # type: ignore[no-any-return]


def fetched(url: str) -> Answered:
    """Fetches the directory at `url`."""
    question = Question(url, headers={"Accept": DIRECTORY_TYPE})
    with urlopen(question, timeout=60) as response:
        headers: Message = response.headers
        fields = {name.lower(): value for name, value in headers.items()}
        return Answered(response.status, fields, Asked("GET", url, {}), response.read())


def keys_at(url: str) -> dict[str, Ed25519PublicKey]:
    """Fetches the directory at `url` and returns its keys by id."""
    answer = fetched(url)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == DIRECTORY_TYPE
    keys: list[dict[str, Any]] = json.loads(answer.body)["keys"]
    assert all((key["kty"], key["crv"]) == ("OKP", "Ed25519") for key in keys)
    return {key["kid"]: Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(key["x"] + "=")) for key in keys}


class _At(HTTPMessageVerifier):
    """A verifier that compares times with `now` instead of the clock."""

    def __init__(self, keys: dict[str, Ed25519PublicKey], now: float | None) -> None:
        resolver = MappingKeyResolver(public_keys=keys, private_keys={})
        super().__init__(signature_algorithm=algorithms.ED25519, key_resolver=resolver)
        self._moment = now

    def validate_created_and_expires(self, sig_input: Any, max_age: Any = None) -> None:
        if self._moment is None:
            super().validate_created_and_expires(sig_input, max_age)  # type: ignore[no-untyped-call]
            return
        skew = self.max_clock_skew.total_seconds()
        if sig_input.params["created"] > self._moment + skew:
            raise InvalidSignature("created in the future")
        if sig_input.params["expires"] < self._moment - skew:
            raise InvalidSignature("expired")


def verified(
    request: Asked, *, keys: dict[str, Ed25519PublicKey] | None = None, now: float | None = None
) -> VerifyResult:
    """Verifies the one signature of a request with the key in its directory. Raises InvalidSignature.

    `now`: Unix seconds; the current time if not given.
    """
    if "signature-agent" not in request.headers:
        raise InvalidSignature("not signed")
    string = request.headers["signature-agent"].startswith('"')
    agent = '"signature-agent"' if string else '"signature-agent";key="sig1"'
    known = keys_at(directory_url(request)) if keys is None else keys
    (result,) = _At(known, now).verify(
        request, expect_tag="web-bot-auth", require_components=("@authority", "@method", "@path", agent)
    )
    assert 0 < lasts_s(result) <= 24 * 3600
    return result


def lasts_s(result: VerifyResult) -> int:
    """Returns the seconds from `created` to `expires`."""
    return int(result.parameters["expires"]) - int(result.parameters["created"])


def verified_directory(answer: Answered) -> VerifyResult:
    """Verifies the signature of a directory with the key in it, and its digest."""
    (key,) = json.loads(answer.body)["keys"]
    public = Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(key["x"] + "="))
    (result,) = _At({key["kid"]: public}, None).verify(
        answer,
        expect_tag="http-message-signatures-directory",
        require_components=('"@authority";req', "content-digest"),
        body=answer.body,
    )
    return result
