"""Tables and displays on a terminal, by rich."""

from rich.console import Console as Console
from rich.text import Text

from goodbot.cli.printing import in_colour, stream_of
from goodbot.exclusion.text.shown_text import visible


def console(*, err: bool = False, columns: int | None = None) -> Console:
    """A rich console for tables and displays, with colours by the same rules as `say`. Text from outside must
    be wrapped in `cell`. `columns`: its width if it is not a terminal."""
    stream = stream_of(err=err)
    on_terminal = stream is not None and stream.isatty()
    coloured = in_colour(err=err)
    return _Console(
        file=stream,
        color_system=("auto" if on_terminal else "standard") if coloured else None,
        force_terminal=coloured or None,
        width=None if on_terminal else columns,
    )


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Handles a closed pipe as all commands do; rich alone would exit with status 1."""
        raise BrokenPipeError


def cell(text: str, style: str = "", *, cut: bool = False) -> Text:
    """Returns visible text for a console. Text too long for its column is cut with `…`, or folded."""
    return Text(visible(text), style=style, overflow="ellipsis" if cut else "fold", no_wrap=cut)
