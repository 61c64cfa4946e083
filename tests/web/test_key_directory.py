"""The key directory, fetched as a site does that verifies signatures."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from http_message_signatures import InvalidSignature

from goodbot.robot.fetch.signing_key import SigningKey, create_key
from goodbot.web import KeyDirectory, Site, create_app, running
from signatures import DIRECTORY_TYPE, WELL_KNOWN, Answered, fetched, lasts_s, verified_directory
from web.library import Library, Visitor


@pytest.fixture
def key(tmp_path: Path) -> SigningKey:
    return create_key(tmp_path / "key.jwk")


def asked_as(answer: Answered, url: str) -> Answered:
    """Returns the response as a client of a proxy sees it, who requested `url`."""
    return replace(answer, request=replace(answer.request, url=url))


def test_the_directory(key: SigningKey) -> None:
    keys = KeyDirectory(key, "bot.example")
    with running(create_app(Library([]), Site("Sample"), keys=keys)) as url:
        answer = fetched(url.rstrip("/") + WELL_KNOWN)
        head = Visitor(url).ask(WELL_KNOWN, "HEAD")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == DIRECTORY_TYPE
    assert answer.headers["cache-control"] == "max-age=3600"
    assert json.loads(answer.body) == {
        "keys": [{"kty": "OKP", "crv": "Ed25519", "kid": key.key_id, "x": key.public, "use": "sig"}]
    }
    assert (head.status, head.text, head.headers["Content-Type"]) == (200, "", DIRECTORY_TYPE)


def test_it_is_signed_for_its_public_name_and_no_other(key: SigningKey) -> None:
    keys = KeyDirectory(key, "bot.example")
    with running(create_app(Library([]), Site("Sample"), keys=keys)) as url:
        answer = fetched(url.rstrip("/") + WELL_KNOWN)
    result = verified_directory(asked_as(answer, "https://bot.example" + WELL_KNOWN))
    assert result.parameters["keyid"] == key.key_id
    assert lasts_s(result) == 24 * 3600
    with pytest.raises(InvalidSignature):
        verified_directory(asked_as(answer, "https://mirror.example" + WELL_KNOWN))


def test_a_changed_directory_is_seen(key: SigningKey) -> None:
    keys = KeyDirectory(key, "bot.example")
    with running(create_app(Library([]), Site("Sample"), keys=keys)) as url:
        answer = asked_as(fetched(url.rstrip("/") + WELL_KNOWN), "https://bot.example" + WELL_KNOWN)
    with pytest.raises(InvalidSignature):
        verified_directory(replace(answer, body=answer.body.replace(b'"sig"', b'"enc"')))


def test_there_is_none_without_a_key() -> None:
    with running(create_app(Library([]), Site("Sample"))) as url:
        assert Visitor(url).ask(WELL_KNOWN).status == 404
