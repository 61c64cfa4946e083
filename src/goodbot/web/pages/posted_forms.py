"""Reads forms and JSON that visitors send, up to a size limit."""

import json
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

CLOSING: Final = {"Connection": "close"}
"""The header of an answer to a request whose body is not read."""


async def read_body(request: Request, most_bytes: int, too_long: str | None = None) -> bytes:
    """Reads the whole body. Raises HTTPException 413, with the detail `too_long`, as soon as it is known that it
    exceeds `most_bytes`."""
    _check_length(request, most_bytes, too_long)
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > most_bytes:
            raise HTTPException(413, too_long, CLOSING)
    return bytes(body)


def _check_length(request: Request, most_bytes: int, too_long: str | None) -> None:
    stated = request.headers.get("content-length", "")
    if stated.isdecimal() and int(stated) > most_bytes:
        raise HTTPException(413, too_long, CLOSING)


async def read_form(request: Request, most_bytes: int, too_long: str | None = None) -> dict[str, str]:
    """Reads a form: the last value of each field, with line ends as `\\n`. Raises HTTPException 413 if it is too long,
    400 if it is not a form."""
    body = await read_body(request, most_bytes, too_long)
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=10)
    except ValueError as error:
        raise HTTPException(400) from error
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}


async def read_json(request: Request, most_bytes: int, too_long: str | None = None) -> dict[str, Any]:
    """Reads a JSON object. Raises HTTPException 413 if it is too long, 415 if the type is not JSON (a form of another
    site cannot send that type), 400 if it is not a JSON object."""
    _check_length(request, most_bytes, too_long)
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send the data as application/json")
    body = await read_body(request, most_bytes, too_long)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "the data sent is not valid JSON") from error
    if not isinstance(value, dict):
        raise HTTPException(400, "send a JSON object")
    return value


def check_same_origin(request: Request) -> None:
    """Raises HTTPException 403 if a page of another site made the browser send this request."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        is_same = site in ("same-origin", "none")
    else:  # browsers send Sec-Fetch-Site only to servers with TLS and on loopback
        is_same = origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    if not is_same:
        raise HTTPException(403, "a page of another site sent this request")
