"""One document in three seconds."""

from goodbot.exam.exam_values import ExamSite, pages, robots
from goodbot.exam.expectations import Finds, MinimumGap, RobotsFirst

SITE = ExamSite(
    name="robots-request-rate",
    teaches="Request-rate asks for so many documents in so many seconds at most.",
    source="Conner 1996",
    pages=pages(robots("User-agent: *\nRobot-version: 2.0\nRequest-rate: 1/3\nDisallow:\n"), "/a", "/b"),
    expects=(RobotsFirst(), MinimumGap(3.0, rule="request-rate"), Finds(("/", "/a", "/b"))),
)
