"""The names that `goodbot forget` takes for a host, and what it says of names that may be meant otherwise."""

import shutil
from pathlib import Path

import pytest

from goodbot.cli.host_argument import host_key
from goodbot.errors import InputError
from goodbot.url import Url
from journey.goodbot_process import goodbot
from journey.test_forget import keep

SAID = "an IPv6 address with a port needs brackets: write "


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("::1:9101", "[::1]:9101, or [::1:9101] if all of it is the address"),
        ("::1:65000", "[::1]:65000"),
        ("2606:4700::1111:80", "[2606:4700::1111]:80, or [2606:4700::1111:80] if all of it is the address"),
        ("2606:4700:0:0:0:0:0:1111:443", "[2606:4700:0:0:0:0:0:1111]:443"),
        ("http://::1:8000/", "[::1]:8000, or [::1:8000] if all of it is the address"),
    ],
)
def test_a_port_behind_an_address_without_brackets(name: str, said: str) -> None:
    with pytest.raises(InputError) as caught:
        host_key(name)
    assert str(caught.value) == SAID + said


@pytest.mark.parametrize("name", ["*", "*.example.org", "", "exa mple.org", "example.org/page", "http://"])
def test_what_is_no_host(name: str) -> None:
    with pytest.raises(InputError, match="not a host such as"):
        host_key(name)


@pytest.mark.parametrize(
    ("name", "key"),
    [
        ("[::1]:9101", "[::1]:9101"),
        ("::1", "[::1]:80"),
        ("[::1:9101]", "[::1:9101]:80"),
        ("2606:4700::1:abcd", "2606:4700::1:abcd"),
        ("2606:4700:0:0:0:0:0:1111", "2606:4700::1111"),
        ("127.0.0.11", "127.0.0.11:80"),
    ],
)
def test_what_is_clear(name: str, key: str) -> None:
    assert host_key(name) in (key, key.removesuffix(":80").strip("[]"))


@pytest.mark.parametrize(
    ("name", "known", "similar"),
    [
        ("127.0.0.11", ["http://127.0.0.11:9101/", "http://127.0.0.1:9101/"], ["127.0.0.11:9101"]),
        ("127.0.0.11:9102", ["http://127.0.0.11:9101/", "http://127.0.0.11/"], ["127.0.0.11:80", "127.0.0.11:9101"]),
        ("::1", ["http://[::1]:9101/", "http://[::2]:9101/"], ["[::1]:9101"]),
        ("example.org", ["http://example.org.test/", "http://www.example.org/"], []),
    ],
)
async def test_a_host_known_by_another_port_is_named(
    tmp_path: Path, name: str, known: list[str], similar: list[str]
) -> None:
    folder = tmp_path / "crawl"
    keep(folder, [Url(text) for text in known])
    result = await goodbot("forget", name, "--in", folder)
    assert result.status == 0, result.err
    assert "from now on it gets no requests" in result.out
    question = f"; did you mean {' or '.join(similar)}?\n"
    assert result.out.endswith(question) if similar else "did you mean" not in result.out
    shutil.rmtree(folder)
    keep(folder, [Url(text) for text in known])
    result = await goodbot("forget", name, "--in", folder, "--json")
    assert (result.json["known"], result.json["similar"]) == (False, similar)
