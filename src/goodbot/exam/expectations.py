"""The kinds of expectations a site can have. Each judges the recorded requests, and nothing else.

`expected` says what a good crawler does there (`fetches /, /a`), `observed` what this one did (`did not fetch /a`).
"""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise

from goodbot.exam.exam_values import MAIN, ExamRequest, Expectation, Observed, SiteJudgement, upper_escapes
from goodbot.human import counted

LEEWAY_S = 0.1
"""How much shorter than required a measured pause may be: clocks and sockets are not exact. The order of requests needs
no leeway, since one clock records it. The time a request waited before it was read never counts against a crawler."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Fetches:
    """The crawler fetches all these targets with GET. With a `status`, each must have been answered with it; with
    `within`, each must be among the first `within` requests to the origin."""

    targets: tuple[str, ...]
    origin: str = MAIN
    rule: str = "found"
    visit: int | None = None
    status: int | None = None
    within: int | None = None

    @property
    def expected(self) -> str:
        among = f" among the first {self.within} requests" if self.within else ""
        return f"fetches {_list(self.targets)}{self._with_status}{among}"

    def judge(self, seen: Observed) -> SiteJudgement:
        fetched = {
            upper_escapes(each.target)
            for each in seen.of(self.origin, self.visit)[: self.within]
            if each.method == "GET" and self.status in (None, each.status)
        }
        missing = [target for target in self.targets if upper_escapes(target) not in fetched]
        if not missing:
            return SiteJudgement(
                True, f"fetched {'all ' if len(self.targets) > 1 else ''}{counted(len(self.targets), 'URL')}"
            )
        late = f" among the first {self.within} requests" if self.within else ""
        return SiteJudgement(False, f"did not fetch {_list(missing)}{self._with_status}{late}")

    @property
    def _with_status(self) -> str:
        return f" with status {self.status}" if self.status else ""


@dataclass(frozen=True, slots=True)
class DoesNotFetch:
    """The crawler fetches no target that matches one of these patterns (`*`, `?`, `[…]` as in file names)."""

    patterns: tuple[str, ...]
    origin: str = MAIN
    rule: str = "disallowed"

    @property
    def expected(self) -> str:
        return "sends no request" if self.patterns == ("*",) else f"does not fetch {_list(self.patterns)}"

    def judge(self, seen: Observed) -> SiteJudgement:
        for each in seen.of(self.origin):
            if any(_matches(each, pattern) for pattern in self.patterns):
                return SiteJudgement(False, f"fetched {each.target}", each)
        return SiteJudgement(True, "fetched none of them")


@dataclass(frozen=True, slots=True)
class OnlyRobotsTxt:
    """The crawler fetches nothing but robots.txt from this origin."""

    origin: str = MAIN
    rule: str = "closed"

    @property
    def expected(self) -> str:
        return "fetches robots.txt only"

    def judge(self, seen: Observed) -> SiteJudgement:
        for each in seen.of(self.origin):
            if each.path != "/robots.txt":
                return SiteJudgement(False, f"fetched {each.target}", each)
        return SiteJudgement(True, "fetched nothing else")


@dataclass(frozen=True, slots=True)
class RobotsFirst:
    """robots.txt is answered, or the crawler gave up on it, before its first other request to this origin."""

    origin: str = MAIN
    rule: str = "robots-first"

    @property
    def expected(self) -> str:
        return "fetches robots.txt first"

    def judge(self, seen: Observed) -> SiteJudgement:
        requests = seen.of(self.origin)
        if not requests:
            return SiteJudgement(True, "sent no request")
        # A /robots.txt in a folder is the target of another origin's redirect, not a page.
        index = next((n for n, each in enumerate(requests) if not each.path.endswith("/robots.txt")), None)
        if index is None:
            return SiteJudgement(True, "fetched only robots.txt")
        first, before = requests[index], requests[:index]
        if any(each.ended_at is not None and each.ended_at <= first.at for each in before):
            return SiteJudgement(True, "fetched robots.txt first")
        return SiteJudgement(False, f"fetched {first.target} before robots.txt was answered", first)


@dataclass(frozen=True, slots=True)
class WaitsForRobotsTxt:
    """The crawler fetches nothing else from this origin before robots.txt is answered with 200."""

    origin: str = MAIN
    rule: str = "closed"

    @property
    def expected(self) -> str:
        return "fetches nothing else before robots.txt is answered with 200"

    def judge(self, seen: Observed) -> SiteJudgement:
        answered_at = float("inf")
        for each in seen.of(self.origin):
            if each.path == "/robots.txt" and each.status == 200:
                answered_at = min(answered_at, each.ended_at or answered_at)
            elif each.path != "/robots.txt" and each.at < answered_at:
                return SiteJudgement(False, f"fetched {each.target} before robots.txt was answered with 200", each)
        return SiteJudgement(True, "fetched nothing else before robots.txt was answered with 200")


@dataclass(frozen=True, slots=True)
class AtMost:
    """At most `most` requests of one visit match `pattern`."""

    most: int
    pattern: str = "*"
    origin: str = MAIN
    rule: str = "trap"

    @property
    def expected(self) -> str:
        return f"sends at most {counted(self.most, 'request')}{_for(self.pattern)}"

    def judge(self, seen: Observed) -> SiteJudgement:
        visits = [
            [each for each in seen.of(self.origin, visit) if _matches(each, self.pattern)]
            for visit in range(1, seen.visits + 1)
        ]
        matching = max(visits, key=len)
        offending = matching[self.most] if len(matching) > self.most else None
        return SiteJudgement(offending is None, f"sent {counted(len(matching), 'request')}", offending)


@dataclass(frozen=True, slots=True)
class AtMostEach(AtMost):
    """In one visit, each target that matches `pattern` gets at most `most` requests."""

    rule: str = "wall"

    @property
    def expected(self) -> str:
        urls = "each URL" if self.pattern == "*" else f"each of {self.pattern}"
        return f"sends at most {counted(self.most, 'request')} for {urls}"

    def judge(self, seen: Observed) -> SiteJudgement:
        counts: Counter[tuple[int, str]] = Counter()
        offending: ExamRequest | None = None
        for each in seen.of(self.origin):
            if _matches(each, self.pattern):
                key = (each.visit, upper_escapes(each.target))
                counts[key] += 1
                if offending is None and counts[key] > self.most:
                    offending = each
        (_, target), count = max(counts.items(), key=lambda item: item[1], default=((0, self.pattern), 0))
        return SiteJudgement(offending is None, f"sent {counted(count, 'request')} for {target}", offending)


@dataclass(frozen=True, slots=True)
class AtMostInAnySpan:
    """This origin gets at most `most` requests within any period of `seconds`."""

    most: int
    seconds: float
    origin: str = MAIN
    rule: str = "burst"

    @property
    def expected(self) -> str:
        return f"sends at most {counted(self.most, 'request')} within any {self.seconds:g} s"

    def judge(self, seen: Observed) -> SiteJudgement:
        span: deque[ExamRequest] = deque()
        busiest, offending = 0, None
        for each in sorted(seen.of(self.origin), key=lambda request: request.came_at):
            span.append(each)
            while each.came_at - span[0].came_at >= self.seconds:
                span.popleft()
            busiest = max(busiest, len(span))
            if offending is None and len(span) > self.most:
                offending = each
        return SiteJudgement(
            offending is None, f"sent {counted(busiest, 'request')} within {self.seconds:g} s", offending
        )


@dataclass(frozen=True, slots=True)
class MinimumGap:
    """At least `seconds` pass between two requests of the same visit, those for robots.txt aside."""

    seconds: float
    origin: str = MAIN
    rule: str = "gap"

    @property
    def expected(self) -> str:
        return f"waits at least {self.seconds:g} s between requests"

    def judge(self, seen: Observed) -> SiteJudgement:
        requests = [each for each in seen.of(self.origin) if each.path != "/robots.txt"]
        gaps = [
            (after.at - before.came_at, after) for before, after in pairwise(requests) if before.visit == after.visit
        ]
        if not gaps:
            return SiteJudgement(True, "sent fewer than two requests")
        least, offending = min(gaps, key=lambda pair: pair[0])
        met = least >= self.seconds - LEEWAY_S
        return SiteJudgement(met, f"its shortest wait was {least:.1f} s", None if met else offending)


@dataclass(frozen=True, slots=True)
class WaitsAfterStatus:
    """After each response with one of these statuses the crawler sends this origin no request for `seconds`, in that
    visit."""

    seconds: float
    statuses: tuple[int, ...] = (429, 503)
    origin: str = MAIN
    rule: str = "retry-after"

    @property
    def expected(self) -> str:
        return f"waits {self.seconds:g} s after status {' or '.join(map(str, self.statuses))}"

    def judge(self, seen: Observed) -> SiteJudgement:
        requests = seen.of(self.origin)
        for index, busy in enumerate(requests):
            if busy.status not in self.statuses:
                continue
            answered_at = busy.ended_at or busy.at
            later = (each for each in requests[index + 1 :] if each.visit == busy.visit)
            after = next((each for each in later if each.came_at >= answered_at), None)
            # Counts from the arrival of the refused request: a loaded machine may record the end of its answer late.
            if after is not None and after.at - busy.at < self.seconds - LEEWAY_S:
                return SiteJudgement(False, f"sent the next request after {after.at - busy.at:.1f} s", after)
        if not any(each.status in self.statuses for each in requests):
            return SiteJudgement(False, f"never got status {' or '.join(map(str, self.statuses))}")
        return SiteJudgement(True, "waited")


@dataclass(frozen=True, slots=True)
class AtMostAtOnce:
    """This origin has at most `most` requests in progress at the same time."""

    most: int
    origin: str = MAIN
    rule: str = "connections"

    @property
    def expected(self) -> str:
        return f"sends at most {counted(self.most, 'request')} at once"

    def judge(self, seen: Observed) -> SiteJudgement:
        busy = seen.most_busy.get(self.origin, 0)
        return SiteJudgement(busy <= self.most, f"sent {counted(busy, 'request')} at once")


@dataclass(frozen=True, slots=True)
class StopsReading:
    """The crawler reads at most `limit_bytes` of each response that matches, for at most `limit_s`."""

    pattern: str
    limit_bytes: int | None = None
    limit_s: float | None = None
    origin: str = MAIN
    rule: str = "bounded"

    @property
    def expected(self) -> str:
        limits = [f"{self.limit_bytes / 1e6:g} MB"] if self.limit_bytes else []
        limits += [f"{self.limit_s:g} s"] if self.limit_s else []
        return f"stops reading {self.pattern} within {' and '.join(limits)}"

    def judge(self, seen: Observed) -> SiteJudgement:
        matching = [each for each in seen.of(self.origin) if _matches(each, self.pattern)]
        if not matching:
            return SiteJudgement(False, f"did not fetch {self.pattern}")
        most = max(each.sent_bytes for each in matching)
        longest = max((each.ended_at or float("inf")) - each.at for each in matching)
        for each in matching:
            took_s = (each.ended_at or float("inf")) - each.at
            if (self.limit_bytes and each.sent_bytes > self.limit_bytes) or (self.limit_s and took_s > self.limit_s):
                return SiteJudgement(False, f"read {each.sent_bytes / 1e6:.1f} MB in {took_s:.0f} s", each)
        return SiteJudgement(True, f"read at most {most / 1e6:.1f} MB in at most {longest:.0f} s")


@dataclass(frozen=True, slots=True)
class CustomExpectation:
    """Any other expectation: `test` judges everything that was observed at the site."""

    rule: str
    expected: str
    test: Callable[[Observed], SiteJudgement]
    origin: str | None = None

    def judge(self, seen: Observed) -> SiteJudgement:
        return self.test(seen)


@dataclass(frozen=True, slots=True)
class OnLaterVisit:
    """An expectation for a crawler that visits the site at least `visits` times; it does not count for others."""

    expectation: Expectation
    visits: int = 2

    @property
    def rule(self) -> str:
        return self.expectation.rule

    @property
    def origin(self) -> str | None:
        return self.expectation.origin

    @property
    def expected(self) -> str:
        return f"on visit {self.visits}: {self.expectation.expected}"

    def judge(self, seen: Observed) -> SiteJudgement:
        return self.expectation.judge(seen)


def _matches(request: ExamRequest, pattern: str) -> bool:
    return fnmatchcase(upper_escapes(request.target), upper_escapes(pattern))


def _for(pattern: str) -> str:
    return "" if pattern == "*" else f" for {pattern}"


def _list(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
