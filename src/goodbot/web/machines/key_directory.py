"""Serves the key directory of a robot that signs its requests. Sites that verify signatures find the public key
there."""

import time
from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from goodbot.robot.fetch.signing import DIRECTORY_TYPE, WELL_KNOWN, directory_fields, directory_of
from goodbot.robot.fetch.signing_key import SigningKey

_CACHED_S = 3600


class KeyDirectory:
    """Serves `key` for `authority`, the public host (and port) of this server.

    Every response is signed for `authority`, whatever the Host of the request: behind a proxy the Host may differ, and
    the key must not vouch for other names.
    """

    def __init__(self, key: SigningKey, authority: str, now: Callable[[], float] = time.time) -> None:
        self._key = key
        self._authority = authority
        self._now = now
        self._body = directory_of(key)

    def route(self) -> Route:
        """Returns the route, for GET and HEAD."""
        return Route(WELL_KNOWN, self._show)

    def _show(self, request: Request) -> Response:
        fields = dict(directory_fields(self._key, self._body, self._authority, self._now()))
        return Response(
            self._body,
            media_type=DIRECTORY_TYPE,
            headers={**fields, "Cache-Control": f"max-age={_CACHED_S}", "Access-Control-Allow-Origin": "*"},
        )
