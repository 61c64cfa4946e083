"""Answers the shell when the user presses Tab. The scripts of `goodbot completion` ask here.

The answers come from `completions.json`, which `make docs` writes from the commands: importing a command to learn its
options would take up to 0.7 s at each Tab.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from importlib.resources import files
from typing import Any, Final

import click
from click.shell_completion import CompletionItem, ShellComplete, get_completion_class

from goodbot.cli.completion_scripts import SHELLS, VARIABLE, script

_KINDS: Final[Mapping[str, click.ParamType[Any]]] = {
    "file": click.Path(),
    "dir": click.Path(file_okay=False),
    "text": click.STRING,
}


def complete(instruction: str) -> int:
    """Writes to standard output what may follow the words in `COMP_WORDS`, in the form that the shell's script reads.
    Returns the exit status: 1 if the environment is not that of such a script. Never raises, whatever was typed."""
    shell, _, step = instruction.partition("_")
    if shell not in SHELLS or step not in ("complete", "source"):
        return 1
    try:
        text = script(shell) if step == "source" else _answer(_completion(shell))
        os.write(1, text.encode("utf-8", "surrogateescape"))  # to the script; importing `printing` takes 25 ms
    except (KeyError, ValueError, IndexError, OSError):  # no COMP_WORDS; COMP_CWORD is no number, or no word; no reader
        return 1
    return 0


def _completion(shell: str) -> ShellComplete:
    made = get_completion_class(shell)
    assert made is not None  # noqa: S101  (click has all of SHELLS)
    root = _Group(_table()["commands"], params=[_option(entry) for entry in _table()["options"]])
    return made(root, {"help_option_names": ["-h", "--help"]}, "goodbot", VARIABLE)


def _answer(made: ShellComplete) -> str:
    words, incomplete = made.get_completion_args()
    is_value = words[-1:] == ["="] or (incomplete.startswith("--") and "=" in incomplete)
    words = [word for word in words if word != "="]  # bash makes three words of --format=json, the others one
    items = made.get_completions(words, incomplete)
    if is_value:
        items = [item for item in items if not item.value.startswith("-")]  # an option is no value
    return "".join(f"{made.format_completion(_on_one_line(item))}\n" for item in items)


def _on_one_line(item: CompletionItem[str]) -> CompletionItem[str]:
    """Leaves out what cannot be printed. A file is answered with what was typed of its name."""
    return CompletionItem("".join(filter(str.isprintable, item.value)), item.type, item.help)


# ---- commands made of the table -------------------------------------------------------------------------------------


@cache
def _table() -> dict[str, Any]:
    table: dict[str, Any] = json.loads(files("goodbot.cli").joinpath("completions.json").read_bytes())
    return table


class _Group(click.Group):
    """Makes a command when it is needed."""

    def __init__(self, commands: Mapping[str, Any], **attributes: Any) -> None:
        super().__init__(**attributes)
        self._made_of = commands

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(self._made_of)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        entry = self._made_of.get(cmd_name)
        return None if entry is None else _command(cmd_name, entry)


class _WithOthers(click.Command):
    """A command whose first argument may name another: `goodbot who update`."""

    def __init__(self, *args: Any, others: Mapping[str, Any], **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self._others = others

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        if args and args[0] in self._others:
            return _command(args[0], self._others[args[0]]).make_context(args[0], args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


def _command(name: str, entry: Mapping[str, Any]) -> click.Command:
    if "commands" in entry:
        return _Group(entry["commands"], name=name, help=entry["help"])
    shared = [each for each in _table()["shared"] if "--output" not in each["names"] or entry.get("prints", True)]
    others = entry.get("others", {})
    params: list[click.Parameter] = [_option(option) for option in (*entry["options"], *shared)]
    params += [
        click.Argument([f"a{place}"], type=_type(kind, others), nargs=nargs, required=False)
        for place, (kind, nargs) in enumerate(entry["arguments"])
    ]
    settings = {"allow_interspersed_args": not entry.get("runs", False)}
    return _WithOthers(name, params=params, help=entry["help"], context_settings=settings, others=others)


def _option(entry: Mapping[str, Any]) -> click.Option:
    if entry["kind"] == "flag":
        return click.Option(entry["names"], is_flag=True, help=entry["help"])
    many = entry.get("repeatable", False)
    return click.Option(entry["names"], type=_type(entry["kind"]), multiple=many, help=entry["help"])


def _type(kind: str | list[str], before: Iterable[str] = ()) -> click.ParamType[Any]:
    """The type of a value. `kind` lists what may be typed, or is one of `_KINDS`, or the name of a list of the table.
    `before` may be typed in place of an argument's value."""
    if isinstance(kind, str) and kind in _KINDS:
        return _KINDS[kind]
    return _Known([*before, *(_table()["lists"][kind] if isinstance(kind, str) else kind)])


class _Known(click.ParamType[str]):
    """Text of which some values are known. Values in other capitals and small letters than those typed are offered only
    if none begins as typed."""

    name = "known"

    def __init__(self, values: Sequence[str]) -> None:
        self._values = values

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        exact = [value for value in self._values if value.startswith(incomplete)]
        return [CompletionItem(value) for value in exact or _in_any_case(self._values, incomplete)]


def _in_any_case(values: Iterable[str], begun: str) -> list[str]:
    """Returns the values that begin like this in any case. A shell replaces the word by what all of them begin with; if
    that would be shorter than the word, they begin as it was typed."""
    length = len(begun)
    found = [value for value in values if value[:length].casefold() == begun.casefold()]
    differ = len({value[:length] for value in found}) > 1
    return [begun + value[length:] for value in found] if differ else found
