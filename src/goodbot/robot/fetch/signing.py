"""Signs requests: Web Bot Auth (draft-ietf-webbotauth-httpsig-protocol) over HTTP Message Signatures (RFC 9421).

The URL that serves a robot's keys is its identity; each request names that URL and is signed with one of the keys.
"""

import json
import os
import time
from base64 import b64encode
from collections.abc import Callable, Iterable
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from goodbot.config import Settings, SignatureAgentForm
from goodbot.errors import InputError
from goodbot.url import Url, is_private_host, parse_url
from goodbot.values import Headers, Method

if TYPE_CHECKING:
    from goodbot.robot.fetch.signing_key import SigningKey

WELL_KNOWN: Final = "/.well-known/http-message-signatures-directory"
DIRECTORY_TYPE: Final = "application/http-message-signatures-directory+json"

REQUEST_VALID_S: Final = 300
"""The draft recommends 24 hours at most. An observer of a request can repeat it until the signature expires; five
minutes are enough for usual clock differences."""

DIRECTORY_VALID_S: Final = 24 * 3600

_LABEL: Final = "sig1"
_NONCE_BYTES: Final = 64  # as in the drafts' examples; some verifiers require it


class Signer:
    """Signs requests with `key`, whose directory is at `agent` (see `agent_url`); `now` is the time of day.

    `now` is not `Clock`, which never goes back: this time must agree with other machines' clocks.
    """

    def __init__(
        self, key: "SigningKey", agent: Url, form: SignatureAgentForm, now: Callable[[], float] = time.time
    ) -> None:
        self.key = key
        self.agent = agent
        self._now = now
        self._parameters = f';keyid="{key.key_id}";tag="web-bot-auth"'
        if form == "string":
            self._name, self._value = '"signature-agent"', f'"{agent.origin}"'
            self._field = ("Signature-Agent", self._value)
        else:
            self._name = f'"signature-agent";key="{_LABEL}"'
            self._value = f'"{agent.text}"' if form == "october" else f'"{agent.origin}";type=directory'
            self._field = ("Signature-Agent", f"{_LABEL}={self._value}")

    def fields(self, url: Url, method: Method = "GET") -> Headers:
        """Returns `Signature-Agent`, `Signature-Input` and `Signature` of a request for `url`, valid for
        `REQUEST_VALID_S`.

        Each call makes another nonce. 36 µs of CPU, 32 of them Ed25519; http-message-signatures takes 336.
        """
        created = int(self._now())
        nonce = b64encode(os.urandom(_NONCE_BYTES)).decode("ascii")
        times = f";created={created};expires={created + REQUEST_VALID_S}"
        covered = (
            ('"@method"', method),
            ('"@authority"', url.authority),
            ('"@path"', url.path),
            (self._name, self._value),
        )
        given, signature = sign(self.key, covered, f'{times}{self._parameters};nonce="{nonce}"')
        return self._field, ("Signature-Input", f"{_LABEL}={given}"), ("Signature", f"{_LABEL}={signature}")


def sign(key: "SigningKey", covered: Iterable[tuple[str, str]], parameters: str) -> tuple[str, str]:
    """Returns the members of `Signature-Input` and `Signature` for these components (identifier as written, value;
    ASCII).

    RFC 9421 §2.5, §3.1. `parameters` is appended as given, so each needs its leading semicolon.
    """
    names, lines = [], []
    for name, value in covered:
        names.append(name)
        lines.append(f"{name}: {value}\n")
    given = f"({' '.join(names)}){parameters}"
    base = f'{"".join(lines)}"@signature-params": {given}'
    return given, f":{b64encode(key.sign(base.encode('ascii'))).decode('ascii')}:"


def directory_of(key: "SigningKey") -> bytes:
    """Builds the key directory: a JWK Set (RFC 7517 §5) of the one key."""
    return json.dumps({"keys": [key.public_jwk()]}, separators=(",", ":")).encode("ascii")


def directory_fields(
    key: "SigningKey", directory: bytes, authority: str, now: float, valid_s: int = DIRECTORY_VALID_S
) -> Headers:
    """Builds the fields that prove who made a directory and for which `authority`: digest (RFC 9530) and signature."""
    digest = f"sha-256=:{b64encode(sha256(directory).digest()).decode('ascii')}:"
    created = int(now)
    times = f";created={created};expires={created + valid_s}"
    given, signature = sign(
        key,
        (('"@authority";req', authority), ('"content-digest"', digest)),
        f'{times};keyid="{key.key_id}";tag="http-message-signatures-directory"',
    )
    fields = ("Signature-Input", f"{_LABEL}={given}"), ("Signature", f"{_LABEL}={signature}")
    return ("Content-Digest", digest), *fields


def signer_of(settings: Settings) -> Signer | None:
    """Returns the signer of a crawl's requests; None if they are not signed. Raises InputError for a key or a URL that
    cannot be used, and for one without the other."""
    if settings.sign is None and settings.signature_agent is None:
        return None
    if settings.sign is None:
        raise InputError("--signature-agent says where the key of --sign is served: give --sign FILE too")
    if settings.signature_agent is None:
        raise InputError("--sign needs --signature-agent URL: the address at which verifiers find the key")
    from goodbot.robot.fetch.signing_key import load_key  # noqa: PLC0415  (7 MB in each process, and few crawls sign)

    form = settings.signature_agent_form
    return Signer(load_key(Path(settings.sign)), agent_url(settings.signature_agent, form), form)


def agent_url(text: str, form: SignatureAgentForm) -> Url:
    """Returns where the keys are fetched from. An origin alone means its well-known path; form `october` may name
    another path.

    Only https, except for private hosts: over http an attacker on the path could replace the keys.
    """
    url = parse_url(text)
    if url is None or "?" in url.text:
        raise InputError(f"--signature-agent is the https URL of your keys, without a query: {text!r}")
    if url.scheme != "https" and not is_private_host(url.host):
        raise InputError(f"--signature-agent must be https: {text!r}")
    if url.path == "/":
        return Url(url.origin + WELL_KNOWN)
    if form != "october" and url.path != WELL_KNOWN:
        raise InputError(f"--signature-agent-form {form} names a site alone, with its keys at {WELL_KNOWN}: {text!r}")
    return url
