"""Redirects to what robots.txt closes."""

from goodbot.exam.exam_values import ExamSite, page, pages, redirect, robots
from goodbot.exam.expectations import Finds, Never

SITE = ExamSite(
    name="redirect-disallowed",
    teaches="The target of a redirect needs its own permission: robots.txt is looked at again.",
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
    expects=(Never(("/private/*",)), Finds(("/", "/moved/1", "/moved/2", "/moved/3", "/public"))),
)
