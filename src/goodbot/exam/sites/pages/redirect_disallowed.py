"""Redirects lead to URLs that robots.txt disallows."""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect, robots
from goodbot.exam.expectations import DoesNotFetch, Fetches

SITE = ExamSite(
    name="redirect-disallowed",
    teaches="Check the target of a redirect against robots.txt.",
    source="RFC 9309 2.2.2",
    pages={
        **pages(robots("User-agent: *\nDisallow: /private/\n"), "/moved/1", "/moved/2", "/moved/3"),
        "/moved/1": redirect("/private/1"),
        "/moved/2": redirect("@@/private/2", 301),
        "/moved/3": redirect("/public"),
        "/private/1": page(),
        "/private/2": page(),
        "/public": page(),
    },
    expects=(DoesNotFetch(("/private/*",)), Fetches(("/", "/moved/1", "/moved/2", "/moved/3", "/public"))),
)
