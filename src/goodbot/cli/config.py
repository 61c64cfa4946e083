"""`goodbot config`: shows the settings in force and where each comes from."""

import os
from collections.abc import Iterator
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal

import click

from goodbot.cli.check_options import check_settings
from goodbot.cli.command_class import Command
from goodbot.cli.file_types import NamedPath
from goodbot.cli.options import base_settings, settings_file
from goodbot.cli.printing import joined, say, styled, wrapped, write_json
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.settings_file import TABLES, load_table, load_toml, place_of

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
    begin with `check.` are settings of `goodbot check`.

    Exit status: 0: done; 2: a value is invalid, a file cannot be read, or there is no crawl in DIR.
    """
    found = [*_crawl_settings(folder), *_check_settings()]
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
    file = settings_file()
    in_file = load_toml(file).keys() - TABLES.keys() if file is not None else set[str]()
    has_kept = crawl is not None and crawl.settings_file.is_file()
    kept = load_toml(crawl.settings_file).keys() - TABLES.keys() if crawl is not None and has_kept else set[str]()
    for item in fields(Settings):
        value = getattr(settings, item.name)
        if item.metadata["secret"]:
            value = HIDDEN if value else None
        variable = f"GOODBOT_{item.name.upper()}"
        if crawl is not None and item.name in kept:
            yield SettingInForce(item.name, value, "crawl", place_of(crawl.settings_file, item.name))
        elif variable in os.environ:
            yield SettingInForce(item.name, value, "environment", variable)
        elif file is not None and item.name in in_file:
            yield SettingInForce(item.name, value, "file", place_of(file, item.name))
        else:
            yield SettingInForce(item.name, value, "default")


def _check_settings() -> Iterator[SettingInForce]:
    settings, file = check_settings(), settings_file()
    table = load_table(file, "check") if file is not None else {}
    for name, value in (("ignore", settings.ignore), ("fail_on", settings.fail_on)):
        variable = f"GOODBOT_CHECK_{name.upper()}"
        if os.environ.get(variable):
            yield SettingInForce(f"check.{name}", value, "environment", variable)
        elif file is not None and name in table:
            yield SettingInForce(f"check.{name}", value, "file", place_of(file, name))
        else:
            yield SettingInForce(f"check.{name}", value, "default")


def _text(value: Any) -> str:
    if value is None or value == ():
        return "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    return " ".join(value) if isinstance(value, tuple) else str(value)
