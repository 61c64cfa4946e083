"""The Location of redirects is relative, or not ASCII."""

from goodbot.exam.exam_values import MAIN, ExamSite, Exchange, page, redirect
from goodbot.exam.expectations import Fetches

RELATIVE = {
    "/dir/name": ("neighbour", "/dir/neighbour"),
    "/dir/dots": ("../up", "/up"),
    "/dir/query": ("?page=2", "/dir/query?page=2"),
    "/dir/fragment": ("/with-fragment#part", "/with-fragment"),
}
TARGETS = tuple(target for _, target in RELATIVE.values())
UTF_8 = redirect("/café".encode().decode("latin-1"))


async def _by_host(exchange: Exchange) -> None:
    await exchange.reply(redirect(exchange.origins[MAIN].partition(":")[2] + "/by-host"))


SITE = ExamSite(
    name="redirect-location",
    teaches="Resolve Location against the URL that sent it, and percent-encode raw UTF-8 in it.",
    source="RFC 9110 10.2.2; Fetch 4.4; WHATWG URL 4.4",
    pages={
        "/": page(*RELATIVE, "/dir/by-host", "/dir/utf-8"),
        **{path: redirect(location) for path, (location, _) in RELATIVE.items()},
        "/dir/by-host": _by_host,
        "/dir/utf-8": UTF_8,
        **{target: page(title="Found") for target in (*TARGETS, "/by-host", "/caf%C3%A9")},
    },
    expects=(Fetches(("/", *RELATIVE, *TARGETS, "/by-host")), Fetches(("/caf%C3%A9",))),
)
