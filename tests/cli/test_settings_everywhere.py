"""A settings file is checked whole, whatever the command needs of it."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from goodbot.cli import main

WRONG = [
    ("depht = 3\n", "line 1: unknown setting 'depht' (did you mean depth?)"),
    ("\n[chek]\nignore = []\n", "line 2: unknown setting 'chek' (did you mean check?)"),
    ("[check]\nignroe = []\n", "line 2: unknown setting 'ignroe' of [check] (did you mean ignore?)"),
    ('[check]\nignore = ["X999"]\n', "there is no code X999"),
    ('[check]\nfail_on = "never"\n', "fail_on must be one of"),
    ("check = 3\n", "[check] must be a table"),
    ("[serve]\nprot = 80\n", "line 2: unknown setting 'prot' of [serve] (did you mean port?)"),
    ("[serve]\nport = 65536\n", "line 2: port must be from 0 to 65535: 65536"),
    ('[serve]\npublic_url = "example.org"\n', "line 2: public_url must be like https://example.org/"),
    ('[serve]\ntrusted_proxies = ["10.0.0.1/8"]\n', "line 2: trusted_proxies must be addresses or networks"),
    ("[serve]\nlisten = 'foo bar/'\n", "line 2: listen must be an IP address or the name of a host, such as"),
    ("[serve]\npage_burst = 1.5\n", "line 2: page_burst must be a whole number, not 1.5"),
    ("[serve]\npage_rate = -1\n", "line 2: page_rate must be from 0 to 1000000: -1"),
    ('[serve]\nremovals = "no"\n', "line 2: removals must be true or false, not text"),
    ("robot = 3\n", "robot must be tables, each headed [[robot]]"),
    ("[[robot]]\nname = 'x'\n", "robot 'x': purpose is missing"),
    ("[[robto]]\nname = 'x'\n", "unknown setting 'robto' (did you mean robot?)"),
    ("depth = -1\n", "line 1: depth must be at least 0"),
    ('depth = "3"\n', "line 1: depth must be a whole number, not text"),
    ('proxy = "foo"\n', "line 1: "),
]
USERS = ["config", "check robots.txt", "crawl http://127.0.0.1:9/ --allow-private --into d --dry-run"]
"""Commands that read settings."""


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("GOODBOT_")]:
        monkeypatch.delenv(name)
    Path("robots.txt").write_text("User-agent: *\nDisallow: /a\n")


def refused(typed: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err


@pytest.mark.parametrize("kind", ["FIFO", "link to itself", "broken link", "folder"])
@pytest.mark.parametrize("of_user", [False, True], ids=["here", "the user's"])
def test_what_cannot_be_a_settings_file_is_bad_input(
    kind: str, of_user: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    place = tmp_path / "goodbot" / "goodbot.toml" if of_user else tmp_path / "goodbot.toml"
    place.parent.mkdir(exist_ok=True)
    make: dict[str, Callable[[], None]] = {
        "FIFO": lambda: os.mkfifo(place),
        "link to itself": lambda: place.symlink_to(place),
        "broken link": lambda: place.symlink_to(place.with_name("missing")),
        "folder": place.mkdir,
    }
    make[kind]()
    assert main(["config"]) == 2
    assert capsys.readouterr().err == (
        f"goodbot: {place} is not a regular file: remove it, or name a settings file with --config\n"
    )


def test_a_pipe_is_no_settings_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    os.mkfifo(tmp_path / "pipe")
    refused(
        f"config --config {tmp_path / 'pipe'}",
        "pipe is a pipe, which can be read only once: give a file as --config",
        capsys,
    )


@pytest.mark.parametrize(("text", "said"), WRONG)
def test_an_invalid_settings_file_is_bad_input(text: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("wrong.toml").write_text(text)
    for typed in ("explain R203", "format robots.txt", *USERS):
        refused(f"{typed} --config wrong.toml", f"wrong.toml, {said}" if said.startswith("line") else said, capsys)
    Path("goodbot.toml").write_text(text)
    for typed in USERS:
        refused(typed, said, capsys)
    assert main(["explain", "R203"]) == 0


VARIABLES = [
    ("GOODBOT_DEPHT", "3", "did you mean GOODBOT_DEPTH?"),
    ("GOODBOT_DEPTH", "-1", "GOODBOT_DEPTH must be at least 0"),
    ("GOODBOT_CHECK_IGNROE", "R2", "did you mean GOODBOT_CHECK_IGNORE?"),
    ("GOODBOT_CHECK_IGNORE", "X999", "there is no code X999"),
    ("GOODBOT_CHECK_FAIL_ON", "never", "must be one of"),
    ("GOODBOT_SERVE_PROT", "80", "did you mean GOODBOT_SERVE_PORT?"),
    ("GOODBOT_SERVE_PORT", "http", "GOODBOT_SERVE_PORT must be a whole number: 'http'"),
    ("GOODBOT_SERVE_PORT", "-1", "environment: GOODBOT_SERVE_PORT must be from 0 to 65535: -1"),
    ("GOODBOT_SERVE_TRUSTED_PROXIES", "10.0.0.1 nginx", "GOODBOT_SERVE_TRUSTED_PROXIES must be addresses or networks"),
    ("GOODBOT_SERVE_SUBMISSIONS", "maybe", "GOODBOT_SERVE_SUBMISSIONS must be true or false"),
]


@pytest.mark.parametrize(("variable", "value", "said"), VARIABLES)
def test_an_invalid_variable_is_bad_input_of_commands_with_settings(
    variable: str, value: str, said: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable, value)
    for typed in USERS:
        refused(typed, said, capsys)
    assert main(["explain", "R203"]) == 0
