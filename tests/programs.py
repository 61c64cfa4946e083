"""The programs in the pages of the docs."""

import ast
import re


def blocks_of(page: str, language: str = "python") -> list[str]:
    """What stands between the fences, in order."""
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def run_program(page: str) -> None:
    """The blocks of a page are one program; a line that is an expression gives what its comment says."""
    text = "".join(blocks_of(page))
    assert text
    names: dict[str, object] = {}
    for statement in ast.parse(text).body:
        code = ast.get_source_segment(text, statement)
        assert code is not None
        end = text.splitlines()[statement.end_lineno - 1]  # type: ignore[operator]
        _, comment, expected = end.partition("  # ")
        if comment and isinstance(statement, ast.Expr):
            assert repr(eval(code, names)) == expected.strip(), code
        else:
            exec(code, names)
