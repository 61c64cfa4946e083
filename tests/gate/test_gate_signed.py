"""Signed requests (Web Bot Auth) that reach the gate through nginx and Caddy."""

import json
import time
from base64 import urlsafe_b64encode
from collections.abc import Iterator
from typing import Final, get_args

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from gate.gate_servers import FIREFOX, GPTBOT, GatedSite, Server, gated, running_gate
from gate.gates import Key

SEED: Final = b"o"
STRANGER: Final = "203.0.113.9"
POLICY: Final = 'reverse_dns = false\nkeys = ["GPTBot=keys.json"]\n'


def _directory() -> str:
    public = Ed25519PrivateKey.from_private_bytes(SEED * 32).public_key().public_bytes_raw()
    x = urlsafe_b64encode(public).decode().rstrip("=")
    return json.dumps({"keys": [{"kty": "OKP", "crv": "Ed25519", "x": x}]})


@pytest.fixture(scope="module", params=get_args(Server))
def site(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatedSite]:
    folder = tmp_path_factory.mktemp("signed")
    with (
        running_gate(folder / "gate", POLICY, others={"keys.json": _directory()}) as gate,
        gated(request.param, folder, gate) as started,
    ):
        yield started


def signed(target: str, key: Key, method: str = "GET") -> dict[str, str]:
    covered = ("@authority", "@path") if method != "GET" else ("@authority", "@path", "@method")
    fields = key.signed(target, "www.example.org", time.time(), covered)
    return {name.decode(): value.decode() for name, value in fields}


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST"])
def test_a_signature_verifies_the_robot_at_any_address(site: GatedSite, method: str) -> None:
    path = f"/app/{method}"
    assert site.ask(path, GPTBOT, STRANGER, method, fields=signed(path, Key(SEED), method)).status == 200
    (line,) = site.gate.decisions(path, 1)
    assert (line["identity"], line["robot"], line["proof"]) == ("verified", "GPTBot", "signature")
    shop = "/shop/a"
    assert site.ask(shop, GPTBOT, STRANGER, method, fields=signed(shop, Key(SEED), method)).status == 403


def test_a_signature_that_proves_nothing(site: GatedSite) -> None:
    for fields in ({}, signed("/page", Key(b"u")), signed("/app/x", Key(SEED))):
        answer = site.ask("/page", GPTBOT, STRANGER, fields=fields)
        assert answer.status == 403
        assert "none of its published addresses" in answer.fields["X-Goodbot-Why"]


def test_an_agent_in_a_browser_obeys_the_rules_of_its_robot(site: GatedSite) -> None:
    """The User-Agent is that of a browser; the signature says whose it is."""
    assert site.ask("/shop/a", FIREFOX, STRANGER).status == 200
    assert site.ask("/shop/a", FIREFOX, STRANGER, fields=signed("/shop/a", Key(SEED))).status == 403
    assert site.ask("/page", FIREFOX, STRANGER, fields=signed("/page", Key(SEED))).status == 200
