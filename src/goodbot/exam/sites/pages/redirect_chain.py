"""A chain of redirects that never comes back; it ends by itself after 300."""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect
from goodbot.exam.expectations import AtMost, Finds

HOPS = 300

SITE = ExamSite(
    name="redirect-chain",
    teaches="A chain of redirects is given up after some tens of hops, though each leads to a new URL.",
    source="RFC 9110 15.4",
    pages={
        **pages(None, "/a", "/hop/1", "/b"),
        **{f"/hop/{n}": redirect(f"/hop/{n + 1}") for n in range(1, HOPS)},
        f"/hop/{HOPS}": page(title="The end"),
    },
    expects=(AtMost(50, "/hop/*"), Finds(("/", "/a", "/b", "/hop/1"))),
)
