"""Verifies that a robot signed a request: Web Bot Auth (draft-ietf-webbotauth-httpsig-protocol) over HTTP Message
Signatures (RFC 9421), with keys that the caller has.

A verifier at the time of the request fetches the keys from the URL in Signature-Agent. This one is for requests of the
past, so it gets the directories, and the time of the request.
"""

from base64 import b64decode
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple, get_args

from goodbot.exclusion.uses.structured_fields import Parameterized, parse_parameterized
from goodbot.registry.signature_keys import SignatureKey
from goodbot.url import parse_url

TAG: Final = '"web-bot-auth"'

SignatureFailure = Literal[
    "malformed",
    "unknown key",
    "created later",
    "expired",
    "not in log",
    "does not verify",
    "another robot",
]
"""Why a signature proves nothing. `malformed`: a field cannot be read, or something is missing that Web Bot Auth
requires. `not in log`: the signature covers a component that is not known. `does not verify`: something was changed, or
another key made it. `another robot`: it verifies, but its key is not one of the robot that the User-Agent names."""

FAILURES: Final[tuple[SignatureFailure, ...]] = get_args(SignatureFailure)

TOLERANCE_S: Final = 60
"""Seconds by which the clocks of robot and server may differ."""

MOST_CHARS: Final = 8192
"""Characters of a header field that are read; a longer one is malformed."""

MOST_SIGNATURES: Final = 4
"""Signatures of one request that are verified."""

_MOST_COMPONENTS: Final = 32
_SCHEMES: Final = {"https": ":443", "http": ":80"}
"""Logs seldom have the scheme, so both are tried. With the port that `@authority` leaves out."""


class SignedRequest(NamedTuple):
    """What is known of a request. None: not known."""

    signature_input: str | None
    signature: str | None
    signature_agent: str | None
    authority: str | None
    """The field Host."""
    method: str | None
    target: str | None
    """The target of the request line: path and query, or a URL."""
    user_agent: str | None
    earliest: float
    """Unix seconds: the request came at this time or later."""
    latest: float
    """Unix seconds: it came at this time or earlier."""


@dataclass(frozen=True, slots=True)
class KeyDirectory:
    """The keys that one robot serves, or several robots of one operator."""

    name: str
    """What reports call it."""
    origin: str | None
    """Of the URL at which it is served, if that is known: then a request must not name another one."""
    robots: frozenset[str]
    """The names of the robots with these keys, as in their records; empty if no robot on record has them."""
    keys: Mapping[str, SignatureKey]
    """By the id."""


class SignatureResult(NamedTuple):
    """The result for one request."""

    failure: SignatureFailure | None
    """None: a key of the directory made the signature for this request."""
    directory: KeyDirectory | None = None
    """With the key; None if no directory has it, or the signature could not be read."""
    nonce: str | None = None
    """The nonce of a signature that verifies."""


def verify_request(request: SignedRequest, directories: Sequence[KeyDirectory]) -> SignatureResult | None:
    """Verifies the signatures of a request; None if none is for Web Bot Auth. Of several, the first that verifies
    counts, else the first.

    Never raises; linear in the length of the fields. A field Signature alone belongs to an older scheme.
    """
    if request.signature_input is None:
        return None
    given = _dictionary(request.signature_input)
    signatures = _dictionary(request.signature)
    if not given or not signatures:
        return SignatureResult("malformed")
    first: SignatureResult | None = None
    tagged = [label for label, member in given.items() if dict(member.parameters).get("tag") == TAG]
    for label in tagged[:MOST_SIGNATURES]:
        result = _verified(given[label], signatures.get(label), request, directories)
        if result.failure is None:
            return result
        first = first or result
    return first


def _dictionary(text: str | None) -> dict[str, Parameterized] | None:
    return parse_parameterized(text) if text is not None and len(text) <= MOST_CHARS else None


def _verified(
    given: Parameterized,
    signature: Parameterized | None,
    request: SignedRequest,
    directories: Iterable[KeyDirectory],
) -> SignatureResult:
    parameters = dict(given.parameters)
    created, expires = (_whole(parameters.get(name, "")) for name in ("created", "expires"))
    key_id = _string(parameters.get("keyid", ""))
    octets = _octets(signature)
    agent = _Agent.of(request.signature_agent)
    if created is None or expires is None or not key_id or octets is None or agent is None:
        return SignatureResult("malformed")
    if not _covers_enough(given.items, has_agent=request.signature_agent is not None):
        return SignatureResult("malformed")
    named = agent.origin(given.items)
    directory = next((one for one in directories if key_id in one.keys and _serves(one, named)), None)
    if directory is None:
        return SignatureResult("unknown key")
    if created > request.latest + TOLERANCE_S:
        return SignatureResult("created later", directory)
    if expires < request.earliest - TOLERANCE_S:
        return SignatureResult("expired", directory)
    bases = [*dict.fromkeys(_bases(given, request, agent))]
    if not bases:
        return SignatureResult("not in log", directory)
    key = directory.keys[key_id]
    is_meant = parameters.get("alg", f'"{key.algorithm}"') == f'"{key.algorithm}"'
    if not is_meant or not any(key.verifies(base.encode("latin-1", "replace"), octets) for base in bases):
        return SignatureResult("does not verify", directory)
    return SignatureResult(None, directory, _string(parameters.get("nonce", "")) or None)


def _serves(directory: KeyDirectory, origin: str | None) -> bool:
    return directory.origin is None or origin is None or directory.origin == origin


def _covers_enough(items: tuple[Parameterized, ...], *, has_agent: bool) -> bool:
    """Whether a signature covers what Web Bot Auth requires: the host, and Signature-Agent if there is one. No
    component may appear twice (RFC 9421 §2)."""
    if len(items) > _MOST_COMPONENTS or any(item.value.kind != "string" for item in items):
        return False
    names = [item.value.text for item in items]
    if len({(item.value.text, frozenset(item.parameters)) for item in items}) < len(items):
        return False
    has_host = any(not item.parameters and item.value.text in ('"@authority"', '"@target-uri"') for item in items)
    return has_host and (not has_agent or '"signature-agent"' in names)


# ---- Signature-Agent ------------------------------------------------------------------------------------------------


class _Agent(NamedTuple):
    """The field Signature-Agent: a string in older drafts, a dictionary in newer ones."""

    text: str | None
    members: Mapping[str, Parameterized]

    @classmethod
    def of(cls, text: str | None) -> "_Agent | None":
        """Reads the field; None if it can be neither."""
        if text is None:
            return cls(None, {})
        text = text.strip(" \t")
        members = _dictionary(f"url={text}" if text.startswith('"') else text)
        return cls(text, members) if members else None

    def covered(self, item: Parameterized) -> str | None:
        """Returns what a component of the signature covers; None if the field has no such member."""
        if not item.parameters:
            return self.text
        member = self.members.get(_string(dict(item.parameters).get("key", "")))
        is_member = len(item.parameters) == 1 and member is not None and member.value.kind == "string"
        return _serialized(member) if member is not None and is_member else None

    def origin(self, items: tuple[Parameterized, ...]) -> str | None:
        """Returns the origin of the URL that a signature covers."""
        item = next((item for item in items if item.value.text == '"signature-agent"'), None)
        if item is None or not self.members:
            return None
        key = _string(dict(item.parameters).get("key", ""))
        member = self.members.get(key) if key else next(iter(self.members.values()))
        return origin_of(_string(member.value.text)) if member is not None else None


def origin_of(text: str) -> str | None:
    """Returns the origin of a URL; of a host alone, its origin with https. None if it is neither."""
    url = parse_url(text) or (parse_url(f"https://{text}") if "." in text else None)
    return url.origin if url is not None else None


# ---- the signature base (RFC 9421 §2.5) -----------------------------------------------------------------------------


def _bases(given: Parameterized, request: SignedRequest, agent: _Agent) -> Iterator[str]:
    """Yields the text that was signed, for each scheme; nothing if a component is not known."""
    names = [_serialized(item) for item in given.items]
    parameters = "".join(_parameters(given))
    for scheme, port in _SCHEMES.items():
        known = _known(request, scheme, port)
        values = [
            agent.covered(item)
            if item.value.text == '"signature-agent"'
            else None
            if item.parameters
            else known.get(_string(item.value.text))
            for item in given.items
        ]
        lines = [f"{name}: {value}\n" for name, value in zip(names, values, strict=True) if value is not None]
        if len(lines) == len(names):
            yield f'{"".join(lines)}"@signature-params": ({" ".join(names)}){parameters}'


def _known(request: SignedRequest, scheme: str, port: str) -> dict[str, str | None]:
    """Returns the values of components (RFC 9421 §2.1, §2.2)."""
    authority = request.authority.lower().removesuffix(port) if request.authority else None
    target = request.target
    rest = "" if target is None else _without_origin(target)
    path, _, query = rest.partition("?")
    url = f"{scheme}://{authority}{rest if rest[:1] == '/' else f'/{rest}'}" if authority else None
    return {
        "@method": request.method,
        "@scheme": scheme,
        "@authority": authority,
        "@request-target": target,
        "@target-uri": url if target is not None else None,
        "@path": (path or "/") if target is not None else None,
        "@query": f"?{query}" if target is not None else None,
        "user-agent": request.user_agent.strip(" \t") if request.user_agent else None,
    }


def _without_origin(target: str) -> str:
    """Returns path and query of a target that may be a URL."""
    scheme, separator, rest = target.partition("://")
    if not separator or scheme.lower() not in _SCHEMES:
        return target
    ends = [end for mark in "/?" if (end := rest.find(mark)) >= 0]
    return rest[min(ends) :] if ends else ""


# ---- values of structured fields ------------------------------------------------------------------------------------


def _serialized(item: Parameterized) -> str:
    return item.value.text + "".join(_parameters(item))


def _parameters(item: Parameterized) -> Iterator[str]:
    for name, value in item.parameters:
        yield f";{name}" if value == "?1" else f";{name}={value}"


def _string(text: str) -> str:
    """Returns the content of a string without escapes; empty for anything else."""
    return text[1:-1] if text[:1] == '"' and "\\" not in text else ""


def _whole(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdecimal() else None


def _octets(signature: Parameterized | None) -> bytes | None:
    if signature is None or signature.value.kind != "bytes":
        return None
    digits = signature.value.text.strip(":").rstrip("=")
    return b64decode(digits + "=" * (-len(digits) % 4))
