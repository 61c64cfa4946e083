"""Options of `goodbot serve`, and its settings from goodbot.toml, the environment and options."""

import os
from collections.abc import Callable, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import Any, Final, get_origin

import click

from goodbot.cli.options import settings_file
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError, SettingError
from goodbot.serve_settings import ServeSettings
from goodbot.settings_file import (
    invalid_setting,
    invalid_variable,
    load_serve_settings,
    load_table,
    serve_from_environment,
    serve_variables,
    variable_of,
)

_OPTIONS: Final = {"trusted_proxies": "trusted-proxy", "search_services": "with"}
"""Settings whose option has another name. `--proxy` is that of `goodbot crawl`, through which it fetches; `--with` is
that of `goodbot search`."""
_METAVARS: Final = {
    "name": "NAME",
    "listen": "ADDRESS",
    "port": "N",
    "public_url": "URL",
    "trusted_proxies": "ADDRESS",
    "search_services": "URL",
}


def serve_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds one option for each setting that is not internal, with its help and reason from the setting's own record."""
    for item in reversed([item for item in fields(ServeSettings) if not item.metadata["internal"]]):
        option, reason = f"--{_option_of(item.name)}", item.metadata["reason"]
        text = item.metadata["help"] + (f" ({reason})" if reason else "") + "."
        if isinstance(item.default, bool):
            shown, negative = "on" if item.default else "off", f"--no-{option.removeprefix('--')}"
            command = click.option(f"{option}/{negative}", default=None, help=f"{text} [default: {shown}]")(command)
        elif get_origin(item.type) is tuple:
            metavar, text = _METAVARS[item.name], f"{text} Repeatable."
            command = click.option(option, item.name, multiple=True, metavar=metavar, help=text)(command)
        else:
            shown = "" if item.default is None else f" [default: {item.default}]"
            kind = click.INT if item.type is int else click.STRING
            metavar = _METAVARS[item.name]
            command = click.option(option, type=kind, metavar=metavar, help=text + shown)(command)
    return command


def watch_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Adds the options about access logs, which are no settings: they name files of this machine."""
    command = click.option(
        "--watch-robots",
        metavar="FILE|FOLDER",
        help="With --watch: judge requests by a robots.txt, or by the dated copies in a folder of goodbot remember.",
    )(command)
    return click.option(
        "--watch",
        "watched",
        multiple=True,
        metavar="LOG",
        help="Access log, or a folder of them: a page for the operator shows which robots came, as goodbot watch does. "
        "Repeatable.",
    )(command)


def _option_of(name: str) -> str:
    return _OPTIONS.get(name, name.replace("_", "-"))


def serve_settings(folder: Path | None, options: Mapping[str, Any]) -> ServeSettings:
    """Returns the defaults, overridden by goodbot.toml, by the environment, by goodbot.toml in `folder`, and by those
    of `options` that are given. Raises InputError."""
    given = {name: value for name, value in options.items() if value not in (None, ())}
    settings = settings_before_options(folder)
    try:
        return replace(settings, **given)
    except SettingError as error:
        raise InputError(error.naming(f"--{_option_of(error.name)}")) from error


def invalid_serve_setting(error: SettingError, folder: Path | None, options: Mapping[str, Any]) -> InputError:
    """Returns an error that names where a setting has its value, as the errors of `serve_settings` do, for a value that
    turns out to be invalid later. Takes what `serve_settings` takes."""
    if options.get(error.name) not in (None, ()):
        return InputError(error.naming(f"--{_option_of(error.name)}"))
    own, file = _own_file(folder), settings_file()
    if own is not None and error.name in load_table(own, "serve"):
        return invalid_setting(own, error)
    if variable_of(error.name, "serve") in serve_variables(os.environ):
        return invalid_variable(error, "serve")
    return invalid_setting(file, error) if file is not None else InputError(str(error))


def settings_before_options(folder: Path | None) -> ServeSettings:
    """Returns the settings of `goodbot serve` without options. Raises InputError."""
    file = settings_file()
    base = load_serve_settings(file, ServeSettings()) if file else ServeSettings()
    settings = serve_from_environment(base, os.environ)
    own = _own_file(folder)
    return load_serve_settings(own, settings) if own is not None else settings


def _own_file(folder: Path | None) -> Path | None:
    """Returns the settings file in the folder that is served; None if there is none."""
    own = CrawlFolder(folder).settings_file if folder is not None else None
    return own if own is not None and own.is_file() else None
