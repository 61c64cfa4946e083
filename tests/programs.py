"""The programs in the pages of the docs, and those that make or measure."""

import ast
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent


def load(path: str) -> ModuleType:
    """A program that is no part of the package (`docs/make_reference.py`), as a module; its path from the root."""
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


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
