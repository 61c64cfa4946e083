"""Sending batches to several services, with retries. The clock is not a real one, so waits take no time."""

from collections.abc import Iterator
from itertools import pairwise

import pytest

from goodbot.announce.announce_values import Batch, Change, Service, ServiceReport
from goodbot.announce.batches import body_of
from goodbot.announce.sending import Patience, Sender, plan_report
from goodbot.errors import RunError
from goodbot.one_shot import service_request
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Failure, Headers, Request, Response

ONE, TWO = (Service(name, Url(f"https://{name}.example/indexnow")) for name in ("one", "two"))
OK = Response(200, (), b"")
FAILED = Failure("timeout", "no answer in 30 s")


def batch(host: str = "a.example", *paths: str) -> Batch:
    changes = tuple(Change(Url(f"https://{host}{path}")) for path in paths or ("/",))
    return Batch(host, "0123456789", Url(f"https://{host}/0123456789.txt"), changes)


def make_post(url: Url, *, headers: Headers, body: bytes) -> Request:
    return service_request(url, method="POST", headers=headers, body=body)


PATIENT = Patience()


class Services:
    """Services that give these answers one after another; the last one again and again."""

    def __init__(self, **answers: list[Response | Failure]) -> None:
        self._left = {f"https://{name}.example/indexnow": iter_of(found) for name, found in answers.items()}
        self.clock = FakeClock()
        self.web = FakeWeb(dict.fromkeys(self._left, self._answer), self.clock)
        self.accepted: list[tuple[str, str]] = []
        self.progress: list[int] = []

    def _answer(self, request: Request) -> Response | Failure:
        return next(self._left[request.url.text])

    async def send(self, plan: dict[Service, list[Batch]], patience: Patience = PATIENT) -> list[ServiceReport]:
        sender = Sender(self.web, self.clock, make_post, self._accept, self.progress.append, patience)
        return await sender.send_all(plan)

    def _accept(self, service: Service, batch: Batch) -> None:
        self.accepted.append((service.name, batch.host))

    def waits(self) -> list[float]:
        """The seconds between the requests."""
        times = self.web.times
        return [later - earlier for earlier, later in pairwise(times)]


def iter_of(found: list[Response | Failure]) -> Iterator[Response | Failure]:
    yield from found
    while True:
        yield found[-1]


def busy(text: str | None = None) -> Response:
    return Response(429, () if text is None else (("Retry-After", text),), b"")


RETRIES = [
    ("at once", [OK], 1, [], True),
    ("asked to wait", [busy("30"), OK], 2, [30.0], True),
    ("asked not to wait", [busy("0"), OK], 2, [1.0], True),
    ("not asked", [busy(), busy(), OK], 3, [5.0, 10.0], True),
    ("trouble", [Response(503, (), b""), FAILED, OK], 3, [5.0, 10.0], True),
    ("mixed", [busy("30"), busy(), OK], 3, [30.0, 10.0], True),
    ("never", [FAILED], 5, [5.0, 10.0, 20.0, 40.0], False),
    ("asked to wait too long", [busy("7200")], 1, [], False),
    ("a redirect", [Response(307, (("Location", "/x"),), b"")], 1, [], False),
    ("refused", [Response(422, (), b"")], 1, [], False),
]


@pytest.mark.parametrize(
    ("answers", "tries", "waits", "is_accepted"), [case[1:] for case in RETRIES], ids=[case[0] for case in RETRIES]
)
async def test_retries(answers: list[Response | Failure], tries: int, waits: list[float], is_accepted: bool) -> None:
    services = Services(one=answers)
    (report,) = await services.send({ONE: [batch()]})
    (found,) = report.batches
    assert (found.tries, found.is_accepted, report.accepted) == (tries, is_accepted, int(is_accepted))
    assert services.waits() == waits
    assert services.accepted == [("one", "a.example")] * is_accepted
    for request in services.web.requests:
        assert (request.method, request.body) == ("POST", body_of(batch()))


async def test_the_wait_has_a_bound() -> None:
    services = Services(one=[FAILED])
    await services.send({ONE: [batch()]}, Patience(tries=6, first_wait_s=1, most_wait_s=4))
    assert services.waits() == [1, 2, 4, 4, 4]


@pytest.mark.parametrize(("asked", "shown"), [("7200", "2 h 0 min"), ("9" * 30, "more than a year")])
async def test_a_long_wait_is_left_to_the_user(asked: str, shown: str) -> None:
    (report,) = await Services(one=[busy(asked)]).send({ONE: [batch(), batch()]})
    assert f"asks to wait {shown}; announce again after that" in report.batches[0].meaning
    assert (report.batches[1].status, report.batches[1].tries) == (None, 0)


WHAT_FOLLOWS = [
    ("a refused batch", 422, ["sent", "sent", "sent"]),
    ("a refused host", 403, ["sent", "not sent", "sent"]),
    ("a service that is none", 404, ["sent", "not sent", "not sent"]),
    ("a service in trouble", 500, ["sent", "not sent", "not sent"]),
]


@pytest.mark.parametrize(("status", "expected"), [case[1:] for case in WHAT_FOLLOWS], ids=[x[0] for x in WHAT_FOLLOWS])
async def test_what_a_refusal_means_for_other_batches(status: int, expected: list[str]) -> None:
    services = Services(one=[Response(status, (), b"")])
    (report,) = await services.send({ONE: [batch("a.example"), batch("a.example"), batch("b.example")]})
    assert ["sent" if each.tries else "not sent" for each in report.batches] == expected
    assert (report.urls, report.accepted, services.progress) == (3, 0, [1, 1, 1])


async def test_services_do_not_wait_for_each_other() -> None:
    services = Services(one=[FAILED, FAILED, OK], two=[OK])
    one, two = await services.send({ONE: [batch()], TWO: [batch("a.example", "/", "/b"), batch("b.example")]})
    assert (one.accepted, two.accepted) == (1, 3)
    assert services.accepted == [("two", "a.example"), ("two", "b.example"), ("one", "a.example")]


async def test_a_public_service_gets_a_request_a_second() -> None:
    services = Services(one=[OK])
    await services.send({ONE: [batch(), batch(), batch()]})
    assert services.waits() == [1.0, 1.0]


async def test_a_full_disk_ends_all() -> None:
    services = Services(one=[OK], two=[FAILED])

    def full(service: Service, batch: Batch) -> None:
        raise RunError("the disk is full")

    sender = Sender(services.web, services.clock, make_post, full, services.progress.append)
    with pytest.raises(RunError, match="full"):
        await sender.send_all({ONE: [batch()], TWO: [batch()]})


def test_a_plan_sends_nothing() -> None:
    (report,) = plan_report({ONE: [batch("a.example", "/", "/b")]})
    assert [(each.urls, each.tries, each.status) for each in report.batches] == [(2, 0, None)]
