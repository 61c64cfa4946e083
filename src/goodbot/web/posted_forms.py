"""What visitors send: forms and JSON, read up to a bound."""

import json
from typing import Any, Final
from urllib.parse import parse_qs, urlsplit

from starlette.exceptions import HTTPException
from starlette.requests import Request

_HEARD_BYTES: Final = 16 * 1024 * 1024
"""Of a body that is too long so much is read and thrown away: who still sends does not hear the answer."""


async def read_body(request: Request, most_bytes: int, too_long: str | None = None) -> bytes:
    """The whole of it. HTTPException 413, which says `too_long`, if it is longer."""
    body, size = bytearray(), 0
    async for part in request.stream():
        size += len(part)
        if size <= most_bytes:
            body += part
        elif size > _HEARD_BYTES:
            break
    if size > most_bytes:
        raise HTTPException(413, too_long)
    return bytes(body)


async def read_form(request: Request, most_bytes: int, too_long: str | None = None) -> dict[str, str]:
    """The last value of each field, ends of lines as `\\n`. HTTPException 413 if it is too long, 400 for no form."""
    body = await read_body(request, most_bytes, too_long)
    try:
        fields = parse_qs(body.decode("ascii"), keep_blank_values=True, max_num_fields=10)
    except ValueError as error:
        raise HTTPException(400) from error
    return {name: values[-1].replace("\r\n", "\n") for name, values in fields.items()}


async def read_json(request: Request, most_bytes: int, too_long: str | None = None) -> dict[str, Any]:
    """A JSON object. HTTPException 415 if it does not call itself JSON (a form of another site cannot), 413 if it is
    too long, 400 if it is none."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "send application/json")
    body = await read_body(request, most_bytes, too_long)
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise HTTPException(400, "what was sent is no JSON") from error
    if not isinstance(value, dict):
        raise HTTPException(400, "send a JSON object")
    return value


def check_own(request: Request) -> None:
    """HTTPException 403 if a page of another site had a visitor's browser send this."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        own = site in ("same-origin", "none")
    else:  # not told to sites without TLS
        own = origin is None or urlsplit(origin).netloc.lower() == request.headers.get("host", "").lower()
    if not own:
        raise HTTPException(403, "the page of another site has sent this")
