"""Addresses of databases: their form, and that no password leaves them."""

import json
from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.cli import main
from goodbot.config import Settings
from goodbot.database_address import check_database_address, without_password
from goodbot.errors import InputError
from goodbot.settings_file import load_settings, save_settings

WITHOUT = [
    ("postgresql://host/crawl", "postgresql://host/crawl"),
    ("postgres://me@host/crawl", "postgres://me@host/crawl"),
    ("postgresql://me:secret@host:5433/crawl", "postgresql://me@host:5433/crawl"),
    ("postgresql://me:s?e#c[ret@host/crawl?a=b", "postgresql://me@host/crawl?a=b"),
    ("postgresql://me:secret@one:1,two:2/crawl", "postgresql://me@one:1,two:2/crawl"),
    ("postgresql:///crawl?host=/run/pg", "postgresql:///crawl?host=/run/pg"),
    ("postgresql://host/crawl?user=a@b&password=secret", "postgresql://host/crawl?user=a@b"),
    ("postgresql://h/c?p%61ssword=secret&sslpassword=secret", "postgresql://h/c"),
    (
        "postgresql://h/c?options=-c%20search_path%3Dx+y&password=secret",
        "postgresql://h/c?options=-c%20search_path%3Dx+y",
    ),
    ("postgresql://me:sec@secret@host/c", "postgresql://me@host/c"),
]


@pytest.mark.parametrize(("address", "expected"), WITHOUT)
def test_an_address_without_its_password(address: str, expected: str) -> None:
    assert without_password(address) == expected


@given(st.text(st.characters(blacklist_categories=["Cs"]), min_size=1))
def test_no_password_is_left(password: str) -> None:
    quoted = quote(f"<{password}>", safe="")
    address = f"postgresql://me:{quoted}@host/c?sslmode=require&password={quoted}"
    check_database_address(address)
    assert without_password(address) == "postgresql://me@host/c?sslmode=require"


@pytest.mark.parametrize(
    "address",
    [
        "",
        "host/crawl",
        "mysql://me:secret@h/c",
        "postgresql:secret",
        "postgresql://me:sec\udc80@h/c",
        "postgresql://me:sec\n@h/c",
        "postgresql://me:sec@ret@h/c",
        "postgresql://me:s/e@h/c",
    ],
)
def test_what_is_no_address_is_refused_and_not_quoted(address: str) -> None:
    with pytest.raises(InputError, match="--frontier") as caught:
        check_database_address(address)
    assert "sec" not in str(caught.value)


def test_a_password_is_neither_saved_nor_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    address = "postgresql://me:secret@host/crawl"
    save_settings(tmp_path / "goodbot.toml", Settings(frontier=address))
    assert load_settings(tmp_path / "goodbot.toml", Settings()).frontier == "postgresql://me@host/crawl"
    monkeypatch.setenv("GOODBOT_FRONTIER", address)
    assert main(["config", "--json"]) == 0
    assert json.loads(capfd.readouterr().out)["settings"]["frontier"]["value"] == "postgresql://me@host/crawl"
    assert main(["config"]) == 0
    assert "secret" not in capfd.readouterr().out
