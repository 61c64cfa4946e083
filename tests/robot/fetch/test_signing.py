"""Tests signed requests: the drafts' own vectors, the library's verdict over real HTTP, and unusable keys."""

import json
import os
import pickle
import resource
import subprocess
import sys
from base64 import urlsafe_b64encode
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path

import pytest
from http_message_signatures import InvalidSignature

from goodbot.clock import SystemClock
from goodbot.config import (
    Settings,
    SignatureAgentForm,
)
from goodbot.errors import InputError, RunError
from goodbot.exclusion import Verdict
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.fetch.signing import Signer, agent_url, directory_fields, directory_of, sign, signer_of
from goodbot.robot.fetch.signing_key import SigningKey, create_key, load_key
from goodbot.robot.fetch.transport import CurlTransport
from goodbot.settings_file import (
    load_settings,
    save_settings,
)
from goodbot.testing import FakeResolver
from goodbot.url import Url, parse_url
from goodbot.values import Method, Request
from goodbot.web import KeyDirectory, Site, create_app, running
from signatures import Asked, asked, directory_url, keys_at, lasts_s, verified
from web.library import Library
from webserver import WebServer, answer

FORMS: list[SignatureAgentForm] = ["october", "august", "string"]
RFC_9421_KEY = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU"  # appendix B.1.4: known to all, good for nothing else
RFC_8037_KEY = "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A"  # appendix A.1


def written(file: Path, text: str) -> Path:
    file.write_text(text)
    file.chmod(0o600)
    return file


def jwk(private: str, **members: str) -> str:
    return json.dumps({"kty": "OKP", "crv": "Ed25519", "d": private, **members})


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return create_key(tmp_path / "new.jwk")


@pytest.fixture
def known(tmp_path: Path) -> SigningKey:
    """The key of the vectors."""
    return load_key(written(tmp_path / "known.jwk", jwk(RFC_9421_KEY)))


# ---- vectors --------------------------------------------------------------------------------------------------------


def test_the_key_id_is_the_thumbprint_of_rfc_8037(tmp_path: Path) -> None:
    """Appendix A.3."""
    key = load_key(written(tmp_path / "key", jwk(RFC_8037_KEY)))
    assert key.public == "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"
    assert key.key_id == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


AGENT = '"https://signature-agent.test"'
VECTORS = [
    (
        '"signature-agent";key="agent2"',
        (
            ';created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=4889289600'
            ';nonce="n9p433xm+NJ3ph3upfBIGmsuwHw387YV7Q/F+6BSpGCVjYCqQw6rznNA8PVVLySrAWsv0hQtFioQb6E1YsauiA=="'
            ';tag="web-bot-auth"'
        ),
        ":RdNFx5Bj6au3YgAMQL/RzmUlZE8QZLIaXGRpw985hWnwPfMxT228NMk6ehRS1PSl4e8PhbNZACSanGdhEwYCCg==:",
    ),
    (
        '"signature-agent"',
        (
            ';created=1735689600;keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";alg="ed25519";expires=1735693200'
            ';nonce="e8N7S2MFd/qrd6T2R3tdfAuuANngKI7LFtKYI/vowzk4lAZYadIX6wW25MwG7DCT9RUKAJ0qVkU0mEeLElW1qg=="'
            ';tag="web-bot-auth"'
        ),
        ":jdq0SqOwHdyHr9+r5jw3iYZH6aNGKijYp/EstF4RQTQdi5N5YYKrD+mCT1HA1nZDsi6nJKuHxUi/5Syp3rLWBA==:",
    ),
]


@pytest.mark.parametrize(("name", "parameters", "signature"), VECTORS, ids=["dictionary", "string"])
def test_the_signatures_of_the_draft(known: SigningKey, name: str, parameters: str, signature: str) -> None:
    """draft-ietf-webbotauth-httpsig-protocol, Test Vectors."""
    given, made = sign(known, (('"@authority"', "example.com"), (name, AGENT)), parameters)
    assert given == f'("@authority" {name}){parameters}'
    assert made == signature


def test_the_signed_directory_of_the_draft(known: SigningKey) -> None:
    body = directory_of(known)
    assert body == (
        b'{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",'
        b'"x":"JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs","use":"sig"}]}'
    )
    valid_s = 4889289600 - 1735689600
    fields = dict(directory_fields(known, body, "signature-agent.test", 1735689600.9, valid_s))
    assert fields == {
        "Content-Digest": "sha-256=:CADMT2aBdV/rqQr/NIru64ERQkCobVvllA4V0fLFDu0=:",
        "Signature-Input": 'sig1=("@authority";req "content-digest");created=1735689600;expires=4889289600'
        ';keyid="poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U";tag="http-message-signatures-directory"',
        "Signature": "sig1=:l6P8R67tm3kujAxbHWio7ll01qrEZ0dKD/WWlGhNYEmTnFZM8Wt0VQ9zqGfvo7T/UMkBxsigzChM1Gpz7gOVBg==:",
    }


# ---- over HTTP ------------------------------------------------------------------------------------------------------


@pytest.fixture
def directory(key: SigningKey) -> Iterator[str]:
    """The origin at which the key is served; nobody here asks for what it signs with its name."""
    keys = KeyDirectory(key, "127.0.0.1")
    with running(create_app(Library([]), Site("Sample"), keys=keys)) as url:
        yield url


@asynccontextmanager
async def transport(signer: Signer) -> AsyncIterator[CurlTransport]:
    guard = AddressGuard([ip_network("127.0.0.0/8")])
    made = CurlTransport(Settings(), guard, "MyBot/1.0", None, SystemClock(), signer, resolver=FakeResolver({}))
    try:
        yield made
    finally:
        await made.close()


def request(url: str, method: Method = "GET") -> Request:
    parsed = parse_url(url)
    assert parsed is not None
    return Request(parsed, Verdict(True, None, None, "", "", url=parsed.text), method=method)


async def sent(signer: Signer, target: str = "/a/b?x=1", method: Method = "GET") -> Asked:
    """A request as it arrives at a site."""
    async with WebServer(fallback=answer()) as server, transport(signer) as curl:
        capture = await curl.send(request(server.url(target), method))
        assert capture.request_head == server.exchanges[0].head
        return asked(server.exchanges[0].head)


@pytest.mark.parametrize("form", FORMS)
async def test_a_signed_request_is_verified(key: SigningKey, directory: str, form: SignatureAgentForm) -> None:
    result = verified(await sent(Signer(key, agent_url(directory, form), form)))
    assert result.parameters["keyid"] == key.key_id
    assert lasts_s(result) == 300


async def test_a_signed_head_request_is_verified(key: SigningKey, directory: str) -> None:
    came = await sent(Signer(key, agent_url(directory, "october"), "october"), method="HEAD")
    assert came.method == "HEAD"
    assert verified(came).parameters["keyid"] == key.key_id


async def test_the_forms_of_signature_agent(key: SigningKey, directory: str) -> None:
    origin = directory.rstrip("/")
    values = [(await sent(Signer(key, agent_url(directory, form), form))).headers["signature-agent"] for form in FORMS]
    assert values == [
        f'sig1="{origin}/.well-known/http-message-signatures-directory"',
        f'sig1="{origin}";type=directory',
        f'"{origin}"',
    ]


async def test_each_request_has_a_signature_of_its_own(key: SigningKey, directory: str) -> None:
    signer = Signer(key, agent_url(directory, "october"), "october")
    async with WebServer(fallback=answer()) as server, transport(signer) as curl:
        for _ in range(3):
            await curl.send(request(server.url("/")))
        results = [verified(asked(exchange.head)) for exchange in server.exchanges]
    assert len({result.nonce for result in results}) == 3


def moved(request: Asked) -> Asked:
    return replace(request, url=request.url.replace("127.0.0.1", "other.example"))


def elsewhere(request: Asked) -> Asked:
    return replace(request, url=request.url.replace("/a/", "/b/"))


def posted(request: Asked) -> Asked:
    return replace(request, method="POST")


def renamed(request: Asked) -> Asked:
    """Someone else's directory, with the same key in it."""
    return replace(request, headers={**request.headers, "signature-agent": 'sig1="https://other.example/keys"'})


def prolonged(request: Asked) -> Asked:
    headers = dict(request.headers)
    headers["signature-input"] = headers["signature-input"].replace(";expires=", ";expires=1")
    return replace(request, headers=headers)


def stripped(request: Asked) -> Asked:
    return replace(request, headers={**request.headers, "signature": "sig1=:AAAA:"})


@pytest.mark.parametrize("tamper", [moved, elsewhere, posted, renamed, prolonged, stripped])
async def test_a_request_that_was_tampered_with(
    key: SigningKey, directory: str, tamper: Callable[[Asked], Asked]
) -> None:
    honest = await sent(Signer(key, agent_url(directory, "october"), "october"))
    keys = keys_at(directory_url(honest))
    verified(honest, keys=keys)
    with pytest.raises(InvalidSignature):
        verified(tamper(honest), keys=keys)


async def test_another_key_under_our_name(tmp_path: Path, directory: str) -> None:
    stranger = create_key(tmp_path / "stranger.jwk")
    with pytest.raises(InvalidSignature):
        verified(await sent(Signer(stranger, agent_url(directory, "october"), "october")))


@pytest.mark.parametrize(("late_s", "holds"), [(-60, False), (-4, True), (0, True), (299, True), (360, False)])
async def test_clocks_that_differ(key: SigningKey, directory: str, late_s: int, holds: bool) -> None:
    """`late_s`: how far the site's clock is ahead of the robot's, or the request on its way."""
    request = await sent(Signer(key, agent_url(directory, "october"), "october", lambda: 1_800_000_000.5))
    if holds:
        verified(request, now=1_800_000_000 + late_s)
    else:
        with pytest.raises(InvalidSignature):
            verified(request, now=1_800_000_000 + late_s)


ESCAPES = ["/caf%c3%a9", "/a%2fb?x=%c3%2f"]
"""In lower case, as they are sent too."""


@pytest.mark.parametrize("target", ["/", "/%7Ea/%2e%2E?q", "//double", "/" + "p" * 3000, "/a;b=c/d,e:f@g", *ESCAPES])
async def test_paths(key: SigningKey, directory: str, target: str) -> None:
    verified(await sent(Signer(key, agent_url(directory, "october"), "october"), target))


@pytest.mark.parametrize("target", ["/a|b", "/[x]", "/?q[]={}", "/a'b^`c", "/x?\\", "/é?ö"])
def test_urls_that_the_web_has_and_rfc_3986_has_not_are_signed(key: SigningKey, target: str) -> None:
    url = parse_url("https://example.org" + target)
    assert url is not None
    fields = Signer(key, agent_url("https://bot.example", "august"), "august").fields(url)
    assert all(value.isascii() and value.isprintable() for _, value in fields)


@pytest.mark.parametrize(
    ("url", "authority"),
    [
        ("https://Example.ORG:443/", "example.org"),
        ("http://example.org:8080/", "example.org:8080"),
        ("https://[2001:DB8::1]/", "[2001:db8::1]"),
        ("https://bücher.example/", "xn--bcher-kva.example"),
    ],
)
def test_the_authority_is_normal(known: SigningKey, url: str, authority: str) -> None:
    """RFC 9421 §2.2.3."""
    parsed = parse_url(url)
    assert parsed is not None
    signer = Signer(known, agent_url("https://bot.example", "october"), "october", lambda: 1.0)
    fields = dict(signer.fields(parsed))
    parameters = fields["Signature-Input"].partition(")")[2]
    covered = (
        ('"@method"', "GET"),
        ('"@authority"', authority),
        ('"@path"', "/"),
        ('"signature-agent";key="sig1"', f'"{signer.agent}"'),
    )
    assert f"sig1={sign(known, covered, parameters)[1]}" == fields["Signature"]


# ---- keys and settings ----------------------------------------------------------------------------------------------


def test_a_new_key_is_its_owners_alone_and_never_overwritten(tmp_path: Path) -> None:
    file = tmp_path / "key.jwk"
    key = create_key(file)
    assert file.stat().st_mode & 0o777 == 0o600
    assert load_key(file).key_id == key.key_id
    before = file.read_bytes()
    with pytest.raises(InputError, match="exists already"):
        create_key(file)
    assert file.read_bytes() == before


def test_a_link_that_leads_nowhere_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(InputError, match="exists already"):
        create_key(tmp_path / "link")


def test_places_where_no_key_can_be(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        create_key(tmp_path / "missing" / "key")
    with pytest.raises(RunError, match="cannot write"):
        create_key(tmp_path / ("k" * 300))


def test_a_full_disk_leaves_no_key(tmp_path: Path) -> None:
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, limits[1]))
    try:
        with pytest.raises(RunError, match=r"cannot write .*key: File too large"):
            create_key(tmp_path / "key")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert list(tmp_path.iterdir()) == []


def test_a_key_made_by_openssl(tmp_path: Path) -> None:
    file = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", file], check=True, capture_output=True)
    file.chmod(0o600)
    pem = subprocess.run(
        ["openssl", "pkey", "-in", file, "-pubout", "-outform", "DER"], check=True, capture_output=True
    )
    assert load_key(file).public == urlsafe_b64encode(pem.stdout[-32:]).rstrip(b"=").decode()


NO_KEYS = [
    "",
    "{}",
    "[]",
    "null",
    "[" * 9000,
    "no key",
    "\x00\xff",
    jwk("AAAA"),
    jwk("é"),
    jwk("not base64!"),
    jwk(RFC_9421_KEY, x="KrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"),
    jwk(RFC_9421_KEY, crv="X25519"),
    jwk(RFC_9421_KEY, kty="RSA"),
    '{"kty": "OKP", "crv": "Ed25519", "x": "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs"}',
    '{"kty": "OKP", "crv": "Ed25519", "d": 7}',
    "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n",
    jwk(RFC_9421_KEY) + " " * 20_000,
]


@pytest.mark.parametrize("text", NO_KEYS, ids=range(len(NO_KEYS)))
def test_files_that_hold_no_key(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError, match="holds no Ed25519 private key") as caught:
        load_key(written(tmp_path / "key", text))
    assert RFC_9421_KEY not in str(caught.value)


@pytest.mark.parametrize(
    "arguments",
    [("rsa", "-pkeyopt", "rsa_keygen_bits:2048"), ("ed25519", "-aes256", "-pass", "pass:secret"), ("x25519",)],
)
def test_pem_files_of_other_keys(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "key.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", *arguments, "-out", file], check=True, capture_output=True)
    file.chmod(0o600)
    with pytest.raises(InputError, match="holds no Ed25519 private key"):
        load_key(file)


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read the key .*No such file"):
        load_key(tmp_path / "missing")
    with pytest.raises(InputError, match="holds no"):
        load_key(tmp_path)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match="holds no"):
        load_key(tmp_path / "pipe")


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o602, 0o610])
def test_a_key_that_others_may_read_or_write(tmp_path: Path, mode: int) -> None:
    create_key(tmp_path / "key")
    (tmp_path / "key").chmod(mode)
    with pytest.raises(InputError, match="others can read or write"):
        load_key(tmp_path / "key")


def test_a_key_shows_only_its_public_half(known: SigningKey) -> None:
    assert RFC_9421_KEY not in f"{known!r} {known} {known.public_jwk()} {directory_of(known)!r}"
    with pytest.raises(TypeError, match="pickle"):
        pickle.dumps(known)


SETTINGS: list[tuple[dict[str, str], str]] = [
    ({"sign": "KEY"}, "--sign needs --signature-agent"),
    ({"signature_agent": "https://bot.example"}, "give --sign FILE too"),
    ({"sign": "KEY", "signature_agent": "http://bot.example"}, "must be https"),
    ({"sign": "KEY", "signature_agent": "bot.example"}, "is the https URL of your keys"),
    ({"sign": "KEY", "signature_agent": "ftp://bot.example/"}, "is the https URL of your keys"),
    ({"sign": "KEY", "signature_agent": "https://bot.example/?x"}, "without a query"),
    (
        {"sign": "KEY", "signature_agent": "https://b.example/jwks", "signature_agent_form": "august"},
        "names a site alone",
    ),
    (
        {"sign": "KEY", "signature_agent": "https://b.example/jwks", "signature_agent_form": "string"},
        "names a site alone",
    ),
    ({"sign": "missing", "signature_agent": "https://bot.example"}, "cannot read the key"),
]


@pytest.mark.parametrize(("given", "line"), SETTINGS, ids=[line for _, line in SETTINGS])
def test_settings_that_cannot_be_used(tmp_path: Path, given: dict[str, str], line: str) -> None:
    create_key(tmp_path / "KEY")
    if "sign" in given:
        given = {**given, "sign": str(tmp_path / given["sign"])}
    with pytest.raises(InputError, match=line):
        signer_of(Settings(**given))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "form", "url"),
    [
        ("https://bot.example", "october", "https://bot.example/.well-known/http-message-signatures-directory"),
        ("https://BOT.example/keys.json", "october", "https://bot.example/keys.json"),
        ("https://bot.example/", "august", "https://bot.example/.well-known/http-message-signatures-directory"),
        ("http://127.0.0.1:8020", "string", "http://127.0.0.1:8020/.well-known/http-message-signatures-directory"),
    ],
)
def test_where_the_keys_are(text: str, form: SignatureAgentForm, url: str) -> None:
    assert agent_url(text, form) == Url(url)


def test_nobody_signs_unless_told() -> None:
    assert signer_of(Settings()) is None


def test_the_key_is_found_from_wherever_a_crawl_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """In a file, a path is as seen from that file; on the command line, from the working folder."""
    (tmp_path / "goodbot.toml").write_text('sign = "keys/key.jwk"\n')
    assert load_settings(tmp_path / "goodbot.toml", Settings()).sign == str(tmp_path / "keys/key.jwk")
    monkeypatch.chdir(tmp_path)
    save_settings(tmp_path / "crawl.toml", Settings(sign="key.jwk"))
    monkeypatch.chdir("/")
    assert load_settings(tmp_path / "crawl.toml", Settings()).sign == str(tmp_path / "key.jwk")


def test_a_robot_process_that_signs_nothing_loads_no_cryptography() -> None:
    program = "import sys, goodbot.robot.processes.worker, goodbot.wiring; assert 'cryptography' not in sys.modules"
    subprocess.run([sys.executable, "-P", "-c", program], check=True)
