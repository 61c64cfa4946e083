"""Types of options that name a file or a folder."""

import os
from typing import Any

import click


class NamedPath(click.Path):
    """A path, but not an empty one: `--into "$DIR"` with DIR unset would otherwise mean the working folder."""

    def convert(self, value: str | os.PathLike[str], param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """See `click.Path.convert`."""
        if not os.fspath(value):
            self.fail("the name is empty", param, ctx)
        return super().convert(value, param, ctx)
