"""`goodbot config`: shows the settings in force and where each comes from."""

import os
from collections.abc import Collection, Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import click

from goodbot.cli.check_options import check_settings
from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import base_settings, settings_file
from goodbot.cli.printing import joined, say, styled, wrapped, write_json
from goodbot.cli.serve_options import settings_before_options
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.serve_settings import ServeSettings
from goodbot.settings_file import TABLES, load_table, load_toml, place_of, serve_variables, shown_value, variable_of

HIDDEN = "(hidden)"
"""Shown for a secret that is set."""


@dataclass(frozen=True, slots=True)
class SettingInForce:
    """A setting, and where its value comes from. `place`: file and line, or the environment variable."""

    name: str
    value: Any
    source: Literal["default", "file", "environment", "crawl"]
    place: str | None = None


@click.command(
    name="config",
    cls=Command,
    examples="""
    goodbot config
    goodbot config --in crawl --json
    """,
)
@click.option(
    "--in", "folder", metavar="DIR", type=NamedPath(path_type=Path), help="Also read the settings kept with a crawl."
)
def command(folder: Path | None, as_json: bool) -> None:
    """Show each setting in force, and where its value comes from.

    A value may come from, from weakest to strongest:

    \b
      default      built in
      file         goodbot.toml: the file named with --config, else the one in
                   the working folder, else the one in the user's configuration
                   folder
      environment  GOODBOT_SCOPE=prefix and the like
      crawl        DIR/goodbot.toml, with --in DIR

    Options of a command are stronger than all of them. docs/reference/settings.md explains the settings; names that
    begin with `check.` are settings of `goodbot check`, names that begin with `serve.` those of `goodbot serve`.

    Exit status: 0: done; 2: a value is invalid, a file cannot be read, or there is no crawl in DIR.
    """
    found = [*_crawl_settings(folder), *_check_settings(), *_serve_settings(folder)]
    if as_json:
        file = settings_file()
        settings = {each.name: {"value": each.value, "source": each.source, "place": each.place} for each in found}
        write_json({"file": None if file is None else str(file), "settings": settings})
        return
    margin = max(len(each.name) for each in found) + 2
    for each in found:
        origin = each.place or each.source
        text = f"{_text(each.value)}  ({origin})"
        style = {"dim": True} if each.source == "default" else {}
        for line in wrapped(
            text, joined(styled(each.name, bold=True), " " * (margin - len(each.name))), "    ", **style
        ):
            say(*line)


def _crawl_settings(folder: Path | None) -> Iterator[SettingInForce]:
    crawl = None if folder is None else CrawlFolder(folder)
    if crawl is not None:
        crawl.check()
    settings = base_settings() if crawl is None else crawl.settings(base_settings())
    sources = _Sources("", folder)
    for item in fields(Settings):
        value = getattr(settings, item.name)
        if item.metadata["secret"]:
            value = HIDDEN if value else None
        yield sources.of(item.name, shown_value(item.name, value), variable_of(item.name) in os.environ)


def _check_settings() -> Iterator[SettingInForce]:
    settings, sources = check_settings(), _Sources("check", None)
    for name, value in (("ignore", settings.ignore), ("fail_on", settings.fail_on)):
        yield sources.of(name, value, bool(os.environ.get(variable_of(name, "check"))))


def _serve_settings(folder: Path | None) -> Iterator[SettingInForce]:
    settings, sources = settings_before_options(folder), _Sources("serve", folder)
    variables = serve_variables(os.environ)
    for item in fields(ServeSettings):
        yield sources.of(item.name, getattr(settings, item.name), variable_of(item.name, "serve") in variables)


class _Sources:
    """Finds where settings come from: those of a crawl, or of a table of settings files. `folder`: the crawl whose
    goodbot.toml counts too."""

    def __init__(self, table: str, folder: Path | None) -> None:
        self._table = table
        own = CrawlFolder(folder).settings_file if folder is not None else None
        self._own = own if own is not None and own.is_file() else None
        self._file = settings_file()
        self._in_own, self._in_file = self._names(self._own), self._names(self._file)

    def _names(self, file: Path | None) -> Collection[str]:
        if file is None:
            return ()
        return load_table(file, self._table) if self._table else load_toml(file).keys() - TABLES.keys()

    def of(self, name: str, value: Any, in_environment: bool) -> SettingInForce:
        """Returns a setting with its source. `in_environment`: a variable sets it."""
        shown = f"{self._table}.{name}" if self._table else name
        if self._own is not None and name in self._in_own:
            return SettingInForce(shown, value, "crawl", place_of(self._own, name))
        if in_environment:
            return SettingInForce(shown, value, "environment", variable_of(name, self._table))
        if self._file is not None and name in self._in_file:
            return SettingInForce(shown, value, "file", place_of(self._file, name))
        return SettingInForce(shown, value, "default")


def _text(value: Any) -> str:
    if value is None or value == ():
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, tuple) else str(value)
