"""Two pages redirect to each other."""

from goodbot.exam.exam_values import ExamSite, pages, redirect
from goodbot.exam.expectations import AtMost, Fetches

MOST = 25
"""Browsers and wget give up after 20 consecutive redirects."""

SITE = ExamSite(
    name="redirect-loop",
    teaches="Notice a redirect loop and leave it.",
    source="RFC 9110 15.4",
    pages={
        **pages(None, "/a", "/loop/1", "/b"),
        "/loop/1": redirect("/loop/2", 301),
        "/loop/2": redirect("/loop/1"),
    },
    expects=(AtMost(MOST, "/loop/*"), Fetches(("/", "/a", "/b", "/loop/1"))),
)
