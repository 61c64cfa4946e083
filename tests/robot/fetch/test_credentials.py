"""Tests which requests carry a password."""

from pathlib import Path

import pytest

from goodbot.config import (
    Settings,
)
from goodbot.errors import InputError
from goodbot.robot.fetch.credentials import Credentials
from goodbot.settings_file import (
    load_settings,
    save_settings,
)
from goodbot.url import parse_url

ENTRIES = [
    ("a.test=basic:me:pw", "https://a.test/x", "Basic bWU6cHc="),
    ("a.test=basic:me:pw", "https://A.TEST:443/x", "Basic bWU6cHc="),
    ("a.test=basic:me:pw", "http://a.test/x", None),  # in the clear
    ("a.test=basic:me:pw", "https://a.test:8443/", None),
    ("a.test=basic:me:pw", "https://b.a.test/", None),
    ("a.test=basic:me:pw", "https://a.test./", None),
    ("a.test=basic:me:pw", "https://a.test@b.test/", None),
    ("a.test=basic:me:", "https://a.test/", "Basic bWU6"),
    ("a.test=basic:me:a=b:c", "https://a.test/", "Basic bWU6YT1iOmM="),
    ("A.test:8443=bearer:T", "https://a.test:8443/", "Bearer T"),
    ("http://a.test=bearer:T", "http://a.test/", "Bearer T"),
    ("http://a.test=bearer:T", "https://a.test/", None),
    ("127.0.0.1:8000=bearer:T", "http://127.0.0.1:8000/", "Bearer T"),
    ("[::1]:8000=bearer:T=", "http://[::1]:8000/", "Bearer T="),
    ("prüfung.test=bearer:T", "https://xn--prfung-4ya.test/", "Bearer T"),
]


@pytest.mark.parametrize(("entry", "url", "value"), ENTRIES)
def test_value(entry: str, url: str, value: str | None) -> None:
    parsed = parse_url(url)
    assert parsed is not None
    assert Credentials([entry]).value(parsed) == value


WRONG = [
    "",
    "a.test",
    "a.test=secret",
    "a.test=digest:me:secret",
    "a.test=basic:secret",
    "a.test=bearer:",
    "a.test=bearer:sec ret",
    "a.test=bearer:secret\r\nX: y",
    "=basic:me:secret",
    "a.test/path=basic:me:secret",
    "ftp://a.test=basic:me:secret",
    "you@a.test=basic:me:secret",
]


@pytest.mark.parametrize("entry", WRONG)
def test_what_is_none_is_refused_and_not_repeated(entry: str) -> None:
    with pytest.raises(InputError, match="entry 2 is not") as caught:
        Credentials(["a.test=bearer:T", entry])
    assert "sec" not in str(caught.value)


def test_what_is_hidden_is_neither_kept_nor_shown(tmp_path: Path) -> None:
    settings = Settings(auth=("a.test=basic:me:secret",), cookies=True)
    assert "secret" not in repr(settings)
    file = tmp_path / "goodbot.toml"
    save_settings(file, settings)
    assert "secret" not in file.read_text()
    file.write_text('auth = "a.test=basic:me:secret"\n')
    with pytest.raises(InputError) as caught:
        load_settings(file, Settings())
    assert "secret" not in str(caught.value)
