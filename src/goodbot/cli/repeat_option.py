"""The option `--every TIME`, with which a command goes on until it is ended."""

from typing import Final

from goodbot.cli.command_class import output_is_given
from goodbot.cli.time_option import is_relative, parse_time
from goodbot.errors import InputError

MOST_EVERY_S: Final = 365 * 86_400


def parse_every(text: str, least_s: int) -> int:
    """Returns the seconds of `--every`. Raises InputError unless they are from `least_s` to a year, or if `--output` is
    given, which is written at the end of a command."""
    if output_is_given():
        raise InputError("--every runs until Ctrl-C, so it cannot be used with --output; redirect the output instead")
    return parse_interval("--every", text, least_s)


def parse_interval(option: str, text: str, least_s: int) -> int:
    """Returns the seconds of an option such as `30min`. Raises InputError unless they are from `least_s` to a year."""
    seconds = -parse_time(option, text, 0) if is_relative(text) else 0
    if not least_s <= seconds <= MOST_EVERY_S:
        raise InputError(f"{option} must be a time from {least_s}s to 365d, such as 30min, 6h or 1d, not {text!r}")
    return seconds
