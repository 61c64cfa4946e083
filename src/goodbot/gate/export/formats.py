"""Lists the formats, and writes one site in any of them."""

from collections.abc import Callable, Mapping
from typing import Final, Literal, get_args

from goodbot.gate.export.apache import apache_export
from goodbot.gate.export.caddy import caddy_export
from goodbot.gate.export.cidr import cidr_export
from goodbot.gate.export.haproxy import haproxy_export
from goodbot.gate.export.nginx import nginx_export
from goodbot.gate.export.site import ExportedSite
from goodbot.gate.export.traefik import traefik_export
from goodbot.watch.remedies.targets import Remedy

Format = Literal["nginx", "apache", "caddy", "traefik", "haproxy", "cidr"]

FORMATS: Final[tuple[Format, ...]] = get_args(Format)

_WRITERS: Final[Mapping[Format, Callable[[ExportedSite], Remedy]]] = {
    "nginx": nginx_export,
    "apache": apache_export,
    "caddy": caddy_export,
    "traefik": traefik_export,
    "haproxy": haproxy_export,
    "cidr": cidr_export,
}


def exported(site: ExportedSite, form: Format) -> Remedy:
    """Returns the decisions of a gate for one site as configuration: its parts, each with the place where it belongs,
    and warnings. Raises InputError if this format has nothing to say, as a list of networks without networks."""
    return _WRITERS[form](site)
