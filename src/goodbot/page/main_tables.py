"""Prepares the tables of a page for Markdown: rows of equal length, with text in their cells.

Tables that arrange the parts of a page, as those of old pages do, become ordinary blocks.
"""

from dataclasses import dataclass, field
from typing import Final

import turbohtml

MAX_FILLED: Final = 20_000
"""A table whose rows differ in length gets empty cells if it then has at most this many cells. A larger one becomes
ordinary blocks."""

_MOST_SPANNED: Final = 1000
_BLOCKS: Final = frozenset({"blockquote", "dl", "h1", "h2", "h3", "h4", "h5", "h6", "ol", "pre", "table", "ul"})
_SECTIONS: Final = frozenset({"thead", "tbody", "tfoot"})
_CELLS: Final = frozenset({"td", "th"})


@dataclass(slots=True)
class _Table:
    """A table with its own parts, not those of tables inside it. `keeps_inner`: whether tables inside this one may
    stay tables; if not, they become text of their cells."""

    element: turbohtml.Element
    holder: "_Table | None"
    parts: list[turbohtml.Element] = field(default_factory=list)
    rows: list[turbohtml.Element] = field(default_factory=list)
    cells: list[list[turbohtml.Element]] = field(default_factory=list)
    lengths: list[int] = field(default_factory=list)
    has_heading: bool = False
    has_block: bool = False
    tables: int = 0
    keeps_inner: bool = True

    def add(self, element: turbohtml.Element) -> None:
        """Adds an element inside the table."""
        tag = element.tag
        self.has_block |= tag in _BLOCKS
        self.tables += tag == "table"
        if tag in _SECTIONS:
            self.parts.append(element)
        elif tag == "tr":
            self.parts.append(element)
            self.rows.append(element)
            self.cells.append([])
            self.lengths.append(0)
        elif tag in _CELLS and self.rows:
            self.parts.append(element)
            self.cells[-1].append(element)
            self.lengths[-1] += 1
            self.has_heading |= tag == "th"

    def spread(self) -> None:
        """Adds an empty cell for each one that `colspan` and `rowspan` join to another, so that the cells after it keep
        their column. Adds at most `MAX_FILLED`."""
        width, room = max(self.lengths, default=0), MAX_FILLED
        covered: dict[int, int] = {}  # column → the number of rows below that a cell reaches into
        for number, cells in enumerate(self.cells):
            column = 0
            for cell in cells:
                while covered.get(column) and room:
                    cell.insert_before(turbohtml.Element("td"))
                    covered[column] -= 1
                    column, room = column + 1, room - 1
                columns, rows = min(_span(cell, "colspan"), width, 1 + room), _span(cell, "rowspan")
                added = columns - 1
                for _ in range(added):
                    cell.insert_after(turbohtml.Element("td"))
                if rows > 1:
                    covered |= dict.fromkeys(range(column, column + columns), rows - 1)
                column, room = column + columns, room - added
            while covered.get(column) and room:
                self.rows[number].append(turbohtml.Element("td"))
                covered[column] -= 1
                column, room = column + 1, room - 1
            self.lengths[number] = max(self.lengths[number], column)

    @property
    def is_layout(self) -> bool:
        """Whether the table only arranges parts of a page: it has `role=presentation`, or contains several tables, or
        has no heading cell and contains a block such as a list, a heading or a table."""
        is_marked = self.element.attrs.get("role") == "presentation"
        return is_marked or self.tables > 1 or (self.has_block and not self.has_heading)


def prepare_tables(root: turbohtml.Element) -> None:
    """Prepares all tables below `root`. Linear."""
    for table in _tables(root):
        if any("colspan" in cell.attrs or "rowspan" in cell.attrs for cells in table.cells for cell in cells):
            table.spread()
        width = max(table.lengths, default=0)
        missing = width * len(table.rows) - sum(table.lengths)
        table.keeps_inner = is_kept = table.holder is None or table.holder.keeps_inner
        if not is_kept or table.is_layout or (missing and width * len(table.rows) > MAX_FILLED):
            for part in (table.element, *table.parts):
                part.tag = "div"
            continue
        table.keeps_inner = False
        for row, length in zip(table.rows, table.lengths, strict=True):
            for _ in range(width - length):
                row.append(turbohtml.Element("td"))
        for cell in table.parts:
            for name in ("colspan", "rowspan"):
                cell.attrs.pop(name, None)


def _span(cell: turbohtml.Element, name: str) -> int:
    """Returns how many columns or rows a cell takes; at most 1000, as in browsers."""
    value = str(cell.attrs.get(name) or "").strip()
    return max(1, min(int(value), _MOST_SPANNED)) if value.isascii() and value.isdigit() and len(value) < 6 else 1


def _tables(root: turbohtml.Element) -> list[_Table]:
    """Finds all tables, without recursion: untrusted pages nest deeply."""
    found: list[_Table] = []
    todo: list[tuple[turbohtml.Element, _Table | None]] = [(root, None)]
    while todo:
        element, holder = todo.pop()
        if holder is not None:
            holder.add(element)
        if element.tag == "table":
            holder = _Table(element, holder)
            found.append(holder)
        inner = [(child, holder) for child in element.children if isinstance(child, turbohtml.Element)]
        todo += reversed(inner)
    return found
