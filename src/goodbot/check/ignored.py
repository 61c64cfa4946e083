"""Suppresses findings by their codes, or by comments in the file.

The comment `# goodbot: ignore R208` after a record applies to that line; alone on a line, it applies to the next line
that is not such a comment. `# goodbot: ignore-file R208` applies to the whole file.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass

from goodbot.check.findings import Finding
from goodbot.check.source_lines import SourceLine

_COMMENT = re.compile(r"#\s*goodbot:\s*(ignore|ignore-file)((?:[\s,]+R\d{1,3})+)", re.IGNORECASE)
_CODE = re.compile(r"R\d{1,3}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class IgnoredFindings:
    """The codes that are not reported in the whole file (`everywhere`) and on single lines (`of_line`)."""

    everywhere: tuple[str, ...]
    of_line: dict[int, tuple[str, ...]]

    @classmethod
    def of(cls, lines: Iterable[SourceLine], ignore: Collection[str]) -> "IgnoredFindings":
        """Reads the comments in `lines`, and adds `ignore`: codes or beginnings of codes."""
        everywhere = [code.upper() for code in ignore]
        of_line: dict[int, tuple[str, ...]] = {}
        for_next: tuple[str, ...] = ()
        for line in lines:
            command, codes = _command(line)
            if command == "ignore-file":
                everywhere += codes
            elif command and not line.text[: line.comment_at].strip():
                for_next += codes
                continue
            if for_next or command == "ignore":
                of_line[line.number] = (*for_next, *(codes if command == "ignore" else ()))
                for_next = ()
        return cls(tuple(everywhere), of_line)

    def not_ignored(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """Returns the findings that are still reported."""
        for finding in findings:
            if not finding.code.startswith((*self.everywhere, *self.of_line.get(finding.line, ()))):
                yield finding


def _command(line: SourceLine) -> tuple[str, tuple[str, ...]]:
    if line.comment_at < 0 or (found := _COMMENT.match(line.text, line.comment_at)) is None:
        return "", ()
    return found[1].lower(), tuple(code.upper() for code in _CODE.findall(found[2]))
