"""Request-rate allows one document in three seconds."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Fetches, MinimumGap, RobotsFirst

SITE = ExamSite(
    name="robots-request-rate",
    teaches="Fetch no more documents in a period than Request-rate allows.",
    source="Conner 1996",
    pages=pages(robots("User-agent: *\nRobot-version: 2.0\nRequest-rate: 1/3\nDisallow:\n"), "/a", "/b"),
    expects=(RobotsFirst(), MinimumGap(3.0, rule="request-rate"), Fetches(("/", "/a", "/b"))),
)
