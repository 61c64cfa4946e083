"""Tests redirects of robots.txt over a fake web: each host's pace and own robots.txt, and one answer for many hosts."""

import asyncio
from collections.abc import Callable, Sequence
from itertools import pairwise

import pytest

from goodbot.config import Settings
from goodbot.robot.manners.permission import Permission, Permit
from goodbot.robot.manners.robots_redirects import KEPT_BYTES
from goodbot.testing import FakeClock, FakeWeb, MemoryFrontier
from goodbot.url import Url
from goodbot.values import Failure, Request, Response

Answers = dict[str, Response | Failure | Callable[[Request], Response | Failure]]
PUBLIC = "93.184.216.34"
HOME = "http://example.org"
CLOSED = b"User-agent: *\nDisallow: /private/\n"


def text(body: bytes = CLOSED, *headers: tuple[str, str], status: int = 200) -> Response:
    return Response(status, (("content-type", "text/plain"), *headers), body)


def to(target: str, *headers: tuple[str, str]) -> Response:
    return Response(302, (("location", target), *headers), b"")


class Scene:
    """A permission, and a web in which public hosts answer."""

    def __init__(self, answers: Answers, *, peer: str | None = PUBLIC, **settings: object) -> None:
        self.clock = FakeClock()
        self.answers = answers
        self.web = FakeWeb(answers, self.clock, peer=peer)
        self.store = MemoryFrontier()
        given = Settings(**{"address_delay": 0.0, **settings})  # type: ignore[arg-type]
        self.permission = Permission(given, "goodbot", self.web, self.store, self.clock)

    async def check(self, url: str) -> Permit:
        return await self.permission.check(Url(url))

    def asked(self, host: str) -> list[tuple[str, float]]:
        """What one host was asked, and how many seconds after the start."""
        sent = zip(self.web.requests, self.web.times, strict=True)
        return [(r.url.target, at - 1_700_000_000.0) for r, at in sent if r.url.host_key == host]


def gaps(asked: Sequence[tuple[str, float]]) -> list[float]:
    return [round(later - earlier, 6) for (_, earlier), (_, later) in pairwise(asked)]


async def test_fifty_hosts_that_redirect_to_one_url_cost_its_host_two_requests() -> None:
    hosts = [f"http://h{number}.example" for number in range(50)]
    rules = "http://third.example/all.txt"
    scene = Scene({**{host + "/robots.txt": to(rules) for host in hosts}, rules: text()})
    permits = await asyncio.gather(*(scene.check(host + "/private/x") for host in hosts))
    assert {(permit.verdict.allowed, permit.verdict.line) for permit in permits} == {(False, 2)}
    assert [target for target, _ in scene.asked("third.example")] == ["/robots.txt", "/all.txt"]
    assert min(gaps(scene.asked("third.example"))) >= 1.0


async def test_fifty_hosts_that_redirect_to_fifty_urls_of_one_host_keep_its_pace() -> None:
    hosts = {f"http://h{number}.example": f"http://third.example/{number}.txt" for number in range(50)}
    scene = Scene({**{host + "/robots.txt": to(rules) for host, rules in hosts.items()}})
    scene.answers.update((rules, text()) for rules in hosts.values())
    scene.answers["http://third.example/robots.txt"] = text(b"User-agent: *\nCrawl-delay: 3\n")

    async def until_known(host: str) -> Permit:
        while (permit := await scene.check(host + "/private/x")).held_until is not None:
            assert (permit.given_up, permit.verdict.allowed) == (False, False)
            assert "third.example" in permit.verdict.reason
            await scene.clock.sleep(permit.held_until - scene.clock.now())
        return permit

    permits = await asyncio.gather(*map(until_known, hosts))
    assert {permit.verdict.line for permit in permits} == {2}
    assert len(scene.asked("third.example")) == 51
    assert min(gaps(scene.asked("third.example"))[1:]) >= 3.0
    assert [len(scene.asked(Url(host + "/").host)) for host in hosts] == [1] * 50


async def test_redirects_on_one_host_keep_its_gap() -> None:
    way = {f"{HOME}/{number}": to(f"/{number + 1}") for number in range(1, 5)}
    scene = Scene({f"{HOME}/robots.txt": to("/1"), **way, f"{HOME}/5": text()})
    assert (await scene.check(f"{HOME}/private/x")).verdict.line == 2
    assert gaps(scene.asked("example.org")) == [1.0] * 5


@pytest.mark.parametrize(
    ("said_by", "asked"),
    [("example.org", ("/robots.txt", "/rules")), ("third.example", ("/robots.txt", "/away"))],
)
async def test_retry_after_on_a_redirect_is_heeded(said_by: str, asked: tuple[str, str]) -> None:
    wait = ("Retry-After", "3600")
    ways: dict[str, Answers] = {
        "example.org": {f"{HOME}/robots.txt": to("/rules", wait), f"{HOME}/rules": text()},
        "third.example": {
            f"{HOME}/robots.txt": to("http://third.example/robots.txt"),
            "http://third.example/robots.txt": to("/away", wait),
            "http://third.example/away": text(),
        },
    }
    scene = Scene(ways[said_by])
    held = await scene.check(f"{HOME}/private/x")
    assert held.held_until == pytest.approx(1_700_003_600.0)
    assert (held.verdict.access, held.given_up) == ("unreachable", False)
    scene.clock.advance(3600.0)
    assert (await scene.check(f"{HOME}/private/x")).verdict.line == 2
    assert [target for target, _ in scene.asked(said_by)] == list(asked)
    assert len(scene.web.requests) == len(asked) + (said_by == "third.example")


async def test_a_host_that_rests_holds_off_only_those_it_is_asked_for() -> None:
    busy = text(b"", ("Retry-After", "1800"), status=503)
    scene = Scene({"http://third.example/robots.txt": busy, f"{HOME}/robots.txt": to("http://third.example/r")})
    await scene.check("http://third.example/")
    permit = await scene.check(f"{HOME}/")
    assert not permit.verdict.allowed
    assert len(scene.asked("third.example")) == 1
    assert (await scene.check("http://fourth.example/")).verdict.allowed


async def test_while_a_host_rests_the_last_good_copy_rules() -> None:
    scene = Scene({f"{HOME}/robots.txt": text()})
    await scene.check(f"{HOME}/")
    scene.clock.advance(86_401.0)
    scene.answers[f"{HOME}/robots.txt"] = to("/later", ("Retry-After", "600"))
    permits = [await scene.check(f"{HOME}/private/x"), await scene.check(f"{HOME}/open")]
    assert [(p.verdict.allowed, p.held_until) for p in permits] == [(False, None), (True, None)]
    assert len(scene.asked("example.org")) == 2


# what the third host's own robots.txt says → whether ours is known then, how often the third host is asked
OWN_WORD: list[tuple[str, Response | Failure, bool, list[str]]] = [
    ("nothing", text(b""), True, ["/robots.txt", "/rules"]),
    ("there is none", text(b"", status=404), True, ["/robots.txt", "/rules"]),
    ("open", text(b"User-agent: *\nDisallow: /x\n"), True, ["/robots.txt", "/rules"]),
    ("closed", text(b"User-agent: *\nDisallow: /rules\n"), False, ["/robots.txt"]),
    ("unreachable", text(b"", status=500), False, ["/robots.txt"]),
    ("no answer", Failure("connect", "refused"), False, ["/robots.txt"]),
    ("it leads back to us", to(f"{HOME}/theirs"), True, ["/robots.txt", "/rules"]),
    ("it leads to itself", to("/robots.txt"), True, ["/robots.txt"] * 6 + ["/rules"]),
]


@pytest.mark.parametrize(("own", "known", "asked"), [c[1:] for c in OWN_WORD], ids=[c[0] for c in OWN_WORD])
async def test_deviation_another_host_is_asked_only_if_its_own_robots_txt_lets_us(
    own: Response | Failure, known: bool, asked: list[str]
) -> None:
    rules = "http://third.example/rules"
    answers: Answers = {f"{HOME}/robots.txt": to(rules), "http://third.example/robots.txt": own, rules: text()}
    scene = Scene({**answers, f"{HOME}/theirs": text(b"")}, delay=0.0, response_factor=0.0)
    permit = await scene.check(f"{HOME}/open")
    assert (permit.verdict.allowed, permit.verdict.access == "successful") == (known, known)
    assert list(dict.fromkeys(target for target, _ in scene.asked("third.example"))) == list(dict.fromkeys(asked))
    if not known:
        assert f"it redirects to {rules}, and there: " in permit.verdict.reason


async def test_two_that_wait_for_each_other_both_come_to_an_end() -> None:
    one, two = "http://one.example", "http://two.example"
    answers: Answers = {f"{one}/robots.txt": to(f"{two}/x"), f"{two}/robots.txt": to(f"{one}/y")}
    scene = Scene({**answers, f"{two}/x": text(), f"{one}/y": text()})
    permits = await asyncio.gather(scene.check(f"{one}/private/"), scene.check(f"{two}/private/"))
    assert [permit.verdict.line for permit in permits] == [2, 2]


async def test_a_row_of_hosts_without_end_comes_to_an_end() -> None:
    answers: Answers = {}
    for number in range(60):
        answers[f"http://h{number}.example/robots.txt"] = to(f"http://h{number + 1}.example/x")
        answers[f"http://h{number}.example/x"] = text()
    scene = Scene(answers)
    permit = await scene.check("http://h0.example/private/")
    assert (permit.verdict.allowed, permit.verdict.access) == (False, "unreachable")
    assert len(scene.web.requests) <= 6


async def test_an_answer_serves_until_it_is_stale_and_one_that_failed_until_it_is_due_again() -> None:
    rules = "http://third.example/robots.txt"
    for answer, again_s in ((text(CLOSED, ("Cache-Control", "max-age=100")), 100.0), (text(b"", status=500), 60.0)):
        scene = Scene({rules: answer, **{f"http://h{n}.example/robots.txt": to(rules) for n in range(3)}})
        for number, wait_s in ((0, 0.0), (1, again_s - 1), (2, 2.0)):
            scene.clock.advance(wait_s)
            await scene.check(f"http://h{number}.example/")
        assert len(scene.asked("third.example")) == 2


async def test_answers_that_are_kept_are_bounded() -> None:
    answers: Answers = {}
    for number in range(20):
        answers[f"http://h{number}.example/robots.txt"] = to(f"http://t{number}.example/robots.txt")
        answers[f"http://t{number}.example/robots.txt"] = text(CLOSED + b"# " + b"x" * 400_000)
    scene = Scene(answers)
    for number in range(20):
        assert (await scene.check(f"http://h{number}.example/private/")).verdict.line == 2
    kept = [kept.capture.result for kept in scene.permission._redirects._kept.values()]
    assert 0 < sum(len(result.body) for result in kept if isinstance(result, Response)) <= KEPT_BYTES


async def test_private_hosts_wait_for_nothing() -> None:
    local = "http://127.0.0.1:8000"
    answers: Answers = {f"{local}/robots.txt": to("/1"), f"{local}/1": to("/2"), f"{local}/2": text()}
    scene = Scene(answers, peer="127.0.0.1")
    assert (await scene.check(f"{local}/private/")).verdict.line == 2
    assert gaps(scene.asked("127.0.0.1:8000")) == [0.0, 0.0]


@pytest.mark.parametrize("status", [408, 421, 425])
async def test_who_asks_to_be_asked_again_is_asked_once_more(status: int) -> None:
    """RFC 9110 §15.5.9 and §15.5.20, RFC 8470 §5.2. The same answer again is a 4xx as any (RFC 9309 §2.3.1.3)."""
    for answers, is_allowed in (([status, 200], False), ([status, status], True), ([status, 404], True)):
        given = iter(answers)
        scene = Scene({f"{HOME}/robots.txt": lambda request, given=given: text(status=next(given))})  # type: ignore[misc]
        assert (await scene.check(f"{HOME}/private/x")).verdict.allowed is is_allowed
        assert gaps(scene.asked("example.org")) == [1.0]
        assert [request.fresh for request in scene.web.requests] == [False, True]
        assert (await scene.check(f"{HOME}/private/y")).verdict.allowed is is_allowed
        assert len(scene.web.requests) == 2


@pytest.mark.parametrize("at", [f"{HOME}/robots.txt", "http://third.example/rules"])
async def test_who_asks_to_be_asked_again_later_is_asked_then(at: str) -> None:
    wait = ("Retry-After", "30")
    for last in (200, 408):
        given = iter([text(b"", wait, status=408), text(CLOSED, wait, status=last)])
        scene = Scene({f"{HOME}/robots.txt": to("http://third.example/rules")})
        scene.answers[at] = lambda request, given=given: next(given)  # type: ignore[misc]
        held = await scene.check(f"{HOME}/private/x")
        assert (held.verdict.allowed, held.given_up) == (False, False)
        assert held.held_until is not None
        assert held.held_until >= 1_700_000_030.0
        scene.clock.advance(held.held_until - scene.clock.now())
        assert (await scene.check(f"{HOME}/private/x")).verdict.allowed is (last == 408)
        assert [request.fresh for request in scene.web.requests if request.url.text == at] == [False, True]
