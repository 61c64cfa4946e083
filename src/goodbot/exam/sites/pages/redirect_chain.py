"""A chain of redirects leads to ever new URLs; it ends after 300."""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect
from goodbot.exam.expectations import AtMost, Fetches

HOPS = 300

SITE = ExamSite(
    name="redirect-chain",
    teaches="Give up on a chain of redirects after a few dozen, even if each leads to a new URL.",
    source="RFC 9110 15.4",
    pages={
        **pages(None, "/a", "/hop/1", "/b"),
        **{f"/hop/{n}": redirect(f"/hop/{n + 1}") for n in range(1, HOPS)},
        f"/hop/{HOPS}": page(title="The end"),
    },
    expects=(AtMost(50, "/hop/*"), Fetches(("/", "/a", "/b", "/hop/1"))),
)
