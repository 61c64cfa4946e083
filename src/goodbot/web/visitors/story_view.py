"""Prepares the story of a URL for people. Pure; the templates translate and escape."""

from dataclasses import dataclass
from typing import Final

from goodbot.values import Event, State
from goodbot.visitor_values import Story
from goodbot.web.pages.translations import translatable

MAX_EVENTS_SHOWN: Final = 50

REMOVED: Final = translatable("This page was removed at its owner's request")

_STEPS: Final = {
    "found": translatable("Discovery"),
    "scope": translatable("Scope of the crawl"),
    "permission": translatable("Permission by robots.txt"),
    "fetch": translatable("Request"),
    "read": translatable("Reading"),
    "keep": translatable("Archive"),
    "follow": translatable("Links"),
    "index": translatable("Index"),
    "settle": translatable("Next visit"),
}
_DECISIONS: Final = {("found", "known"): "", ("settle", "rest"): "delay"}
"""Decisions whose stored names are not plain."""

_HEADINGS: Final[dict[State | str, str]] = {
    "unknown": translatable("The crawl does not know this URL"),
    "ready": translatable("This page waits for a visit"),
    "leased": translatable("The robot is visiting this page now, or will next on its host"),
    "visited": translatable("Search does not find this page"),
    "disallowed": translatable("robots.txt forbids this page"),
    "out-of-scope": translatable("This URL is outside the scope of the crawl"),
    "failed": translatable("The robot could not fetch this page"),
    "gone": translatable("There is no such page"),
}


@dataclass(frozen=True, slots=True)
class StepView:
    """One event, ready to be shown. `label` is translatable; `decision` and `reason` are English."""

    at: float
    label: str
    decision: str
    reason: str
    line: int | None


def heading_of(story: Story) -> str:
    """Returns the answer in a few words, translatable."""
    if story.in_index:
        return translatable("Search can find this page")
    if story.same_as is not None:
        return translatable("Search shows another page in its place")
    if story.state == "visited" and story.in_index is None:
        return translatable("The crawl has this page, but search cannot find it")
    return _HEADINGS[story.state]


def queue_heading_of(story: Story) -> str:
    """Returns in a few words what a crawl does with a URL that was submitted, translatable."""
    if story.state == "ready" and story.visited_at is None:
        return translatable("This page waits for its first visit")
    if story.state == "visited":
        return translatable("The crawl has this page already")
    return translatable("The crawl knows this URL") if story.state != "leased" else heading_of(story)


def advises_submission(story: Story) -> bool:
    """Returns whether the advice is to submit the URL."""
    return story.advice.startswith("submit the page")


def steps_of(story: Story) -> list[StepView]:
    """Returns the latest events of a story, the earliest first."""
    return [_step(event) for event in story.events[-MAX_EVENTS_SHOWN:]]


def _step(event: Event) -> StepView:
    decision = _DECISIONS.get((event.step, event.decision), event.decision)
    is_named = event.line is None or f"(line {event.line})" in event.reason
    return StepView(event.at, _STEPS[event.step], decision, event.reason, None if is_named else event.line)
