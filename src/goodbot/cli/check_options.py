"""Settings of `goodbot check` from goodbot.toml, the environment and options."""

import os
from collections.abc import Collection

from goodbot.check import Severity
from goodbot.check.settings import CheckSettings, known_codes, severity
from goodbot.cli.options import settings_file
from goodbot.settings_file import load_table


def check_settings(ignore: Collection[str] = (), fail_on: Severity | None = None) -> CheckSettings:
    """Returns the defaults, overridden by goodbot.toml, the environment and the options; ignored codes add up."""
    file = settings_file()
    base = CheckSettings.of(load_table(file, "check"), str(file)) if file else CheckSettings()
    codes = known_codes(os.environ.get("GOODBOT_CHECK_IGNORE", "").split(), "GOODBOT_CHECK_IGNORE")
    level = os.environ.get("GOODBOT_CHECK_FAIL_ON") or base.fail_on
    return CheckSettings(
        (*base.ignore, *codes, *known_codes(ignore, "--ignore")),
        fail_on or severity(level, "GOODBOT_CHECK_FAIL_ON"),
    )
