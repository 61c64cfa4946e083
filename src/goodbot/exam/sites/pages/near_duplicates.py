"""Sixty pages differ by one word, and five have texts of their own."""

from goodbot.exam.exam_values import ExamSite, page, pages
from goodbot.exam.expectations import AtMost, Fetches

COPIES = tuple(f"/berth/{n}" for n in range(1, 61))
REAL = tuple(f"/story/{n}" for n in range(1, 6))
BERTH = (
    "You have reached the page of berth {}. Each berth of our harbour is let by the day, the week or the season, with "
    "water, power and a place for one car. The harbour master is on duty from six in the morning until ten at night, "
    "and asks every skipper to come to the office with the papers of the boat before the lines are made fast. "
    "Dogs are welcome on a lead. Nets may be dried on the north mole, fires are not allowed anywhere."
)
STORIES = (
    "Before there was a harbour, fishermen drew their boats up the shingle with a capstan that eight men turned.",
    "The north mole took eleven years to build, because each winter's storms carried off what the summer had laid.",
    "In the year without herring half of the town left for the tin mines, and the school closed for want of children.",
    "A lamp was lit on the rocks by the widow of a pilot, long before the company paid for a proper lighthouse.",
    "Today the ferries bring painters, walkers and bird watchers, and the old ice house serves them coffee.",
)

SITE = ExamSite(
    name="near-duplicates",
    teaches="Fetch only some of many pages that differ by one word, and miss none of the different ones.",
    source="Manku and others, Detecting Near-Duplicates for Web Crawling, 2007",
    pages={
        **pages(None, *COPIES[:30], *REAL, *COPIES[30:]),
        **{path: page("/", title="Berth", text=BERTH.format(path.removeprefix("/berth/"))) for path in COPIES},
        **{path: page("/", title=path, text=text) for path, text in zip(REAL, STORIES, strict=True)},
    },
    expects=(Fetches(("/", *REAL)), AtMost(45, "/berth/*", rule="duplicates")),
)
