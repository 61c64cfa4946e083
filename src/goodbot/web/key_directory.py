"""The key directory of a robot that signs its requests: where those who verify signatures find the public key."""

import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.robot.fetch.signing import DIRECTORY_TYPE, WELL_KNOWN, directory_fields, directory_of
from goodbot.robot.fetch.signing_key import SigningKey

_CACHED_S = 3600


class KeyDirectory:
    """Serves `key` for `authority`, the host (and port) under which the world knows this place.

    The answer is signed for that name and no other, whatever name is asked for: behind a proxy the name asked for here
    is not the one asked for there, and nobody else's name is to be vouched for.
    """

    def __init__(self, key: SigningKey, authority: str, now: Callable[[], float] = time.time) -> None:
        self._key = key
        self._authority = authority
        self._now = now
        self._body = directory_of(key)

    def route(self) -> Route:
        """For GET and HEAD."""
        return Route(WELL_KNOWN, self._show)

    def _show(self, request: Request) -> Response:
        fields = dict(directory_fields(self._key, self._body, self._authority, self._now()))
        return Response(
            self._body,
            media_type=DIRECTORY_TYPE,
            headers={**fields, "Cache-Control": f"max-age={_CACHED_S}", "Access-Control-Allow-Origin": "*"},
        )
