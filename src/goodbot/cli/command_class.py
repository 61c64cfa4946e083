"""The class of every command: the options that all commands have, and the layout of `--help`."""

import inspect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final

import click

from goodbot.cli.file_types import NamedPath
from goodbot.cli.printing import be_quiet, output_to
from goodbot.errors import InputError
from goodbot.files import is_same_file, is_standard_input
from goodbot.interrupts import stopped_as_by_ctrl_c
from goodbot.logs import LEVELS, SILENT, LogSettings, start_logging

SHARED_HEADING: Final = "Options of every command"
_UNBROKEN_HYPHEN: Final = "\u2011"
"""Takes the place of `-` while text is folded: folding never breaks a line there."""

_JSON_FORMS: Final = ("jsonl", "json")
_OUTPUT: Final = "goodbot.shared.output"
_CONFIG: Final = "goodbot.shared.config"
_LOG_LEVEL: Final = "goodbot.shared.log_level"
_LOG_JSON: Final = "goodbot.shared.log_json"


class HelpFormatter(click.HelpFormatter):
    """Folds help to narrow terminals too (click alone fills at least 50 columns), and never inside `--an-option`."""

    def write_dl(self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2) -> None:
        """Writes two columns, the first as wide as the terminal permits."""
        whole = [(term, _unbroken(text)) for term, text in rows]
        super().write_dl(whole, min(col_max, max(self.width - 40, 8)), col_spacing)

    def write_text(self, text: str) -> None:
        """Writes a paragraph."""
        super().write_text(_unbroken(text))

    def getvalue(self) -> str:
        """Returns what was written, with the usual hyphens."""
        return super().getvalue().replace(_UNBROKEN_HYPHEN, "-")


def _unbroken(text: str) -> str:
    return text.replace("-", _UNBROKEN_HYPHEN)


class Context(click.Context):
    """Context of a command. Each usage error raised in it names the command: click leaves the command out if an option
    lacks its value."""

    formatter_class = HelpFormatter

    @contextmanager
    def scope(self, cleanup: bool = True) -> Iterator[click.Context]:
        try:
            with super().scope(cleanup) as context:
                yield context
        except click.UsageError as error:
            error.ctx = error.ctx or self
            raise


class Command(click.Command):
    """A command with the shared options. Its callback gets `as_json`; the other shared options act by themselves.

    `examples` are command lines, one per line of text. `output`: the command prints a result, so it has `--output`.
    `inputs`: names of parameters that are files the command reads, which `--output` must not replace.
    `default_log_level`: what a server logs to standard error without log options. `ends_as_by_ctrl_c`: SIGTERM and
    SIGHUP interrupt the command as Ctrl-C does. `sections` groups options in the help: heading → names of parameters.
    """

    context_class = Context

    def __init__(
        self,
        *args: Any,
        examples: str,
        output: bool = True,
        inputs: Sequence[str] = (),
        default_log_level: str | None = None,
        ends_as_by_ctrl_c: bool = False,
        sections: Mapping[str, Sequence[str]] | None = None,
        **attributes: Any,
    ) -> None:
        super().__init__(*args, **attributes)
        self.examples = example_lines(examples)
        self._sections = sections or {}
        self._inputs = inputs
        self._default_log_level = default_log_level
        self._stops = stopped_as_by_ctrl_c if ends_as_by_ctrl_c else nullcontext
        self._shared = shared_options(output=output)
        self.params += self._shared

    def invoke(self, ctx: click.Context) -> Any:
        """Runs the command. Raises InputError if options contradict each other, or the file of `--config` is not a
        valid settings file. The file of `--output` keeps its content unless the exit status is 0 or 1, or the
        command calls `keep_output`."""
        _check_form(ctx)
        config, output_file = ctx.meta.get(_CONFIG), ctx.meta.get(_OUTPUT)
        if output_file is not None:
            _check_output(output_file, [config, *(ctx.params[name] for name in self._inputs)])
        if config is not None:
            from goodbot.cli.options import load_valid_settings  # noqa: PLC0415  (few commands have settings)

            load_valid_settings(config)
        settings = log_settings()
        start_logging(LogSettings(self._default_log_level) if settings == SILENT else settings)
        with self._stops(), output_to(output_file) as output:
            status = super().invoke(ctx)
            if status not in (None, 0, 1) and not output.is_answer:
                output.drop()
        return status

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        write_help_text(self.help or "", formatter)
        write_examples(self.examples, formatter)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        params = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        shared = [*self._shared, *(param for param in params if param is self.get_help_option(ctx))]
        headed = {
            heading: [param for name in names for param in params if param.name == name]
            for heading, names in self._sections.items()
        }
        placed = [*shared, *(param for some in headed.values() for param in some)]
        others = [param for param in params if param not in placed]
        for heading, some in {"Options": others, **headed, SHARED_HEADING: shared}.items():
            rows = [row for param in some if (row := param.get_help_record(ctx)) is not None]
            if rows:
                with formatter.section(heading):
                    formatter.write_dl(rows)


def write_help_text(text: str, formatter: click.HelpFormatter) -> None:
    r"""Writes the text of a `--help`. A paragraph that begins with `\b` is a table, and its rows are folded: a term,
    two spaces or more, a text; a line that is indented more continues the row."""
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        formatter.write_paragraph()
        with formatter.indentation():
            if paragraph.startswith("\b\n"):
                formatter.write_dl(_rows(paragraph.splitlines()[1:]))
            else:
                formatter.write_text(paragraph)


def _rows(lines: Sequence[str]) -> list[tuple[str, str]]:
    rows: list[tuple[str, str]] = []
    indent = len(lines[0]) - len(lines[0].lstrip())
    for line in lines:
        term, _, text = line.strip().partition("  ")
        if line[indent] == " ":
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}".strip())
        else:
            rows.append((term, text.strip()))
    return rows


def write_examples(examples: Sequence[str], formatter: click.HelpFormatter) -> None:
    """Writes the section Examples of a `--help`. A long command line is folded with `\\`, so that a shell takes it as
    it is; its comment is then put on the line before."""
    if not examples:
        return
    with formatter.section("Examples"):
        for example in examples:
            indent = " " * formatter.current_indent
            if len(indent + example) <= formatter.width:
                formatter.write(f"{indent}{example}\n")
                continue
            line, _, comment = (part.strip() for part in example.partition(" # "))
            if comment:
                formatter.write(click.wrap_text(comment, formatter.width, f"{indent}# ", f"{indent}# ") + "\n")
            folded = click.wrap_text(_unbroken(line), formatter.width - 2, indent, f"{indent}    ")
            formatter.write(folded.replace("\n", " \\\n") + "\n")


def example_lines(text: str) -> tuple[str, ...]:
    """The command lines of a text, without empty lines."""
    return tuple(line.strip() for line in text.splitlines() if line.strip())


# ---- the options that every command has -----------------------------------------------------------------------------


def shared_options(*, output: bool) -> list[click.Option]:
    """New options, which a command may own. `--json` is passed to the command; the others are kept in the context."""
    made = [
        click.Option(["--json", "as_json"], is_flag=True, help="Print JSON."),
        click.Option(
            ["--color"],
            type=click.Choice(["auto", "always", "never"]),
            expose_value=False,
            is_eager=True,
            callback=_choose_colour,
            metavar="WHEN",
            help="Print in colours: auto (the default: on a terminal, unless NO_COLOR is set), always or never.",
        ),
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_choose_quiet,
            help="Print no progress and no messages, only results and errors.",
        ),
        _kept(["--config"], _CONFIG, NamedPath(path_type=Path), "FILE", "Read settings from FILE, not goodbot.toml."),
        _kept(
            ["--log-level"],
            _LOG_LEVEL,
            click.Choice(LEVELS, case_sensitive=False),
            "LEVEL",
            f"Log to standard error: {', '.join(LEVELS)}. Without this option nothing is logged there, except by "
            "`goodbot serve`, `goodbot gate` and `goodbot mcp`, which log warnings and errors.",
        ),
        _kept(
            ["--log-json"],
            _LOG_JSON,
            NamedPath(path_type=Path, dir_okay=False),
            "FILE",
            "Append log messages to FILE as JSON lines (level info and above, unless --log-level is given).",
        ),
    ]
    if output:
        text = "Write the result to FILE instead of standard output. FILE is replaced as a whole, at the end."
        kind = NamedPath(path_type=Path, dir_okay=False)
        made.insert(1, _kept(["-o", "--output"], _OUTPUT, kind, "FILE", text))
    return made


def _kept(names: list[str], key: str, kind: click.ParamType[Any], metavar: str, help_: str) -> click.Option:
    def keep(ctx: click.Context, _: click.Parameter, value: Any) -> None:
        if value is not None and not (key == _OUTPUT and str(value) == "-"):  # -o -: standard output
            ctx.meta[key] = value

    return click.Option(names, type=kind, metavar=metavar, help=help_, expose_value=False, callback=keep)


def _choose_colour(ctx: click.Context, _: click.Parameter, value: str | None) -> None:
    if value is not None:
        ctx.color = {"always": True, "never": False}.get(value)


def _choose_quiet(ctx: click.Context, _: click.Parameter, value: bool) -> None:
    if value:
        be_quiet()


def _check_form(ctx: click.Context) -> None:
    """Raises InputError if `--json` and another `--format` are given. Where there is `jsonl`, that is what `--json`
    means."""
    form = ctx.params.get("form", "json")
    is_given = ctx.get_parameter_source("form") == click.core.ParameterSource.COMMANDLINE
    if ctx.params.get("as_json") and is_given and form not in _JSON_FORMS:
        option = next(param for param in ctx.command.params if param.name == "form")
        ours, name = next(name for name in _JSON_FORMS if name in _choices(option)), option.opts[0]
        raise InputError(f"--json means {name} {ours}: leave out --json or {name} {form}")


def _choices(param: click.Parameter) -> Iterable[str]:
    return param.type.choices if isinstance(param.type, click.Choice) else ()


def _check_output(file: Path, inputs: Iterable[Any]) -> None:
    """Raises InputError if the file of `--output` is one of `inputs`: names of files, lists of them, or None."""
    for value in inputs:
        for name in value if isinstance(value, tuple) else (value,):
            if name == "-" and is_standard_input(file):
                raise InputError(f"--output is the file that standard input reads: {file}")
            if name not in (None, "-") and is_same_file(Path(name), file):
                raise InputError(f"--output is one of the inputs: {file}")


def keep_from_output(inputs: Iterable[str]) -> None:
    """Raises InputError if `--output` would replace one of these files, which the command found by itself."""
    file = click.get_current_context().meta.get(_OUTPUT)
    if file is not None:
        _check_output(file, inputs)


def keep_folders_from_output(folders: Iterable[Path]) -> None:
    """Raises InputError if `--output` is a file in one of these folders, which only goodbot writes to."""
    file = click.get_current_context().meta.get(_OUTPUT)
    for folder in folders:
        if file is not None and file.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"--output would write into {folder}, whose files only goodbot may write: {file}")


def output_is_given() -> bool:
    """Whether `--output` names a file."""
    return _OUTPUT in click.get_current_context().meta


def output_file() -> Path | None:
    """The file that `--output` names, without symbolic links; None without this option, and if that is no regular
    file."""
    file: Path | None = click.get_current_context().meta.get(_OUTPUT)
    if file is None or (file.exists() and not file.is_file()):
        return None
    return file.resolve()


def config_file() -> Path | None:
    """The file named with `--config`."""
    file: Path | None = click.get_current_context().meta.get(_CONFIG)
    return file


def log_settings() -> LogSettings:
    """Returns the log settings of `--log-level` and `--log-json`, for other processes of the command too."""
    context = click.get_current_context(silent=True)
    if context is None:
        return LogSettings()
    return LogSettings(context.meta.get(_LOG_LEVEL), context.meta.get(_LOG_JSON))


def logs_to_terminal() -> bool:
    """Whether log messages go to standard error, where a display that rewrites its lines would be torn."""
    context = click.get_current_context(silent=True)
    return context is not None and _LOG_LEVEL in context.meta
