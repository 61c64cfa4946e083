"""`--output`, names of files and folders, standard input as `-`, and options that contradict each other."""

import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from goodbot.cli import main

UNTIDY = b"User-agent : *\nDisallow : /a\n"
WRONG = b"Disallow: /a\nUser-agent: *\nDisalow: /b\n"
OLD = b"old\n"


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_bytes(UNTIDY)
    Path("wrong.txt").write_bytes(WRONG)
    Path("policy.toml").write_text('close = ["/a"]\n')
    Path("old").write_bytes(OLD)
    return tmp_path


def one_line(capsys: pytest.CaptureFixture[str]) -> str:
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    return err


CONTRADICTIONS = [
    ("format robots.txt --write -o old", "--write"),
    ("format robots.txt --check -o old", "--check"),
    ("format robots.txt --diff --write", "--diff"),
    ("format robots.txt --diff --check", "--diff"),
    ("format robots.txt --check --write", "--check writes nothing"),
    ("check robots.txt --format sarif --json", "--json means --format json"),
    ("check robots.txt --format text --json", "--json means --format json"),
    ("courtesy --in . --format html --json", "--json means --format json"),
    ("exam --list --format html --json", "--json means --format json"),
    ("export --in . --what urls --format sqlite --json", "--json means --format jsonl"),
    ("exam --list -- true", "--list runs no command"),
    ("exam --list --serve", "--list runs no command"),
    ("check robots.txt -o robots.txt", "--output is one of the inputs"),
    ("check robots.txt --fix -o ./robots.txt", "--output is one of the inputs"),
    ("check wrong.txt --robots robots.txt -o robots.txt", "--output is one of the inputs"),
    ("allowed robots.txt --agent A / -o robots.txt", "--output is one of the inputs"),
    ("directives robots.txt -o robots.txt", "--output is one of the inputs"),
    ("format robots.txt -o robots.txt", "--output is one of the inputs"),
    ("search --in . --run robots.txt -o robots.txt", "--output is one of the inputs"),
    ("write --policy policy.toml --force -o policy.toml", "--output is one of the inputs"),
    ("explain R203 --config policy.toml -o policy.toml", "--output is one of the inputs"),
]


@pytest.mark.parametrize(("typed", "said"), CONTRADICTIONS)
def test_what_contradicts_itself_is_bad_input(typed: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == 2
    assert said in one_line(capsys)
    assert (Path("robots.txt").read_bytes(), Path("old").read_bytes()) == (UNTIDY, OLD)
    assert Path("policy.toml").read_text() == 'close = ["/a"]\n'


NAMELESS = [
    ["crawl", "http://127.0.0.1:9/", "--into", ""],
    ["crawl", "--into", "d", "--seeds", ""],
    ["crawl", "--into", "d", "--sign", ""],
    ["crawl", "--into", "d", "--ca-file", ""],
    ["status", "--in", ""],
    ["config", "--in", ""],
    ["serve", "--in", ""],
    ["explain", "R203", "-o", ""],
    ["explain", "R203", "--config", ""],
    ["explain", "R203", "--log-json", ""],
    ["exam", "--serve", "--into", ""],
    ["exam", "--log", "", "--", "true", "{seeds}"],
    ["write", "--policy", ""],
    ["write", "--closed", "-o", ""],
    ["write", "--merge", "robots.txt", ""],
    ["search", "--in", ".", "--run", ""],
    ["key", "new", "-o", ""],
    ["key", "show", ""],
    ["format", ""],
    ["check", ""],
    ["check", "robots.txt", "--robots", ""],
    ["allowed", "", "--agent", "A", "/"],
    ["directives", ""],
]


@pytest.mark.parametrize("arguments", NAMELESS, ids=" ".join)
def test_an_empty_name_is_bad_input(arguments: list[str], folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = sorted(folder.iterdir())
    assert main(arguments) == 2
    assert "empty" in one_line(capsys)
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize(
    ("typed", "status"),
    [
        ("check missing.txt -o old", 2),
        ("check robots.txt missing.txt --json -o old", 2),
        ("check http://127.0.0.1:9/page -o old", 3),
        ("export --in missing --what urls -o old", 2),
        ("export --in missing --what urls --format parquet -o old", 2),
        ("export --in missing --what urls --format sqlite -o old", 2),
    ],
)
def test_an_error_keeps_the_old_file(typed: str, status: int, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == status
    assert Path("old").read_bytes() == OLD
    assert capsys.readouterr().err


@pytest.mark.parametrize(("typed", "status"), [("check robots.txt -o old", 0), ("check wrong.txt -o old", 1)])
def test_an_answer_replaces_the_old_file(typed: str, status: int) -> None:
    assert main(typed.split()) == status
    assert Path("old").read_bytes() not in (OLD, b"")


TARGETS = [
    "explain R203 -o",
    "explain R203 --log-json",
    "write --closed -o",
    "key new -o",
    "exam --log {} -- true {{seeds}}",
]


@pytest.mark.parametrize("typed", TARGETS)
@pytest.mark.parametrize("target", ["missing/file", ".", "old/file"])
def test_a_target_that_cannot_exist_is_bad_input(typed: str, target: str, capsys: pytest.CaptureFixture[str]) -> None:
    words = typed.format(target) if "{}" in typed else f"{typed} {target}"
    assert main(words.split()) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


REFUSED = [
    "explain R203 -o /proc/goodbot",
    "explain R203 -o /dev/full",
    "explain R203 --log-json /proc/goodbot",
    "write --closed -o /proc/goodbot",
    "write --closed --force -o /dev/full",
]


@pytest.mark.parametrize("typed", REFUSED)
def test_a_target_that_the_system_refuses_is_a_failure(typed: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == 3
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_hyphen_is_standard_input(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b'close = ["/from-stdin"]\n')))
    assert main(["write", "--policy", "-"]) == 0
    assert capfdbinary.readouterr().out == b"User-agent: *\nDisallow: /from-stdin\n"
    assert not Path("-").exists()


@pytest.mark.parametrize("typed", ["write --closed -o -", "format robots.txt -o -"])
def test_a_hyphen_is_standard_output(typed: str, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(typed.split()) == 0
    assert capfdbinary.readouterr().out.startswith(b"User-agent: *\n")
    assert not Path("-").exists()


def test_a_key_is_not_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["key", "new", "-o", "-"]) == 2
    assert "a key is kept in a file" in one_line(capsys)
