"""All commands keep the same conventions: options, help, exit statuses, one shape of JSON each."""

import re
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from goodbot.cli import main
from goodbot.cli.command_class import SHARED_HEADING, Command
from goodbot.cli.command_groups import CommandGroup
from goodbot.cli.command_with_others import CommandWithOthers
from goodbot.cli.commands import group

SHARED = {
    "--json": "as_json",
    "--color": "color",
    "--quiet": "quiet",
    "-q": "quiet",
    "--config": "config",
    "--log-level": "log_level",
    "--log-json": "log_json",
}
"""Option → its parameter."""


def walk(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """A command, and the commands below it: the words to type, the command and its context."""
    yield context.command_path.removeprefix("goodbot").strip(), command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            yield from walk(child, child.context_class(child, info_name=name, parent=context, terminal_width=78))
    if isinstance(command, CommandWithOthers):
        for name, other in command.others.items():
            path = f"{context.info_name} {name}"
            yield from walk(other, other.context_class(other, info_name=path, parent=context.parent, terminal_width=78))


ROOT = group.context_class(group, info_name="goodbot", terminal_width=78, **group.context_settings)
EVERYTHING = [(path, command, context) for path, command, context in walk(group, ROOT) if path]
LEAVES = [each for each in EVERYTHING if not isinstance(each[1], click.Group)]
PATHS = [path for path, _, _ in LEAVES]


def options_of(command: click.Command) -> list[click.Option]:
    return [param for param in command.params if isinstance(param, click.Option) and not param.hidden]


@pytest.mark.parametrize(("path", "command", "context"), LEAVES, ids=PATHS)
def test_the_shared_options_are_those_of_every_command(
    path: str, command: click.Command, context: click.Context
) -> None:
    assert isinstance(command, Command)
    found = {name: param for param in options_of(command) for name in param.opts}
    assert {name: found[name].name for name in SHARED if name in found} == SHARED
    (first,) = (each for each in LEAVES if each[0] == "status")
    others = {name: param for param in options_of(first[1]) for name in param.opts}
    assert {found[name].help for name in SHARED} == {others[name].help for name in SHARED}
    assert f"{SHARED_HEADING}:" in command.get_help(context)


@pytest.mark.parametrize(("path", "command", "context"), EVERYTHING, ids=[path for path, _, _ in EVERYTHING])
def test_help_has_examples_and_fits_80_columns(path: str, command: click.Command, context: click.Context) -> None:
    text = command.get_help(context)
    examples = re.search(r"^Examples:\n((?:  .*\n)+)", text, re.MULTILINE)
    assert examples is not None
    assert all(
        f"goodbot {path.split(' ', maxsplit=1)[0]}" in line for line in examples[1].splitlines() if line[2] != " "
    )
    assert [line for line in text.splitlines() if len(line) > 80] == []


@pytest.mark.parametrize(("path", "command", "context"), EVERYTHING, ids=[path for path, _, _ in EVERYTHING])
def test_a_folded_example_can_be_pasted(path: str, command: click.Command, context: click.Context) -> None:
    assert isinstance(command, Command | CommandGroup)
    narrow = command.context_class(command, info_name=path, parent=context.parent, terminal_width=58)
    examples = re.search(r"^Examples:\n((?:  .*\n)+)", command.get_help(narrow), re.MULTILINE)
    assert examples is not None
    text = re.sub(r" \\\n +", " ", examples[1])
    pasted = [line.strip() for line in text.splitlines() if not line.startswith("  # ")]
    assert pasted == [line if line in pasted else line.partition(" # ")[0].strip() for line in command.examples]


@pytest.mark.parametrize(("path", "command", "context"), LEAVES, ids=PATHS)
def test_help_names_the_exit_statuses(path: str, command: click.Command, context: click.Context) -> None:
    assert "Exit status: 0" in " ".join(command.get_help(context).split())


def test_examples_parse() -> None:
    """Each example names options that exist."""
    for path, command, _ in LEAVES:
        known = {name for param in command.params for name in (*param.opts, *param.secondary_opts)}
        assert isinstance(command, Command)
        for example in command.examples:
            own = example.partition(" -- ")[0].split("#")[0]
            assert {word for word in own.split() if word.startswith("--")} <= known, path


@pytest.mark.parametrize(("path", "command", "context"), LEAVES, ids=PATHS)
def test_metavars_say_what_they_want(path: str, command: click.Command, context: click.Context) -> None:
    """Not TEXT or INTEGER RANGE, as click calls a value without a name: a name, or the choices."""
    nameless = [
        option.opts
        for option in options_of(command)
        if not option.is_flag and option.metavar is None and not isinstance(option.type, click.Choice)
    ]
    assert nameless == []
    assert not re.search(r"\b(TEXT|INTEGER|FLOAT|RANGE)\b", command.get_help(context))


def test_summaries_of_commands_are_whole_at_80_columns() -> None:
    groups = [(command, context) for _, command, context in [("", group, ROOT), *EVERYTHING]]
    for command, context in groups:
        if isinstance(command, click.Group):
            rows = command.get_help(context).partition("Commands:")[2].splitlines()
            assert not [row for row in rows if row.endswith("...")], rows


def test_dialects_are_named_in_the_help_and_not_beside_the_option() -> None:
    found = [option for _, command, _ in LEAVES for option in options_of(command) if "--dialect" in option.opts]
    assert {option.metavar for option in found} == {"DIALECT"}
    for option in found:
        assert isinstance(option.type, click.Choice)
        assert all(choice in (option.help or "") for choice in option.type.choices)


def test_one_option_has_one_meaning() -> None:
    """By the metavar: `--host` is a host everywhere, `--in` a folder; `--check` of one command is no other's."""
    metavars: dict[str, set[str | None]] = {}
    for _, command, _ in LEAVES:
        for option in options_of(command):
            for name in option.opts:
                metavars.setdefault(name, set()).add(option.metavar)
    different = {name for name, found in metavars.items() if len(found) > 1}
    assert different <= {
        "--as",
        "--dialect",
        "--every",
        "--follow",
        "--log",
        "--open",
        "--robots",
        "--sitemap",
        "--to",
        "--with",
    }


@pytest.mark.parametrize("path", [path for path, _, _ in EVERYTHING])
def test_an_unknown_option_is_bad_input(path: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*path.split(), "--frobnicate"]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "--frobnicate" in err


# ---- one line for what cannot be used -------------------------------------------------------------------------------

ARGUMENTS = {
    "sitemap": ["-o", "sitemap.xml"],
    "export": ["--what", "urls"],
    "why": ["http://127.0.0.1/"],
    "search": ["word"],
    "impact": ["robots.txt"],
    "remedy": ["nginx"],
    "gate export": ["--robots", "robots.txt", "--format", "nginx"],
    "completion": ["bash"],
    "incidents add": ["x", "--robot", "GPTBot", "--state", "x"],
    "incidents list": ["--state", "x"],
    "announce": ["--to", "bing"],
    "index snapshot": ["--to", "copies"],
    "archive export": ["--wacz", "-o", "x.wacz"],
    "cluster index": ["--store", "store", "--to", "index"],
    "cluster cycle": ["--store", "store"],
    "cluster export": ["--store", "store", "--into", "crawl"],
    "cluster pagerank": ["--store", "store"],
    "cluster dedup": ["--store", "store"],
    "submit": ["http://127.0.0.1/"],
    "forget": ["127.0.0.1"],
    "lessons drop": ["0123456789"],
}
IN_DIR = [path for path, command, _ in LEAVES if any("--in" in option.opts for option in options_of(command))]


@pytest.mark.parametrize("form", [(), ("--json",)])
@pytest.mark.parametrize("path", IN_DIR)
def test_a_folder_without_a_crawl_is_bad_input(
    path: str, form: tuple[str, ...], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for folder in (tmp_path, tmp_path / "missing"):
        assert main([*path.split(), *ARGUMENTS.get(path, []), "--in", str(folder), *form]) == 2
        out, err = capsys.readouterr()
        assert (out, len(err.splitlines())) == ("", 1)
        assert str(folder) in err


@pytest.mark.parametrize("path", PATHS)
def test_a_settings_file_that_cannot_be_read_is_bad_input(
    path: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = next(command for name, command, _ in LEAVES if name == path)
    arguments = ["--in", str(tmp_path)] if path in IN_DIR else []
    arguments += ["--into", str(tmp_path)] if path in ("crawl", "index import", "archive import", "remember") else []
    arguments += ["--agent", "a"] if path == "allowed" else []
    needed = [param for param in command.params if isinstance(param, click.Argument) and param.required]
    arguments += ARGUMENTS.get(path) or ["x"] * len(needed)
    assert main([*path.split(), *arguments, "--config", str(tmp_path / "none.toml")]) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert "none.toml" in err
