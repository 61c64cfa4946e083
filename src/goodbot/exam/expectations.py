"""What can be expected at a site. Each looks at what was asked, and at nothing else."""

from collections import Counter, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from itertools import pairwise

from goodbot.exam.exam_values import MAIN, ExamRequest, Expectation, Observed, SiteJudgement, upper_escapes
from goodbot.human import counted

LEEWAY_S = 0.1
"""How much a pause may be shorter as seen here: clocks and sockets are not exact. What comes first is seen here alone,
by one clock, and needs none. How late a request was read is known, and held against nobody."""

_SHOWN = 5


@dataclass(frozen=True, slots=True)
class Finds:
    """Every one of these targets is asked for with GET and, if a `status` is given, answered with it; if `within` is
    given, among the first so many requests to the origin."""

    targets: tuple[str, ...]
    origin: str = MAIN
    rule: str = "found"
    visit: int | None = None
    status: int | None = None
    within: int | None = None

    @property
    def says(self) -> str:
        among = f" among the first {self.within} requests" if self.within else ""
        return f"{'gets' if self.status else 'asks for'} {_list(self.targets)}{among}"

    def judge(self, seen: Observed) -> SiteJudgement:
        asked = {
            upper_escapes(each.target)
            for each in seen.of(self.origin, self.visit)[: self.within]
            if each.method == "GET" and self.status in (None, each.status)
        }
        missing = [target for target in self.targets if upper_escapes(target) not in asked]
        if not missing:
            return SiteJudgement(True, f"all {len(self.targets)} were asked for")
        late = f" among the first {self.within} requests" if self.within else ""
        return SiteJudgement(False, f"never {'got' if self.status else 'asked for'} {_list(missing)}{late}")


@dataclass(frozen=True, slots=True)
class Never:
    """No target that matches one of these patterns (`*`, `?`, `[…]` as in file names) is asked for."""

    patterns: tuple[str, ...]
    origin: str = MAIN
    rule: str = "disallowed"

    @property
    def says(self) -> str:
        return f"never asks for {_list(self.patterns)}"

    def judge(self, seen: Observed) -> SiteJudgement:
        for each in seen.of(self.origin):
            if any(_matches(each, pattern) for pattern in self.patterns):
                return SiteJudgement(False, f"asked for {each.target}", each)
        return SiteJudgement(True, "none of them was asked for")


@dataclass(frozen=True, slots=True)
class OnlyRobotsTxt:
    """Of this origin nothing but robots.txt is asked for."""

    origin: str = MAIN
    rule: str = "closed"

    @property
    def says(self) -> str:
        return "asks for robots.txt only"

    def judge(self, seen: Observed) -> SiteJudgement:
        for each in seen.of(self.origin):
            if each.path != "/robots.txt":
                return SiteJudgement(False, f"asked for {each.target}", each)
        return SiteJudgement(True, "nothing else was asked for")


@dataclass(frozen=True, slots=True)
class RobotsFirst:
    """robots.txt is answered, or given up, before the first other request to this origin."""

    origin: str = MAIN
    rule: str = "robots-first"

    @property
    def says(self) -> str:
        return "asks for robots.txt first"

    def judge(self, seen: Observed) -> SiteJudgement:
        requests = seen.of(self.origin)
        if not requests:
            return SiteJudgement(True, "nothing was asked for")
        # A file of that name elsewhere is where another origin's robots.txt redirects to, and no page.
        place = next((n for n, each in enumerate(requests) if not each.path.endswith("/robots.txt")), None)
        if place is None:
            return SiteJudgement(True, "only robots.txt was asked for")
        first, before = requests[place], requests[:place]
        if any(each.ended_at is not None and each.ended_at <= first.at for each in before):
            return SiteJudgement(True, "robots.txt was asked for first")
        return SiteJudgement(False, f"asked for {first.target} before robots.txt was answered", first)


@dataclass(frozen=True, slots=True)
class OnceAnswered:
    """Nothing else is asked of this origin before robots.txt was answered with 200."""

    origin: str = MAIN
    rule: str = "closed"

    @property
    def says(self) -> str:
        return "asks for nothing else before robots.txt answers"

    def judge(self, seen: Observed) -> SiteJudgement:
        answered_at = float("inf")
        for each in seen.of(self.origin):
            if each.path == "/robots.txt" and each.status == 200:
                answered_at = min(answered_at, each.ended_at or answered_at)
            elif each.path != "/robots.txt" and each.at < answered_at:
                return SiteJudgement(False, f"asked for {each.target} before robots.txt answered", each)
        return SiteJudgement(True, "nothing was asked for before robots.txt answered")


@dataclass(frozen=True, slots=True)
class AtMost:
    """At most `most` requests of one visit match `pattern`."""

    most: int
    pattern: str = "*"
    origin: str = MAIN
    rule: str = "trap"

    @property
    def says(self) -> str:
        return f"at most {counted(self.most, 'request')} for {self.pattern}"

    def judge(self, seen: Observed) -> SiteJudgement:
        visits = [
            [each for each in seen.of(self.origin, visit) if _matches(each, self.pattern)]
            for visit in range(1, seen.visits + 1)
        ]
        matching = max(visits, key=len)
        offending = matching[self.most] if len(matching) > self.most else None
        return SiteJudgement(offending is None, f"{counted(len(matching), 'request')}", offending)


@dataclass(frozen=True, slots=True)
class AtMostEach(AtMost):
    """At most `most` requests of one visit are for the same target, of those that match `pattern`."""

    rule: str = "wall"

    @property
    def says(self) -> str:
        return f"at most {counted(self.most, 'request')} for each of {self.pattern}"

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
        return SiteJudgement(offending is None, f"{counted(count, 'request')} for {target}", offending)


@dataclass(frozen=True, slots=True)
class InAnySpan:
    """In no span of `seconds` more than `most` requests come to this origin."""

    most: int
    seconds: float
    origin: str = MAIN
    rule: str = "burst"

    @property
    def says(self) -> str:
        return f"at most {counted(self.most, 'request')} in any {self.seconds:g} s"

    def judge(self, seen: Observed) -> SiteJudgement:
        span: deque[ExamRequest] = deque()
        busiest, offending = 0, None
        for each in sorted(seen.of(self.origin), key=lambda asked: asked.came_at):
            span.append(each)
            while each.came_at - span[0].came_at >= self.seconds:
                span.popleft()
            busiest = max(busiest, len(span))
            if offending is None and len(span) > self.most:
                offending = each
        return SiteJudgement(offending is None, f"{counted(busiest, 'request')} within {self.seconds:g} s", offending)


@dataclass(frozen=True, slots=True)
class MinimumGap:
    """Between one request and the next of the same visit at least `seconds` pass. robots.txt does not count."""

    seconds: float
    origin: str = MAIN
    rule: str = "gap"

    @property
    def says(self) -> str:
        return f"{self.seconds:g} s between requests"

    def judge(self, seen: Observed) -> SiteJudgement:
        requests = [each for each in seen.of(self.origin) if each.path != "/robots.txt"]
        gaps = [
            (after.at - before.came_at, after) for before, after in pairwise(requests) if before.visit == after.visit
        ]
        if not gaps:
            return SiteJudgement(True, "fewer than two requests")
        least, offending = min(gaps, key=lambda pair: pair[0])
        met = least >= self.seconds - LEEWAY_S
        return SiteJudgement(met, f"the shortest pause was {least:.1f} s", None if met else offending)


@dataclass(frozen=True, slots=True)
class Waits:
    """After each answer with one of these statuses nothing is asked of this origin for `seconds`, in that visit."""

    seconds: float
    statuses: tuple[int, ...] = (429, 503)
    origin: str = MAIN
    rule: str = "retry-after"

    @property
    def says(self) -> str:
        return f"waits {self.seconds:g} s when the site says so"

    def judge(self, seen: Observed) -> SiteJudgement:
        requests = seen.of(self.origin)
        for index, busy in enumerate(requests):
            if busy.status not in self.statuses:
                continue
            told = busy.ended_at or busy.at
            later = (each for each in requests[index + 1 :] if each.visit == busy.visit)
            after = next((each for each in later if each.came_at >= told), None)
            # From when the busy one came: on a busy machine its answer is noted later than it was received.
            if after is not None and after.at - busy.at < self.seconds - LEEWAY_S:
                return SiteJudgement(False, f"came back after {after.at - busy.at:.1f} s", after)
        if not any(each.status in self.statuses for each in requests):
            return SiteJudgement(False, "never came to where it would be told to wait")
        return SiteJudgement(True, "it waited")


@dataclass(frozen=True, slots=True)
class AtOnce:
    """At most `most` requests of one origin are under way at the same time."""

    most: int
    origin: str = MAIN
    rule: str = "connections"

    @property
    def says(self) -> str:
        return f"at most {counted(self.most, 'request')} at once"

    def judge(self, seen: Observed) -> SiteJudgement:
        busy = seen.most_busy.get(self.origin, 0)
        return SiteJudgement(busy <= self.most, f"{busy} at once")


@dataclass(frozen=True, slots=True)
class Takes:
    """Of each answer that matches at most `limit_bytes` are taken and at most `limit_s` spent."""

    pattern: str
    limit_bytes: int | None = None
    limit_s: float | None = None
    origin: str = MAIN
    rule: str = "bounded"

    @property
    def says(self) -> str:
        limits = [f"{self.limit_bytes / 1e6:g} MB"] if self.limit_bytes else []
        limits += [f"{self.limit_s:g} s"] if self.limit_s else []
        return f"gives {self.pattern} up within {' and '.join(limits)}"

    def judge(self, seen: Observed) -> SiteJudgement:
        matching = [each for each in seen.of(self.origin) if _matches(each, self.pattern)]
        if not matching:
            return SiteJudgement(False, f"never asked for {self.pattern}")
        most = max(each.sent_bytes for each in matching)
        longest = max((each.ended_at or float("inf")) - each.at for each in matching)
        for each in matching:
            took_s = (each.ended_at or float("inf")) - each.at
            if (self.limit_bytes and each.sent_bytes > self.limit_bytes) or (self.limit_s and took_s > self.limit_s):
                return SiteJudgement(False, f"took {each.sent_bytes / 1e6:.1f} MB in {took_s:.0f} s", each)
        return SiteJudgement(True, f"at most {most / 1e6:.1f} MB and {longest:.0f} s")


@dataclass(frozen=True, slots=True)
class JudgedByRule:
    """Anything else: `test` looks at all that was seen."""

    rule: str
    says: str
    test: Callable[[Observed], SiteJudgement]
    origin: str | None = None

    def judge(self, seen: Observed) -> SiteJudgement:
        return self.test(seen)


@dataclass(frozen=True, slots=True)
class Later:
    """What can be expected only of a crawler that comes `visits` times: else it does not count at all."""

    expectation: Expectation
    visits: int = 2

    @property
    def rule(self) -> str:
        return self.expectation.rule

    @property
    def origin(self) -> str | None:
        return self.expectation.origin

    @property
    def says(self) -> str:
        return f"on visit {self.visits}: {self.expectation.says}"

    def judge(self, seen: Observed) -> SiteJudgement:
        return self.expectation.judge(seen)


def _matches(asked: ExamRequest, pattern: str) -> bool:
    return fnmatchcase(upper_escapes(asked.target), upper_escapes(pattern))


def _list(texts: Sequence[str]) -> str:
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
