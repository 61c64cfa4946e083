"""X-Forwarded-For and X-Forwarded-Proto are believed only from proxies that the operator named."""

import logging

import pytest
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from goodbot.web import Rate, Site, create_app, running
from goodbot.web.server.forwarded_clients import ForwardedClients
from web.library import SPECIMENS, Library, Visitor


def show(request: Request) -> Response:
    return JSONResponse([request.client.host if request.client else None, request.url.scheme])


@pytest.mark.parametrize(
    ("name", "proxies", "sent", "seen"),
    [
        ("no header", ("127.0.0.1",), {}, ["127.0.0.1", "http"]),
        ("a proxy", ("127.0.0.1",), {"X_Forwarded_For": "192.0.2.1"}, ["192.0.2.1", "http"]),
        ("and its scheme", ("127.0.0.1",), {"X_Forwarded_Proto": "https"}, ["127.0.0.1", "https"]),
        ("a network", ("10.0.0.0/8", "127.0.0.0/8"), {"X_Forwarded_For": "2001:db8::1"}, ["2001:db8::1", "http"]),
        ("the last stranger", ("127.0.0.1",), {"X_Forwarded_For": "1.1.1.1, 192.0.2.1"}, ["192.0.2.1", "http"]),
        ("another proxy", ("10.0.0.1",), {"X_Forwarded_For": "192.0.2.1"}, ["127.0.0.1", "http"]),
        ("no proxy", (), {"X_Forwarded_For": "192.0.2.1", "X_Forwarded_Proto": "https"}, ["127.0.0.1", "http"]),
        ("strange scheme", ("127.0.0.1",), {"X_Forwarded_Proto": "javascript"}, ["127.0.0.1", "http"]),
        ("nothing", ("127.0.0.1",), {"X_Forwarded_For": ""}, ["127.0.0.1", "http"]),
    ],
)
def test_the_client(name: str, proxies: tuple[str, ...], sent: dict[str, str], seen: list[str]) -> None:
    app = Starlette(routes=[Route("/", show)], middleware=[Middleware(ForwardedClients, proxies=proxies)])
    with running(app) as url:
        assert Visitor(url).ask("/", **sent).text == bytes(JSONResponse(seen).body).decode()


def test_who_is_not_named_cannot_invent_clients(caplog: pytest.LogCaptureFixture) -> None:
    """Otherwise each request could come from another address, and no limit would hold."""
    site = Site("Sample", post_rate=Rate(1, 2))
    with running(create_app(Library(SPECIMENS), site)) as url:
        visitor = Visitor(url)
        statuses = [visitor.ask("/submit", "POST", X_Forwarded_For=f"192.0.2.{n}").status for n in range(4)]
    assert statuses[2:] == [429, 429]
    (warning,) = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert "127.0.0.1 sends X-Forwarded-For" in warning.getMessage()
    assert "--trusted-proxy 127.0.0.1" in warning.getMessage()


def test_a_named_proxy_is_no_reason_to_warn(caplog: pytest.LogCaptureFixture) -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample", proxies=("127.0.0.1",)))) as url:
        Visitor(url).ask("/", X_Forwarded_For="192.0.2.1")
    assert caplog.records == []
