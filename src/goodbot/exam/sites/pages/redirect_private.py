"""A redirect and a link lead to other private addresses: canaries on [::1].

The seeds are on 127.0.0.1, which allows that range and no other. Not even robots.txt of a canary may be fetched.
"""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect
from goodbot.exam.expectations import DoesNotFetch, Fetches

CANARY = {"/secret": page(title="Secret")}

SITE = ExamSite(
    name="redirect-private",
    teaches="Follow no redirect or link to a private address that the user did not allow.",
    source="CWE-918, server-side request forgery",
    pages={
        **pages(None, "/a", "/moved", start=page("/moved", "@linked@/secret", "/a", title="Start")),
        "/moved": redirect("@redirected@/secret"),
    },
    others={"redirected": CANARY, "linked": CANARY},
    expects=(
        Fetches(("/", "/moved", "/a")),
        DoesNotFetch(("*",), "redirected", rule="private"),
        DoesNotFetch(("*",), "linked", rule="private"),
    ),
    needs=frozenset({"ipv6"}),
    ipv6=frozenset({"redirected", "linked"}),
)
