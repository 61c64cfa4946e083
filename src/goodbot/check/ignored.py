"""Suppresses findings: by code or its beginning, or by a comment in the file.

After a record, `# goodbot: ignore R208` applies to that line; alone on a line, to the next line that is not such a
comment. `# goodbot: ignore-file R208` applies to the whole file.
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
    """The codes that are not reported: everywhere, and line by line."""

    everywhere: tuple[str, ...]
    of_line: dict[int, tuple[str, ...]]

    @classmethod
    def of(cls, lines: Iterable[SourceLine], ignore: Collection[str]) -> "IgnoredFindings":
        """`ignore`: codes or beginnings of codes."""
        everywhere = [code.upper() for code in ignore]
        of_line: dict[int, tuple[str, ...]] = {}
        waiting: tuple[str, ...] = ()
        for line in lines:
            word, codes = _said(line)
            if word == "ignore-file":
                everywhere += codes
            elif word and not line.text[: line.comment_at].strip():
                waiting += codes
                continue
            if waiting or word == "ignore":
                of_line[line.number] = (*waiting, *(codes if word == "ignore" else ()))
                waiting = ()
        return cls(tuple(everywhere), of_line)

    def heard(self, findings: Iterable[Finding]) -> Iterator[Finding]:
        """The findings that are still reported."""
        for finding in findings:
            if not finding.code.startswith((*self.everywhere, *self.of_line.get(finding.line, ()))):
                yield finding


def _said(line: SourceLine) -> tuple[str, tuple[str, ...]]:
    if line.comment_at < 0 or (found := _COMMENT.match(line.text, line.comment_at)) is None:
        return "", ()
    return found[1].lower(), tuple(code.upper() for code in _CODE.findall(found[2]))
