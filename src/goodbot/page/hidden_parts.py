"""Records which parts of a page `data-nosnippet` keeps out of what search shows. Pure."""

from collections.abc import Sequence


class HiddenParts:
    """The ranges of a page's text pieces that are hidden, in the order in which they end."""

    __slots__ = ("_open", "ranges")

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []
        self._open: list[int] = []

    def begin(self, at: int) -> None:
        """Begins a range, which may be inside another one."""
        self._open.append(at)

    def end(self, at: int) -> None:
        """Ends the range that began last."""
        self.ranges.append((self._open.pop(), at))

    def touch(self, start: int) -> bool:
        """Whether a piece from `start` on may be hidden."""
        return bool(self._open) or (bool(self.ranges) and self.ranges[-1][1] > start)

    def shown(self, parts: Sequence[str], start: int, end: int) -> list[str]:
        """Returns the pieces from `start` to `end`, with a space in place of each hidden one."""
        pieces = list(parts[start:end])
        if self._open:
            _hide(pieces, self._open[0] - start, len(pieces))
        for first, last in reversed(self.ranges):
            if last <= start:
                break
            _hide(pieces, first - start, last - start)
        return pieces


def _hide(pieces: list[str], first: int, last: int) -> None:
    first, last = max(first, 0), min(last, len(pieces))
    if first < last:
        pieces[first:last] = [" "] * (last - first)
