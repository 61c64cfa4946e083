"""Settings of `goodbot check` from goodbot.toml, the environment and options."""

import os
from collections.abc import Collection
from pathlib import Path

from goodbot.check import Severity
from goodbot.check.settings import CheckSettings, known_codes, severity
from goodbot.cli.options import base_settings, settings_file
from goodbot.settings_file import items_of, load_table

_IGNORE = "GOODBOT_CHECK_IGNORE"
_FAIL_ON = "GOODBOT_CHECK_FAIL_ON"


def check_settings(ignore: Collection[str] = (), fail_on: Severity | None = None) -> CheckSettings:
    """Returns the defaults, overridden by goodbot.toml, the environment and the options; ignored codes add up. Raises
    InputError, also for invalid settings of other commands."""
    base_settings()
    file = settings_file()
    base = table_settings(file) if file else CheckSettings()
    codes, level = variables()
    return CheckSettings(
        (*base.ignore, *codes, *known_codes(ignore, "--ignore")),
        fail_on or level or base.fail_on,
    )


def table_settings(file: Path) -> CheckSettings:
    """Reads the table [check] of a settings file. Raises InputError."""
    return CheckSettings.of(load_table(file, "check"), str(file))


def variables() -> tuple[tuple[str, ...], Severity | None]:
    """Returns the codes to ignore and the severity that the environment gives. Raises InputError."""
    level = os.environ.get(_FAIL_ON)
    codes = known_codes(items_of(os.environ.get(_IGNORE, "")), _IGNORE)
    return codes, severity(level, _FAIL_ON) if level else None
