"""An application with every page that there is, for tests about all of them."""

from collections.abc import Callable
from pathlib import Path

from starlette.applications import Starlette
from starlette.routing import Route

from goodbot.ports import Search
from goodbot.robot.fetch.signing_key import create_key
from goodbot.web import KeyDirectory, Rate, Site, create_app
from web.crawls import Crawls
from web.library import SPECIMENS, Library
from web.visitor_desks import Desk
from web.watch_study import Followed

SAMPLE = Site("Sample", post_rate=Rate(0, 1))


def whole_app(
    folder: Path, site: Site = SAMPLE, search: Search | None = None, visitors: Desk | None = None
) -> Starlette:
    """Makes the application; `folder` takes the key of its robot."""
    keys = KeyDirectory(create_key(folder / "key.jwk"), "bot.example")
    return create_app(search or Library(SPECIMENS), site, Crawls(), keys, visitors=visitors or Desk(), logs=Followed())


def routes_of(app: Starlette, is_wanted: Callable[[Route], bool] = lambda route: True) -> list[tuple[str, str]]:
    """Returns method and path of each route."""
    routes = [route for route in app.routes if isinstance(route, Route) and is_wanted(route)]
    return [(method, route.path) for route in routes for method in sorted(route.methods or ())]
