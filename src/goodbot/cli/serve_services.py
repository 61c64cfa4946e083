"""Prepares the other search services that `goodbot serve --with` names."""

import asyncio
from collections.abc import Iterable
from functools import partial
from urllib.parse import urlsplit

from goodbot.cli.printing import say_folded
from goodbot.cli.search_services import SPARE_S
from goodbot.clock import SystemClock
from goodbot.errors import InputError, SettingError
from goodbot.federate import Federation, read_named
from goodbot.one_shot import service_request, service_transport
from goodbot.serve_settings import ServeSettings


class ServedServices:
    """The services, from the start of the server to its end. `federation` is None if no service is named.

    Raises SettingError for a URL that cannot be a service, or if there is no index to whose results others could be
    added.
    """

    def __init__(self, served: ServeSettings, *, has_search: bool) -> None:
        self._task: asyncio.Task[None] | None = None
        self._is_ending = asyncio.Event()
        self.federation = _federation(served) if served.search_services else None
        if self.federation is not None and not has_search:
            raise _invalid(" needs --in DIR: it adds the results of other services to those of an index")

    def start(self, home: str, public: str | None) -> None:
        """Fetches the descriptions of the services, and says which ones are away or no search. Called in the event loop
        of the server, whose URLs are `home` and `public`."""
        if self.federation is not None:
            self.federation.never_asks(_beginnings(home, public))
            self._task = asyncio.get_running_loop().create_task(self._run(self.federation))

    def stop(self) -> None:
        """Closes the connections to the services."""
        self._is_ending.set()

    async def _run(self, federation: Federation) -> None:
        async with federation:
            for each in await federation.describe():
                again = "it is left out until the next start" if each.is_lasting else "searches try again"
                say_folded(f"search service {each.url}: {each.why}; {again}", err=True)
            await self._is_ending.wait()


def _federation(served: ServeSettings) -> Federation:
    try:
        named = [read_named(text) for text in served.search_services]
    except InputError as error:
        raise _invalid(f": {error}") from error
    deadline_s = served.services_deadline
    transport = partial(service_transport, [each.url for each in named], deadline_s + SPARE_S)
    return Federation(named, transport, service_request, SystemClock(), deadline_s)


def _invalid(text: str) -> SettingError:
    return SettingError("search_services", f"search-services{text}")


def _beginnings(home: str, public: str | None) -> Iterable[str]:
    """Yields how URLs of this service begin. Its home on loopback has several names."""
    yield home
    if public:
        yield public
    port = urlsplit(home).port
    for host in ("localhost", "127.0.0.1", "[::1]"):
        yield f"http://{host}:{port}/"
