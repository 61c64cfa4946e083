"""Runs the Python blocks of the documents, and loads programs outside the package."""

import ast
import re
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parent.parent


def load(path: str) -> ModuleType:
    """Loads a program outside the package as a module; `path` is relative to the root (`docs/make_reference.py`)."""
    spec = spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def blocks_of(page: str, language: str = "python") -> list[str]:
    """Returns the fenced code blocks of a language, in order."""
    return re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)


def run_program(page: str) -> None:
    """Runs all blocks of a page as one program. The value of an expression must equal the comment after it."""
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
