"""The settings of `goodbot serve`: which values are accepted, and which of several places decides."""

import os
from dataclasses import fields
from pathlib import Path
from typing import Any

import click
import pytest

from goodbot.cli import main, serve
from goodbot.cli.serve_options import serve_settings
from goodbot.config import Settings
from goodbot.errors import InputError, SettingError
from goodbot.serve_settings import ServeSettings
from goodbot.settings_file import save_settings
from goodbot.store.sqlite.frontier import SqliteFrontier
from goodbot.web import Rate, Site
from journey.goodbot_process import goodbot

# setting → values that are refused
REFUSED: list[tuple[str, Any]] = [
    ("name", ""),
    ("name", " \n"),
    ("name", "two\nlines"),
    ("name", "x" * 101),
    *(
        ("listen", text)
        for text in (
            *("", " ", "foo bar/", "127.0.0.1:8020", "[::1]", "http://localhost/", "1.2.3", "999.0.0.1", "0", "a..b"),
            *("-a.example", "a-.example", "a_b.example", "хост.example", "x" * 64, ".".join(["abcdefgh"] * 30), "a\nb"),
        )
    ),
    ("port", -1),
    ("port", 65536),
    *(
        ("public_url", text)
        for text in (
            "",
            "example.org",
            "ftp://example.org/",
            "//example.org/",
            "https:///find/",
            "https://user@example.org/",
            "https://example.org/?q=",
            "https://example.org/#top",
            "https://example.org/a b/",
            "https://example.org/%D0%BF/",
            "https://example.org/a//b/",
            "https://example.org\\find",
            "https://example.org:99999/",
            'https://example.org/"onload=',
        )
    ),
    ("trusted_proxies", ("nginx",)),
    ("trusted_proxies", ("*",)),
    ("trusted_proxies", ("",)),
    ("trusted_proxies", ("0.0.0.0/0",)),
    ("trusted_proxies", ("::/0",)),
    ("trusted_proxies", ("127.0.0.1", "10.0.0.1/8")),
    ("page_rate", -0.5),
    ("page_rate", float("nan")),
    ("post_rate", float("inf")),
    ("page_burst", 0),
    ("post_burst", -1),
]


@pytest.mark.parametrize(("name", "value"), REFUSED)
def test_a_refused_value_is_named_in_one_line(name: str, value: Any) -> None:
    with pytest.raises(SettingError) as raised:
        ServeSettings(**{name: value})
    assert raised.value.name == name
    assert str(raised.value).startswith(name.replace("_", "-"))
    assert len(str(raised.value).splitlines()) == 1


# setting, as given → as it is used
NORMAL: list[tuple[str, Any, Any]] = [
    ("name", " Library ", "Library"),
    *(
        ("listen", text, text.strip())
        for text in ("::1", " 0.0.0.0 ", "fe80::1%eth0", "localhost", "a-b.example.", "4u")
    ),
    ("public_url", "https://Example.ORG", "https://example.org/"),
    ("public_url", "https://example.org:443/find", "https://example.org/find/"),
    ("public_url", "http://пример.example/", "http://xn--e1afmkfd.example/"),
    ("public_url", "http://[::1]:8020/a/b-c_d~e.f/", "http://[::1]:8020/a/b-c_d~e.f/"),
    (
        "trusted_proxies",
        (" 127.0.0.1 ", "10.0.0.0/8", "::0001", "2001:DB8::/32"),
        ("127.0.0.1", "10.0.0.0/8", "::1", "2001:db8::/32"),
    ),
    ("trusted_proxies", ("192.0.2.1/32",), ("192.0.2.1",)),
    ("page_rate", 0.0, 0.0),
]


@pytest.mark.parametrize(("name", "value", "used"), NORMAL)
def test_values_are_kept_in_their_normal_form(name: str, value: Any, used: Any) -> None:
    assert getattr(ServeSettings(**{name: value}), name) == used


def test_the_defaults_are_those_of_the_pages() -> None:
    default, site = ServeSettings(), Site()
    assert (default.name, default.public_url, default.trusted_proxies) == (site.name, site.public_url, site.proxies)
    assert (default.submissions, default.removals) == (site.submissions, site.removals)
    assert Rate(default.page_rate, default.page_burst) == site.page_rate
    assert Rate(default.post_rate, default.post_burst) == site.post_rate


# ---- where values come from -----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working folder, without settings of the user."""
    for name in [name for name in os.environ if name.startswith("GOODBOT_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "none"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def in_force(folder: Path | None = None, **options: Any) -> ServeSettings:
    with click.Context(click.Command("serve")):
        return serve_settings(folder, options)


STRENGTH = [
    ("", "", "", None, 8020),
    ("port = 1", "", "", None, 1),
    ("port = 1", "2", "", None, 2),
    ("port = 1", "2", "port = 3", None, 3),
    ("port = 1", "2", "port = 3", 4, 4),
    ("port = 1", "2", "port = 3", 0, 0),
    ("", "tcp://10.96.0.7:8020", "", None, 8020),
]
"""In goodbot.toml, in the environment, in goodbot.toml of the crawl, as an option → the port. The last variable is that
of a Kubernetes service called goodbot-serve."""


@pytest.mark.parametrize(("own", "variable", "crawls", "option", "port"), STRENGTH)
def test_the_strongest_place_decides(
    own: str, variable: str, crawls: str, option: int | None, port: int, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "goodbot.toml").write_text(f"depth = 3\n[serve]\n{own}\n")
    (folder / "crawl").mkdir()
    (folder / "crawl" / "goodbot.toml").write_text(f"[serve]\n{crawls}\n")
    if variable:
        monkeypatch.setenv("GOODBOT_SERVE_PORT", variable)
    assert in_force(Path("crawl"), port=option).port == port


@pytest.mark.parametrize("proxies", ["127.0.0.1 10.0.0.0/8", "127.0.0.1,10.0.0.0/8", " 127.0.0.1 , 10.0.0.0/8,"])
def test_every_kind_of_value_comes_from_the_environment(
    proxies: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {"NAME": "Two, words", "TRUSTED_PROXIES": proxies, "REMOVALS": "no", "PAGE_RATE": "1.5"}
    for name, text in given.items():
        monkeypatch.setenv(f"GOODBOT_SERVE_{name}", text)
    found = in_force()
    assert (found.name, found.trusted_proxies) == ("Two, words", ("127.0.0.1", "10.0.0.0/8"))
    assert (found.removals, found.page_rate) == (False, 1.5)


def test_options_replace_lists_and_switches(folder: Path) -> None:
    text = '[serve]\ntrusted_proxies = ["10.0.0.1"]\nsubmissions = false\nremovals = true\n'
    (folder / "goodbot.toml").write_text(text)
    found = in_force(trusted_proxies=("127.0.0.1",), submissions=True, removals=False, name=None)
    assert found == ServeSettings(trusted_proxies=("127.0.0.1",), submissions=True, removals=False)


def test_each_setting_is_an_option_or_internal() -> None:
    options = {param.name for param in serve.command.params}
    assert {item.name for item in fields(ServeSettings) if not item.metadata["internal"]} <= options
    assert not {item.name for item in fields(ServeSettings) if item.metadata["internal"]} & options


# options → the error
WRONG = [
    ("--port 65536", "--port must be from 0 to 65535: 65536"),
    ("--port http", "'--port': 'http' is not a whole number"),
    ("--public-url example.org", "--public-url must be like https://example.org/ or https://example.org/find/"),
    ("--trusted-proxy nginx", "--trusted-proxy must be addresses or networks such as 10.0.0.0/8: 'nginx' is neither"),
    ("--name=", "--name must be one line of 1 to 100 characters: ''"),
    ("--listen=", "--listen must be an IP address or the name of a host, such as 127.0.0.1, ::1 or localhost, without"),
    ("--host=", "--listen must be an IP address or the name of a host, such as 127.0.0.1, ::1 or localhost, without"),
    ("--listen foo/", "without a port: 'foo/'"),
]


@pytest.mark.parametrize(("typed", "said"), WRONG)
def test_an_invalid_option_is_bad_input(
    typed: str, said: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["serve", *typed.split()]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err


# setting, as TOML, as text (None: it cannot be written so) → what the error says after the name of the setting
OTHER_TYPES: list[tuple[str, str, str | None, str]] = [
    ("port", "1.5", "1.5", "must be a whole number"),
    ("port", "true", "true", "must be a whole number"),
    ("port", '"80"', "", "must be a whole number"),
    ("port", "[80]", None, "must be a whole number, not a list with 80"),
    ("port", "1999-12-31", None, "must be a whole number, not 1999-12-31"),
    ("port", "{a = 1}", None, "must be a whole number, not a table"),
    ("port", "70000", "70000", "must be from 0 to 65535: 70000"),
    ("page_burst", "1.5", "1.5", "must be a whole number"),
    ("page_burst", "inf", "inf", "must be a whole number"),
    ("page_burst", "0", "0", "must be from 1 to 1000000: 0"),
    ("page_rate", "false", "false", "must be a number"),
    ("page_rate", '"fast"', "fast", "must be a number"),
    ("page_rate", "nan", "nan", "must be from 0 to 1000000: nan"),
    ("page_rate", "-1", "-1", "must be from 0 to 1000000: -1"),
    ("removals", "1", "2", "must be true or false"),
    ("removals", '"yes"', "maybe", "must be true or false"),
    ("name", "7", None, "must be a string, not 7"),
    ("name", '"a\\nb"', "a\nb", "must be one line of 1 to 100 characters: 'a\\nb'"),
    ("name", f'"{"x" * 999}"', "x" * 999, "must be one line of 1 to 100 characters: 'xxx"),
    ("public_url", "8020", None, "must be a string, not 8020"),
    ("public_url", '"example.org"', "example.org", "must be like https://example.org/"),
    ("trusted_proxies", '"127.0.0.1"', None, "must be a list of strings, not text"),
    ("trusted_proxies", "[127]", None, "must be a list of strings, not a list with 127"),
    ("trusted_proxies", '["a", ["b"]]', None, "must be a list of strings, not a list with a list"),
    ("trusted_proxies", '["nginx"]', "127.0.0.1,nginx", "must be addresses or networks such as 10.0.0.0/8: 'nginx' is"),
    ("listen", '"127.0.0.1:80"', "127.0.0.1:80", "must be an IP address or the name of a host"),
]


@pytest.mark.parametrize(("name", "toml", "text", "said"), OTHER_TYPES)
def test_a_wrong_value_is_named_wherever_it_stands(
    *, name: str, toml: str, text: str | None, said: str, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    places = [(name, f"[serve]\n{name} = {toml}\n", None), (f"GOODBOT_SERVE_{name.upper()}", "", text)]
    for shown, file, variable in places:
        (folder / "goodbot.toml").write_text(file)
        if variable is not None:
            monkeypatch.setenv(shown, variable)
        elif not file:
            continue
        with pytest.raises(InputError) as raised:
            in_force()
        line = str(raised.value)
        assert f"{shown} {said}" in line
        assert (len(line.splitlines()), len(line) < 320) == (1, True)


REFUSED_LATER = ["http://u:p@x.example/", "http://x.example/?q={terms}"]
"""Search services that only the part that sends queries can refuse."""


@pytest.mark.parametrize("service", REFUSED_LATER)
def test_a_search_service_is_named_wherever_it_stands(
    service: str, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def complaint(*options: str) -> str:
        assert main(["serve", "--port", "0", *options]) == 2
        return capsys.readouterr().err.removeprefix("goodbot: ")

    assert complaint("--with", service).startswith("--with: ")
    monkeypatch.setenv("GOODBOT_SERVE_SEARCH_SERVICES", service)
    assert complaint().startswith("environment: GOODBOT_SERVE_SEARCH_SERVICES: ")
    assert complaint("--with", service).startswith("--with: ")
    monkeypatch.delenv("GOODBOT_SERVE_SEARCH_SERVICES")
    (folder / "goodbot.toml").write_text(f"[serve]\nsearch_services = ['{service}']\n")
    assert complaint().startswith("goodbot.toml, line 2: search_services: ")


# ---- goodbot config -------------------------------------------------------------------------------------------------


async def test_config_says_where_each_setting_comes_from(folder: Path) -> None:
    (folder / "goodbot.toml").write_text('depth = 3\n[serve]\nname = "A"\nport = 1\nlisten = "::1"\n')
    (folder / "crawl").mkdir()
    SqliteFrontier.open(folder / "crawl" / "frontier.sqlite", create=True).close()
    (folder / "crawl" / "goodbot.toml").write_text('\n[serve]\nname = "C"\n')
    given = {"GOODBOT_SERVE_NAME": "B", "GOODBOT_SERVE_PORT": "2"}
    shown = (await goodbot("config", "--in", "crawl", "--json", folder=folder, settings=given)).json["settings"]
    assert {name: shown[f"serve.{name}"] for name in ("name", "port", "listen", "removals")} == {
        "name": {"value": "C", "source": "crawl", "place": "crawl/goodbot.toml, line 3"},
        "port": {"value": 2, "source": "environment", "place": "GOODBOT_SERVE_PORT"},
        "listen": {"value": "::1", "source": "file", "place": "goodbot.toml, line 5"},
        "removals": {"value": True, "source": "default", "place": None},
    }
    assert {name for name in shown if name.startswith("serve.")} == {f"serve.{it.name}" for it in fields(ServeSettings)}
    assert "serve.port" in (await goodbot("config", folder=folder)).out


# ---- the file of a crawl --------------------------------------------------------------------------------------------

# what follows the settings of the crawl in goodbot.toml → what the next save keeps of it
KEPT: list[tuple[str, str]] = [
    ("", ""),
    ('[serve]\nname = "A"  # ours\n\n[check]\nignore = []\n', '[serve]\nname = "A"  # ours\n\n[check]\nignore = []\n'),
    ("# For visitors.\n# Two lines.\n[serve]\nport = 1", "# For visitors.\n# Two lines.\n[serve]\nport = 1"),
    ("serve.port = 1\n", "[serve]\nport = 1\n"),
    ('[[robot]]\nname = "A"\n\n[[robot]]\nname = "B"\n', '[[robot]]\nname = "A"\n\n[[robot]]\nname = "B"\n'),
    ('robot = [{name = "A"}, {name = "B"}]\n', '[[robot]]\nname = "A"\n\n[[robot]]\nname = "B"\n'),
    (
        'serve = {name = "\\u007f", trusted_proxies = ["::1"]}\n',
        '[serve]\nname = "\\u007f"\ntrusted_proxies = ["::1"]\n',
    ),
    ("include = [\n[\n]]\n[serve]\nport = 1\n", "[serve]\nport = 1\n"),
    ('agent = """\n[serve]\nport = 1\n"""\n', ""),
    ("serve.since = 1999-12-31\n", ""),
    ("[serve\nport = 1\n", ""),
]


@pytest.mark.parametrize(("before", "after"), KEPT)
def test_a_crawl_keeps_the_tables_of_its_file(before: str, after: str, tmp_path: Path) -> None:
    file, settings = tmp_path / "goodbot.toml", Settings(depth=3)
    file.write_text(f"# My crawl.\ndepth = 7\n{before}", encoding="utf-8")
    head = "# Settings of this crawl. `goodbot crawl --into` this folder resumes it.\ndepth = 3\n"
    for _ in range(2):
        save_settings(file, settings)
        assert file.read_text(encoding="utf-8") == head + (f"\n{after}" if after else "")
