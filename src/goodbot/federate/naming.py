"""Gives services different names. Pure."""

from collections.abc import Sequence
from itertools import count
from typing import Final, NamedTuple

from goodbot.federate.rounds import OWN
from goodbot.url import Url

MAX_PATH_CHARS: Final = 48
"""A longer path is not used in a name."""


class ServiceFacts(NamedTuple):
    """What a service is named after: the name that it states, or its host; the host that receives the queries; and the
    URL that was named."""

    name: str
    host: str
    url: Url


def different_names(services: Sequence[ServiceFacts]) -> list[str]:
    """Returns a name for each service. One that another service has as well, or our own index, gets its host added; if
    they still are equal, its path; then a number."""
    names = [each.name for each in services]
    for longer in (_with_host, _with_path):
        names = [longer(each) if _is_taken(name, names) else name for each, name in zip(services, names, strict=True)]
    for place in [place for place, name in enumerate(names) if _is_taken(name, names)]:
        numbered = (f"{names[place]} ({number})" for number in count(1))
        names[place] = next(name for name in numbered if not _is_taken(name, [*names, name]))
    return names


def _is_taken(name: str, names: Sequence[str]) -> bool:
    """Whether another of the names is equal, or our own index has it."""
    folded = [OWN.casefold(), *(each.casefold() for each in names)]
    return folded.count(name.casefold()) > 1


def _with_host(service: ServiceFacts) -> str:
    return service.name if service.host in service.name else f"{service.name} ({service.host})"


def _with_path(service: ServiceFacts) -> str:
    place = service.url.authority + service.url.path
    if len(service.url.path) > MAX_PATH_CHARS:
        return _with_host(service)
    return place if service.name == service.url.authority else f"{service.name} ({place})"
