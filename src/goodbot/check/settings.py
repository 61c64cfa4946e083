"""Reads the user's settings for every check: the table `[check]` of goodbot.toml."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from goodbot.check.checker import KINDS
from goodbot.check.findings import SEVERITIES, Severity
from goodbot.errors import InputError


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """Settings of checks. `ignore` lists codes, or beginnings of codes, that are not reported; `fail_on` is the lowest
    severity that leads to exit status 1."""

    ignore: tuple[str, ...] = ()
    fail_on: Severity = "error"

    @classmethod
    def of(cls, values: Mapping[str, object], origin: str) -> "CheckSettings":
        """Reads the table. Raises InputError, naming `origin`, for a wrong value. Other keys are not read."""
        codes = values.get("ignore", [])
        if not isinstance(codes, list) or not all(isinstance(code, str) for code in codes):
            raise InputError(f"{origin}: [check] ignore must be a list of codes")
        return cls(known_codes(codes, origin), severity(values.get("fail_on", "error"), f"{origin}: [check] fail_on"))


def known_codes(codes: Iterable[str], origin: str) -> tuple[str, ...]:
    """Returns the codes in capitals. Raises InputError if no kind of finding has a code that begins so."""
    given = tuple(code.strip().upper() for code in codes)
    for code in given:
        if not code or not any(known.startswith(code) for known in KINDS):
            raise InputError(f"{origin}: there is no code {code or repr(code)}; goodbot explain --list lists all codes")
    return given


def severity(value: object, origin: str) -> Severity:
    """Returns the value as a severity. Raises InputError for any other value."""
    for known in SEVERITIES:
        if value == known:
            return known
    raise InputError(f"{origin} must be one of {', '.join(SEVERITIES)}: {value!r}")
