"""A range of numbers as the type of an option."""

from math import isnan
from typing import Any

import click


class NumberRange(click.FloatRange):
    """A number of a range. `click.FloatRange` takes nan for one of every range."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Returns the number. Fails with one line for other texts."""
        number: float = super().convert(value, param, ctx)
        if isnan(number):
            self.fail(f"{value!r} is not a number", param, ctx)
        return number
