"""Takes URLs that visitors submit to a crawl, and says at once what becomes of each."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from math import inf
from typing import Final

from goodbot.crawl_admin import open_control
from goodbot.crawl_bounds import CrawlBounds
from goodbot.crawl_folder import CrawlFolder
from goodbot.robot.crawl.remote_control import RemoteControl, Submitted
from goodbot.url import Url, parse_url
from goodbot.url_story import last_answer_at
from goodbot.visitor_values import Submission, SubmissionResult
from goodbot.visitors.submission_rules import Judged, SubmissionRules
from goodbot.visitors.typed_urls import TypedUrls

REPLY_TIMEOUT_S: Final = 4.0
"""How long a visitor waits until a running crawl has taken a URL."""


class VisitorRequests:
    """Submits URLs of visitors to the crawl in a folder, running or not. Sends no request itself.

    Such a URL never reaches a private address, whatever address its name has, unless its host and port are those of a
    seed. Several threads may use it.
    """

    def __init__(
        self,
        folder: CrawlFolder,
        bounds: CrawlBounds,
        reply_timeout_s: float = REPLY_TIMEOUT_S,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._folder = folder
        self._bounds = bounds
        self._typed = TypedUrls(folder, bounds)
        self._control: RemoteControl = open_control(folder.path, reply_timeout_s, bounds)
        self._now = now

    def submit(self, text: str) -> Submission:
        """Submits the URL that a visitor typed. Raises UrlError, in one sentence, if it is not a URL that can be
        submitted; RunError if the crawl does not answer; InputError or RunError if its files cannot be used."""
        return self.submit_urls([self._typed.read(text)])[0]

    def submit_urls(self, urls: Iterable[Url], *, changed: bool = False) -> list[Submission]:
        """Submits several URLs. `changed`: their owner says that they have changed, so those visited before are due at
        once. Raises RunError as above."""
        judged = self._judge_all(list(urls))
        now = self._now()
        submitted: dict[Url, Submitted] = {}
        for public_only in (False, True):
            group = [
                item.report.requested_as
                for item in judged
                if item.result is None and item.public_only == public_only and (changed or not _is_settled(item))
            ]
            if group:
                changed_at = now if changed else None
                done = self._control.submit(group, public_only=public_only, modified_at=changed_at)
                submitted.update((item.url, item) for item in done)
        found = [(item, submitted.get(item.report.requested_as)) for item in judged]
        return [self._submission(item, done, changed=changed, now=now) for item, done in found]

    def knows(self, host: str) -> bool:
        """Returns whether a host (with its port if that is not the default) is that of a seed, or in the frontier."""
        root = parse_url(f"http://{host}/")
        if root is None or root.authority in self._bounds.current().authorities:
            return root is not None
        with self._folder.open_reader() as frontier:
            return frontier.knows_host(root.host_key)

    def foresee(self, urls: Iterable[Url]) -> list[Submission]:
        """Returns what would become of the URLs, without submitting them: those that would be have the result
        `submitted` or `known`."""
        now = self._now()
        return [self._submission(item, None, changed=False, now=now) for item in self._judge_all(list(urls))]

    def _judge_all(self, urls: Sequence[Url]) -> list[Judged]:
        bounds = self._bounds.current()
        with self._folder.open_reader() as frontier:
            rules = SubmissionRules(bounds, frontier, self._now())
            return [rules.judge(url) for url in urls]

    @staticmethod
    def _submission(judged: Judged, done: Submitted | None, *, changed: bool, now: float) -> Submission:
        report, record = judged.report, judged.report.record
        seen = record.seen if record is not None else None
        found = Submission(
            report.requested_as,
            judged.result or "submitted",
            judged.reason,
            state_before=record.state if record is not None else None,
            state=record.state if record is not None else None,
            visited_at=last_answer_at(record),
            due_at=seen.due_at if seen is not None and seen.due_at < inf else None,
        )
        if done is None:
            return replace(found, result="known") if judged.result is None and found.state is not None else found
        if done.refused is not None:  # the scope has changed meanwhile
            return replace(found, result="out of scope", reason=done.refused)
        is_known = done.before is not None and done.before == done.now
        due_at = min(seen.due_at, now) if changed and seen is not None else found.due_at
        result: SubmissionResult = "known" if is_known else "submitted"
        return replace(found, result=result, state_before=done.before, state=done.now, due_at=due_at)


def _is_settled(judged: Judged) -> bool:
    """Returns whether a submission changes nothing, so that the crawl need not be asked."""
    record = judged.report.record
    if record is None or record.is_closed:
        return False
    return record.state in ("visited", "leased", "gone", "disallowed")
