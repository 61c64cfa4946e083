"""The group of commands, and the one place where errors become an exit status."""

import os
import re
import shutil
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from importlib import import_module

import click

from goodbot.cli.command_class import shared_options
from goodbot.cli.command_groups import CommandGroup, did_you_mean
from goodbot.cli.printing import MAX_WIDTH, MIN_WIDTH, complain, drop, escape_what_cannot_be_encoded, flush, say
from goodbot.errors import GoodbotError
from goodbot.interrupts import INTERRUPTED, STATUS, raise_again

SECTIONS = {
    "robots.txt and pages": {
        "allowed": "Say whether a robot may fetch URLs",
        "check": "Report problems of a robots.txt or a page, and how to fix them",
        "explain": "Explain a code that check or audit reports",
        "format": "Rewrite a robots.txt without changing verdicts",
        "write": "Generate a robots.txt",
        "directives": "Show what a robot may do with a page",
        "vectors": "Write test cases for parsers of robots.txt",
    },
    "Crawl": {
        "demo": "Crawl three sample sites and serve a search page",
        "fetch": "Read the main content of pages as Markdown, text or JSON",
        "crawl": "Crawl politely from seed URLs, and keep the pages",
        "status": "Show the progress of a crawl",
        "pause": "Pause a running crawl",
        "resume": "Resume a paused crawl",
        "stop": "Stop a running crawl",
        "submit": "Add URLs to a crawl",
        "why": "Show everything decided about one URL",
        "export": "Print the URLs, pages, links or records of a crawl",
        "audit": "Report broken links and other problems of your site, from a crawl",
        "sitemap": "Write sitemaps of what a crawl saw",
        "courtesy": "Report what each host asked of the robot, and what the robot did",
        "lessons": "List or drop what a crawl has learned about hosts",
        "forget": "Stop requesting pages from a host, and remove what is kept of it",
        "archive": "Check, repair, import or export an archive",
        "cluster": "Show a crawl that several machines share; crawl and count logs on Spark",
        "config": "Show the settings in force and where each comes from",
    },
    "Search": {
        "search": "Search crawled pages or imported documents",
        "serve": "Serve the search of a crawl, and pages about it, to browsers and programs",
        "mcp": "Give AI agents tools to fetch, check and search pages (MCP server)",
        "index": "Fill, rebuild, measure or copy a search index",
        "announce": "Report changed pages of your site to search services",
    },
    "Robots": {
        "watch": "Show which robots came to a server, whose they are, and how fast",
        "impact": "Show which requests and pages another robots.txt would close or open",
        "study": "Change robots.txt by a plan, and measure which robots obey it",
        "gate": "Enforce robots.txt at a Web server",
        "remedy": "Write what stops or slows robots: configuration, or a letter",
        "incidents": "Note what a robot did, and what you did about it",
        "remember": "Keep dated copies of robots.txt, and report which verdicts changed",
        "who": "Identify the robot behind a User-Agent, and verify it",
        "key": "Make or show keys: to sign requests, to announce pages",
        "exam": "Give any crawler a driving test",
    },
    "goodbot itself": {
        "completion": "Print the script by which a shell completes commands",
    },
}
COMMANDS = {name: summary for section in SECTIONS.values() for name, summary in section.items()}

_NUMBER = re.compile(r"is not a valid (?:(integer)|float)(?: range)?")

EPILOG = (
    "Exit status: 0: done, or yes; 1: no (disallowed, problems found, a file would change); 2: bad input; 3: failed "
    "while running; 130: interrupted. "
    "JSON goes to standard output, messages and progress to standard error."
)


class _Commands(CommandGroup):
    """Imports a command's module only when it is called: `goodbot allowed` needs no index."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        command = import_module(f"goodbot.cli.{cmd_name}").command
        assert isinstance(command, click.Command)  # noqa: S101  (each module of a command names it so)
        raise_again()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        for heading, commands in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl(list(commands.items()))


@click.group(
    cls=_Commands,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(package_name="goodbot", prog_name="goodbot")
def group() -> None:
    """The Web robot that both sides can trust: crawl politely, lose nothing, find it again."""


def main(arguments: list[str] | None = None) -> int:
    """Runs one command and returns its exit status."""
    escape_what_cannot_be_encoded()
    if sys.stdout is not None:
        return _run(arguments)
    with open(os.devnull, "w") as sink, redirect_stdout(sink):  # closed: the caller wants the exit status only
        return _run(arguments)


def _run(arguments: list[str] | None) -> int:
    given, columns = sys.argv[1:] if arguments is None else arguments, shutil.get_terminal_size().columns
    try:
        # Not `group.main`: it takes a broken pipe for a failure (exit 1, which means "no" here).
        with group.make_context("goodbot", given, terminal_width=help_width(columns)) as context:
            result = group.invoke(context)
            flush()
    except click.exceptions.Exit as end:
        return end.exit_code
    except GoodbotError as error:
        return _complain(str(error), error.exit_status)
    except (click.exceptions.Abort, KeyboardInterrupt):
        say(INTERRUPTED, err=True)
        return STATUS
    except click.exceptions.NoArgsIsHelpError as error:
        for line in error.format_message().splitlines():
            say(line, err=True)
        return 2
    except click.ClickException as error:
        hint = f" (see goodbot {_command(error)}--help)"
        return _complain(_misplaced(error, given) or _message(error) + hint, 2)
    except BrokenPipeError:
        drop(sys.stdout)  # its reader has gone (`| head`): nothing to say, and nothing more to flush at exit
        return 0
    except OSError as error:
        drop(sys.stdout)  # what it has not taken is not tried again at exit
        what = "cannot write the output" if error.filename is None else f"cannot use {error.filename}"
        return _complain(f"{what}: {error.strerror or error}", 3)
    return result if isinstance(result, int) else 0


def help_width(columns: int) -> int:
    """Columns of `--help` in a terminal with so many."""
    return min(max(columns, MIN_WIDTH), MAX_WIDTH) - 2


def _complain(text: str, status: int) -> int:
    complain(text)
    return status


def _message(error: click.ClickException) -> str:
    """Click's message on one line, with at most one suggestion, and with numbers called numbers."""
    if isinstance(error, click.NoSuchOption):
        return error.message.rstrip(".") + did_you_mean(error.option_name, _options(error.ctx))
    said = " ".join(error.format_message().split()).rstrip(".")
    return _NUMBER.sub(lambda match: f"is not a {'whole ' if match[1] else ''}number", said)


def _misplaced(error: click.ClickException, given: Sequence[str]) -> str:
    """The message for a shared option in front of the command; empty for any other error."""
    if not isinstance(error, click.NoSuchOption) or error.ctx is None or not isinstance(error.ctx.command, click.Group):
        return ""
    if error.option_name not in {name for option in shared_options(output=True) for name in option.opts}:
        return ""
    words = ["goodbot"]
    command: click.Command = group
    for word in given:
        child = command.get_command(error.ctx, word) if isinstance(command, click.Group) else None
        if child is not None:
            words, command = [*words, word], child
    typed = " ".join(words if len(words) > 1 else [*words, "COMMAND"])
    return f"put {error.option_name} after the command: {typed} {error.option_name}"


def _options(context: click.Context | None) -> list[str]:
    params = context.command.get_params(context) if context is not None else []
    return [
        name for param in params if isinstance(param, click.Option) for name in (*param.opts, *param.secondary_opts)
    ]


def _command(error: click.ClickException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path.partition(' ')[2]} " if context is not None and context.parent is not None else ""
