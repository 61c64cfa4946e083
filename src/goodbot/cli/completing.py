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

VARIABLE: Final = "_GOODBOT_COMPLETE"
"""The variable by which a shell asks; its value is `bash_complete`, `zsh_complete` or `fish_complete`."""
SHELLS: Final = ("bash", "zsh", "fish")

_BASH: Final = """\
_goodbot_completion() {
    local IFS=$'\\n' program=${1/#\\~\\//$HOME/} kind value
    case ${COMP_WORDS[COMP_CWORD - 1]} in *[\\<\\>])
        compopt -o default
        return
    esac
    type -P -- "$program" >/dev/null || program=goodbot
    while IFS=, read -r kind value; do
        case $kind in
        dir) compopt -o dirnames ;;
        file) compopt -o default ;;
        plain) COMPREPLY+=("$value") ;;
        esac
    done < <(COMP_WORDS="${COMP_WORDS[*]}" COMP_CWORD=$COMP_CWORD %(variable)s=bash_complete "$program" 2>/dev/null)
}
complete -o nosort -F _goodbot_completion goodbot
"""
"""Not click's own: that changes variables of the user, and prints an error if the program is not found."""

_KINDS: Final[Mapping[str, click.ParamType[Any]]] = {
    "file": click.Path(),
    "dir": click.Path(file_okay=False),
    "text": click.STRING,
}


def script(shell: str) -> str:
    """Returns the script that makes a shell of `SHELLS` complete the command `goodbot`."""
    if shell == "bash":
        return _BASH % {"variable": VARIABLE}
    made = _completion(shell)
    text = made.source_template % made.source_vars()
    return text.replace("local -a response\n", "local -a response\n    local type key descr\n")  # in zsh, else global


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
    words = [word for word in words if word != "="]  # bash makes three words of --format=json, the others one
    option, equals, _ = incomplete.partition("=") if incomplete.startswith("--") else ("", "", "")
    before = f"{option}{equals}" if made.name != "bash" else ""
    items = made.get_completions(words, incomplete)
    return "".join(f"{made.format_completion(_whole_word(item, before))}\n" for item in items)


def _whole_word(item: CompletionItem[str], before: str) -> CompletionItem[str]:
    """What takes the place of the word at the cursor. A file is answered with what was typed of its name."""
    value = item.value if item.type != "plain" else f"{before if not item.value.startswith('-') else ''}{item.value}"
    return CompletionItem("".join(filter(str.isprintable, value)), item.type, item.help)


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
    """Text of which some values are known. Capitals and small letters are the same while a value is completed."""

    name = "known"

    def __init__(self, values: Sequence[str]) -> None:
        self._values = values

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem[str]]:
        begun = incomplete.casefold()
        return [CompletionItem(value) for value in self._values if value.casefold().startswith(begun)]
