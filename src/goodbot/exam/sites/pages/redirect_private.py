"""Ways out to another private address: canaries on [::1], behind a redirect and behind a link.

The seeds lie on 127.0.0.1, which opens that range and no other. robots.txt of a canary may not be asked for either.
"""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect
from goodbot.exam.expectations import Finds, Never

CANARY = {"/secret": page(title="Secret")}

SITE = ExamSite(
    name="redirect-private",
    teaches="Neither a redirect nor a link takes a crawler to a private address that nobody opened to it.",
    source="CWE-918, server-side request forgery",
    pages={
        **pages(None, "/a", "/moved", start=page("/moved", "@linked@/secret", "/a", title="Start")),
        "/moved": redirect("@redirected@/secret"),
    },
    others={"redirected": CANARY, "linked": CANARY},
    expects=(
        Finds(("/", "/moved", "/a")),
        Never(("*",), "redirected", rule="private"),
        Never(("*",), "linked", rule="private"),
    ),
    needs=frozenset({"ipv6"}),
    ipv6=frozenset({"redirected", "linked"}),
)
