"""Reads what a Web server tells the gate about a request: the header fields that servers use for this.

A client can send most of these fields itself. So where the server may have passed a client's field on, the reading is
the one from which the client gains nothing.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Final, NamedTuple

from goodbot.url import parse_url
from goodbot.watch.addresses import AddressRanges, packed_address

Fields = Sequence[tuple[bytes, bytes]]
"""Header fields in the order in which they came: names in lower case, and values."""

URI_FIELDS: Final = (b"x-original-uri", b"x-forwarded-uri", b"x-original-url")
"""Fields with the target of the request: of nginx, of Caddy and Traefik, of nginx in Kubernetes."""

_METHOD_FIELDS: Final = (b"x-original-method", b"x-forwarded-method")

_SERVER_FIELD: Final = b"x-goodbot-server"
"""A server that sends this field with the value `nginx` understands no other refusal than 403, so the status meant is
in a field of the answer."""

_SIGNATURE_FIELDS: Final = (b"signature-input", b"signature", b"signature-agent")

MOST_TARGETS: Final = 8
"""Different targets of one request that are judged. A request with more is refused as ambiguous."""

MOST_PROXIES: Final = 50
"""Entries of X-Forwarded-For that are read, from its end."""

_ORIGIN: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*")
_NOT_ASCII: Final = re.compile(r"[^\x21-\x7e]")
_MAY_BE_SERVED_ELSEWHERE: Final = re.compile(r"//|/\.|%2[ef]|%5c|\\", re.IGNORECASE)
_SLASH: Final = re.compile(r"%2f", re.IGNORECASE)
_DOT: Final = re.compile(r"%2e", re.IGNORECASE)
_SLASHES: Final = re.compile(r"//+")
_BACKSLASH: Final = re.compile(r"%5c|\\", re.IGNORECASE)
_SPACES: Final = " \t"
"""What may surround the value of a field. The octets of a UTF-8 letter may look like other space in ISO 8859-1."""


class SignatureFields(NamedTuple):
    """The fields of Web Bot Auth, repeated ones joined (RFC 9110 §5.3); None for a field that is missing."""

    signature_input: str | None
    signature: str | None
    signature_agent: str | None


class GateRequest(NamedTuple):
    """A request to a Web server. All texts are as they came: octets that are not ASCII as ISO 8859-1."""

    method: str
    host: str
    """In lower case, without port; empty if not known."""
    authority: str
    """The host as the client named it, with port."""
    targets: tuple[str, ...]
    """Path and query. Several if fields contradict each other: then all must be allowed. Empty: too many."""
    user_agent: str
    """Empty without a User-Agent."""
    client: str | None
    """The client's address; None if the server does not give it."""
    signature: SignatureFields | None
    """None without Signature-Input."""
    status_in_field: bool
    """Whether the server understands no other refusal than 403; as nginx."""

    @property
    def target(self) -> str:
        """The target for a log: the first."""
        return self.targets[0] if self.targets else ""


def is_forwarded(fields: Fields) -> bool:
    """Whether a Web server asks about a request of its own; otherwise the request is for the gate itself."""
    return any(name in URI_FIELDS for name, _ in fields)


def read_request(method: str, own_target: str, fields: Fields, peer: str | None, proxies: AddressRanges) -> GateRequest:
    """Reads the fields of a request to the gate. `own_target` counts if no field names a target. `peer` is the address
    of the connection, None for a Unix socket. Of `proxies` the client's address is believed. Never raises; linear.

    A field that is repeated: all its targets count; of the host the last value counts, as proxies add theirs at the
    end; a User-Agent is the first one, as Web servers read it.
    """
    single = dict(fields)
    is_repeated = len(single) < len(fields)

    def values(name: bytes) -> list[str]:
        if name not in single:
            return []
        found = [octets for one, octets in fields if one == name] if is_repeated else [single[name]]
        return [octets.decode("latin-1") for octets in found]

    uris = [uri for name in URI_FIELDS if name in single for uri in values(name)]
    methods = [found for name in _METHOD_FIELDS if name in single for found in values(name)]
    authority = (values(b"x-forwarded-host") or values(b"host") or [""])[-1].rpartition(",")[2].strip(_SPACES)
    has_signature = b"signature-input" in single
    return GateRequest(
        methods[-1] if methods else method,
        host_of(authority),
        authority,
        _targets(uris or [own_target]),
        (values(b"user-agent") or [""])[0].strip(),
        _client(peer, proxies, values(b"x-forwarded-for"), (values(b"x-real-ip") or [""])[-1]),
        SignatureFields(*(", ".join(values(name)) or None for name in _SIGNATURE_FIELDS)) if has_signature else None,
        _SERVER_FIELD in single and single[_SERVER_FIELD].strip().lower() == b"nginx",
    )


def host_of(authority: str) -> str:
    """Returns the host of `host:port` in lower case, without port, brackets and final dot. A name that is not ASCII is
    encoded as in DNS (IDNA); one that cannot be stays as it is."""
    text = authority.strip(_SPACES)
    if text.startswith("["):
        return text[1:].partition("]")[0].lower()
    host = (text if text.count(":") > 1 else text.partition(":")[0]).rstrip(".")
    if host.isascii():
        return host.lower()
    url = parse_url(f"http://{host.encode('latin-1', 'replace').decode('utf-8', 'replace')}/")
    return url.host if url is not None else host


# ---- the target -----------------------------------------------------------------------------------------------------


def _targets(uris: Iterable[str]) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for uri in uris:
        target = _target(uri)
        found[target] = None
        if _MAY_BE_SERVED_ELSEWHERE.search(target):
            found[_served(target)] = None
            path, mark, query = target.partition("?")
            if _BACKSLASH.search(path):  # a slash to servers on Windows
                found[_served(f"{_BACKSLASH.sub('/', path)}{mark}{query}")] = None
    return tuple(found) if len(found) <= MOST_TARGETS else ()


def _target(uri: str) -> str:
    """Returns path and query of what a field has: a path, or a URL. Octets beyond ASCII are percent-encoded."""
    uri = uri.strip(_SPACES)
    if origin := _ORIGIN.match(uri):
        uri = uri[origin.end() :]
    target = uri if uri.startswith("/") else f"/{uri}"
    return target if target.isascii() and target.isprintable() else _NOT_ASCII.sub(_encoded, target)


def _encoded(found: re.Match[str]) -> str:
    return f"%{ord(found[0]) & 0xFF:02X}"


def _served(target: str) -> str:
    """Returns the target whose page Web servers answer with: nginx and Apache join slashes and resolve dot segments,
    nginx also after decoding. Otherwise `/open/../private` would be a way around every rule."""
    path, mark, query = target.partition("?")
    plain = _SLASHES.sub("/", _DOT.sub(".", _SLASH.sub("/", path)))
    segments: list[str] = []
    parts = plain.split("/")[1:]
    for segment in parts:
        if segment == "..":
            if segments:
                segments.pop()
        elif segment != ".":
            segments.append(segment)
    if parts[-1] in (".", ".."):
        segments.append("")
    return f"/{'/'.join(segments)}{mark}{query}"


# ---- the client -----------------------------------------------------------------------------------------------------


def _client(peer: str | None, proxies: AddressRanges, forwarded_for: list[str], real_ip: str) -> str | None:
    """Returns the address of the client: the last one in X-Forwarded-For that is no proxy, as each proxy adds the
    address from which it got the request; else X-Real-IP. The field of a peer that is no proxy counts for nothing."""
    if peer is not None and not _is_proxy(peer, proxies):
        return peer
    believed = True
    for entry in _from_the_end(forwarded_for):
        address = _address(entry)
        if address is None:
            believed = False
            break
        if not _is_proxy(address, proxies):
            return address
    return _address(real_ip) if believed or not forwarded_for else None


def _from_the_end(fields: list[str]) -> Iterator[str]:
    for field in reversed(fields[-MOST_PROXIES:]):
        entries = field.rsplit(",", MOST_PROXIES)
        yield from (entry for entry in reversed(entries[-MOST_PROXIES:]) if entry.strip())


def _is_proxy(address: str, proxies: AddressRanges) -> bool:
    packed = packed_address(address)
    return packed is not None and packed in proxies


def _address(text: str) -> str | None:
    """Returns an address without port, brackets and zone; None for anything else."""
    text = text.strip()[:100]
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    text = text.partition("%")[0]
    return text if packed_address(text) is not None else None
