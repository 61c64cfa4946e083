"""Serves the files of the pages. The URLs that pages use contain a hash of the file, so browsers keep it for a year and
still notice a new version."""

import hashlib
import os
from functools import cache
from pathlib import Path
from typing import Final

from starlette.responses import Response
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

FOLDER: Final = Path(__file__).parents[1] / "static"
VERSION: Final = "v"
"""The parameter of a URL that has the hash."""
KEPT: Final = "public, max-age=31536000, immutable"


def static_path(file: str) -> str:
    """Returns the path of a file of `FOLDER`, with its hash: `/static/style.css?v=…`."""
    return f"/static/{file}?{VERSION}={_hash_of(file)}"


@cache
def _hash_of(file: str) -> str:
    return hashlib.sha256((FOLDER / file).read_bytes()).hexdigest()[:16]


class HashedFiles(StaticFiles):
    """Serves `FOLDER`. A request that names the right hash may be cached for a year; others are revalidated by their
    ETag."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER)

    def file_response(
        self, full_path: str | os.PathLike[str], stat_result: os.stat_result, scope: Scope, status_code: int = 200
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        version = scope["query_string"].decode("latin-1").removeprefix(f"{VERSION}=")
        if version == _hash_of(os.path.relpath(full_path, FOLDER.resolve())):
            response.headers["Cache-Control"] = KEPT
        return response
