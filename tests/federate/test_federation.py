"""Several services at once: which ones are left out and why, and what they are asked."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from types import MappingProxyType

import pytest

from goodbot.errors import InputError
from goodbot.federate import Federation, Merged, read_named
from goodbot.federate.asked_service import BUSY, FAILURES, IN_FLIGHT, KEPT_S, PAUSE_S, PER_MINUTE
from goodbot.federate.fetching import MAX_ANSWER_BYTES
from goodbot.federate.rounds import MAX_ROUNDS
from goodbot.one_shot import service_request
from goodbot.ports import Transport
from goodbot.search_values import Hit
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Capture, Failure, Request, Response

Answers = Mapping[str, Response | Failure | Callable[[Request], Response | Failure]]

NAMED = "https://{}.example/?q={{searchTerms}}&p={{startPage?}}"
A, B = NAMED.format("a"), NAMED.format("b")


def found(*names: str, total: int | None = None) -> Response:
    hits = [{"url": f"https://pages.example/{name}", "title": name, "snippet": ""} for name in names]
    more = {} if total is None else {"total": total}
    return Response(200, (("Content-Type", "application/json"),), json.dumps({"hits": hits, **more}).encode())


def asked(service: str, query: str = "x", page: int = 1) -> str:
    return f"https://{service}.example/?q={query}&p={page}"


def redirect(target: str) -> Response:
    return Response(302, (("Location", target),), b"")


class SlowWeb(FakeWeb):
    """Answers of the hosts in `slow` take ten seconds, others `usual_s`."""

    slow: Sequence[str] = ()
    usual_s = 0.1

    async def send(self, request: Request) -> Capture:
        self._elapsed_s = 10.0 if request.url.host in self.slow else self.usual_s
        return await super().send(request)


class World:
    """Services in memory."""

    def __init__(self, answers: Answers, *named: str, slow: Sequence[str] = (), peer: str | None = None) -> None:
        self.clock = FakeClock()
        self.web = SlowWeb(answers, self.clock, peer=peer)
        self.web.slow = slow
        self.federation = Federation(map(read_named, named), self._open, service_request, self.clock)

    @asynccontextmanager
    async def _open(self) -> AsyncIterator[Transport]:
        yield self.web

    async def search(self, query: str = "x", needed: int = 10, own: Sequence[str] | None = None) -> Merged:
        async def own_hits(before: int) -> Sequence[Hit]:
            urls = [f"https://pages.example/{name}" for name in (own or ())[before : before + 10]]
            return [Hit(url, url, url[-1], "", 1.0) for url in urls]

        return await self.federation.search(query, own_hits if own is not None else None, needed)

    @property
    def sent(self) -> list[str]:
        return [request.url.text for request in self.web.requests]


def names(merged: Merged) -> str:
    return "".join(each.hit.url[-1] for each in merged.hits)


async def test_hits_are_merged_and_marked_with_their_sources() -> None:
    world = World({asked("a"): found(*"ab", total=2), asked("b"): found(*"bc", total=2)}, A, B)
    merged = await world.search(own="bd")
    assert names(merged) == "badc"
    assert [[(rank.source, rank.rank) for rank in each.sources] for each in merged.hits] == [
        [("this index", 1), ("a.example", 2), ("b.example", 1)],
        [("a.example", 1)],
        [("this index", 2)],
        [("b.example", 2)],
    ]
    assert [(each.name, each.state, each.hits) for each in merged.sources] == [
        ("this index", "answered", 2),
        ("a.example", "answered", 2),
        ("b.example", "answered", 2),
    ]
    assert (merged.is_complete, merged.can_continue) == (True, False)


LONG = Response(200, (), b"x" * (MAX_ANSWER_BYTES + 1))
HALF = Response(200, (), found(*"ab").body[:40], truncated="disconnect")

# what a service does → why it is left out
TROUBLES: list[tuple[str, Response | Failure, str]] = [
    ("refuses", Failure("connect", "connection refused"), "no answer: connection refused"),
    ("rubbish", Response(200, (), b"<html>hello</html>"), "its answer has no search results that can be read"),
    ("missing", Response(404, (), b""), "it answers with status 404"),
    ("too many", Response(429, (("Retry-After", "30"),), b""), "it asks to wait (status 429)"),
    ("long", LONG, "its answer is longer than 2048 KiB"),
    ("cut off", Response(200, (), b"{", truncated="length"), "its answer is longer than 2048 KiB"),
    ("half", HALF, "its answer ends too early, or is damaged"),
    ("damaged", Response(200, (("Content-Encoding", "gzip"),), b"x"), "its answer ends too early, or is damaged"),
    (
        "another site",
        redirect("https://other.example/?q=x"),
        "it redirects to another site: https://other.example/?q=x",
    ),
    ("a private site", redirect("http://127.0.0.1/?q=x"), "it redirects to another site: http://127.0.0.1/?q=x"),
    ("down to http", redirect("http://a.example/"), "it redirects to another site: http://a.example/"),
    ("no URL", redirect("javascript:alert(1)"), "it redirects to another site: javascript:alert(1)"),
    ("for ever", redirect(asked("a")), "it redirects too often"),
]


@pytest.mark.parametrize(("answer", "why"), [row[1:] for row in TROUBLES], ids=[row[0] for row in TROUBLES])
async def test_a_service_that_fails_is_named(answer: Response | Failure, why: str) -> None:
    world = World({asked("a"): answer, asked("b"): found("b")}, A, B)
    merged = await world.search()
    assert names(merged) == "b"
    assert [(each.name, each.state, each.why) for each in merged.left_out] == [("a.example", "failed", why)]
    assert len(world.sent) <= 8


async def test_a_service_that_hangs_is_named() -> None:
    world = World({asked("a"): found("a"), asked("b"): found("b")}, A, B, slow=["a.example"])
    merged = await world.search()
    assert names(merged) == "b"
    assert [(each.name, each.state, each.why) for each in merged.left_out] == [
        ("a.example", "late", "it did not answer within 2 s")
    ]
    assert [(each.url, round(each.took_ms)) for each in merged.sources] == [(A, 2000), (B, 100)]


async def test_the_time_of_our_own_index_is_measured() -> None:
    world = World({}, A)

    async def own(before: int) -> Sequence[Hit]:
        world.clock.advance(0.25)
        return []

    merged = await world.federation.search("x", own)
    assert [round(each.took_ms) for each in merged.sources] == [250, 100]


async def test_a_redirect_within_a_service_is_followed() -> None:
    world = World({asked("a"): redirect("https://www.a.example/?q=x"), "https://www.a.example/?q=x": found("a")}, A)
    assert names(await world.search()) == "a"


async def test_after_a_public_answer_no_private_address_is_reached() -> None:
    world = World({asked("a"): redirect("/2"), "https://a.example/2": found("a")}, A, peer="192.0.2.1")
    world.web = SlowWeb({asked("a"): redirect("/2"), "https://a.example/2": found("a")}, world.clock, peer="9.9.9.9")
    await world.search()
    assert [request.public_only for request in world.web.requests] == [False, True]


# ---- rounds ---------------------------------------------------------------------------------------------------------


def numbered(service: str, pages: int) -> dict[str, Response]:
    return {
        asked(service, page=page): found(*(f"{service}{10 * page + n}" for n in range(10)), total=10 * pages)
        for page in range(1, pages + 1)
    }


async def test_later_pages_leave_the_earlier_ones_as_they_are() -> None:
    world = World({**numbered("a", 3), **numbered("b", 2)}, A, B)
    first = await world.search(needed=10)
    assert (len(first.hits), first.can_continue, len(world.sent)) == (20, True, 2)
    more = await world.search(needed=45)
    assert [each.hit.url for each in more.hits][:20] == [each.hit.url for each in first.hits]
    assert (len(more.hits), more.is_complete) == (50, True)
    assert sorted(world.sent) == sorted([*numbered("a", 3), *numbered("b", 2)]), "each is asked once"


async def test_a_service_that_hangs_does_not_keep_others_from_their_later_pages() -> None:
    world = World(numbered("a", 3), A, B, slow=["b.example"])
    merged = await world.search(needed=30, own="xyz")
    assert [(each.hits, each.state) for each in merged.sources] == [(3, "answered"), (30, "answered"), (0, "late")]
    assert len(merged.hits) == 33


PAGED = "https://a.example/?q={searchTerms}&i={startIndex}"
AT_ONCE = "https://a.example/?q={searchTerms}&n={count}"


def listing(size: int, total: int, *, states: bool = True) -> Callable[[Request], Response]:
    """A service with `total` hits, of which it sends `size` at a time, or as many as the request says."""

    def answer(request: Request) -> Response:
        asked = dict(field.split("=") for field in request.url.target.partition("?")[2].split("&"))
        start = int(asked.get("i", 1))
        end = min(start + (int(asked["n"]) if "n" in asked else size), total + 1)
        return found(*(f"p{rank}" for rank in range(start, end)), total=total if states else None)

    return answer


# template, hits at a time, hits in all, whether the total is stated, hits needed → requests, hits
PAGES: list[tuple[str, str, int, int, bool, int, int, int]] = [
    ("ten at a time", PAGED, 10, 70, True, 30, 3, 30),
    ("five at a time", PAGED, 5, 70, True, 10, 2, 10),
    ("five at a time, for two pages", PAGED, 5, 70, True, 20, 4, 20),
    ("five at a time, for all", PAGED, 5, 70, True, 900, 5, 25),
    ("five at a time, unstated: no more", PAGED, 5, 70, False, 20, 1, 5),
    ("seven at a time", PAGED, 7, 70, True, 20, 3, 20),
    ("25 at a time", PAGED, 25, 70, True, 10, 1, 10),
    ("25 at a time, for two pages", PAGED, 25, 70, True, 20, 1, 20),
    ("25 at a time, for all", PAGED, 25, 70, True, 900, 2, 50),
    ("100 at a time", PAGED, 100, 300, True, 900, 1, 50),
    ("100 at a time, unstated", PAGED, 100, 300, False, 10, 1, 10),
    ("no pages, but a number", AT_ONCE, 0, 70, True, 10, 1, 10),
    ("no pages, but a number, for all", AT_ONCE, 0, 70, True, 900, 1, 50),
]


@pytest.mark.parametrize(
    ("named", "size", "total", "states", "needed", "requests", "hits"),
    [row[1:] for row in PAGES],
    ids=[row[0] for row in PAGES],
)
async def test_services_that_send_another_number_of_hits(
    named: str, size: int, total: int, states: bool, needed: int, requests: int, hits: int
) -> None:
    world = World(Always(listing(size, total, states=states)), named)
    merged = await world.search(needed=needed)
    assert len(world.sent) == requests
    assert [each.sources[0].rank for each in merged.hits] == list(range(1, hits + 1))
    assert (merged.sources[0].hits, merged.sources[0].why) == (hits, "")


async def test_long_answers_do_not_drown_the_others() -> None:
    """The second ten hits of a service come after the first ten of each other one, in however few answers."""
    answers: Answers = {"https://a.example/?q=x&i=1": found(*(f"a{rank}" for rank in range(1, 101)), total=100)}
    world = World({**answers, **numbered("b", 5)}, PAGED, B)
    merged = await world.search(needed=40)
    for number in range(2):
        assert {each.sources[0].source for each in merged.hits[20 * number : 20 * number + 20]} == {
            "a.example",
            "b.example",
        }
        assert sorted(each.sources[0].rank for each in merged.hits[20 * number : 20 * number + 20]) == sorted(
            2 * list(range(10 * number + 1, 10 * number + 11))
        )


async def test_a_service_that_repeats_its_first_page_has_no_more() -> None:
    world = World(Always(found(*(f"p{rank}" for rank in range(10)), total=70)), PAGED)
    merged = await world.search(needed=50)
    assert (len(world.sent), len(merged.hits), merged.sources[0].hits, merged.is_complete) == (2, 10, 10, True)


async def test_an_answer_that_was_cut_counts_as_far_as_it_goes() -> None:
    feed = "<feed>" + "".join(f'<entry><link href="https://pages.example/{letter}"/></entry>' for letter in "ab")
    world = World({asked("a"): Response(200, (), feed.encode())}, A)
    merged = await world.search(needed=50)
    assert (len(world.sent), names(merged)) == (1, "ab")
    assert [(each.state, each.why) for each in merged.left_out] == [
        ("answered", "its answer ends too early, or is damaged")
    ]


async def test_no_service_is_asked_for_ever() -> None:
    world = World(numbered("a", 99), A)
    merged = await world.search(needed=900)
    assert len(world.sent) == MAX_ROUNDS
    assert (merged.is_complete, merged.can_continue) == (False, False)


async def test_what_a_service_sent_before_it_failed_stays() -> None:
    world = World({asked("a"): found(*"abcdefghij"), asked("a", page=2): Response(500, (), b"")}, A)
    merged = await world.search(needed=20)
    assert (names(merged), merged.is_complete) == ("abcdefghij", True)
    assert [(each.state, each.hits, each.why) for each in merged.left_out] == [
        ("answered", 10, "it answers with status 500")
    ]


async def test_entries_that_are_no_hits_count_for_ranks_and_places() -> None:
    named = "https://a.example/?q={searchTerms}&i={startIndex}"
    hits = [{"url": f"https://pages.example/{n}"} if n > 2 else {"url": "javascript:x"} for n in range(10)]
    answers: Answers = {
        "https://a.example/?q=x&i=1": Response(200, (), json.dumps({"hits": hits, "total": 11}).encode()),
        "https://a.example/?q=x&i=11": found("z", total=11),
    }
    world = World(answers, named)
    merged = await world.search(needed=20)
    assert [each.sources[0].rank for each in merged.hits] == [4, 5, 6, 7, 8, 9, 10, 11]
    assert (merged.sources[0].hits, merged.is_complete) == (8, True)


async def test_a_service_without_pages_is_asked_once() -> None:
    world = World({"https://a.example/?q=x": found("a")}, "https://a.example/?q={searchTerms}")
    merged = await world.search(needed=50)
    assert (len(world.sent), names(merged), merged.is_complete) == (1, "a", True)


# ---- what is sent ---------------------------------------------------------------------------------------------------


async def test_only_the_query_is_sent() -> None:
    world = World({}, "https://a.example/?q={searchTerms}&l={language?}")
    await world.search("crawl\x00 delay\n\u202e\x1b[1m ")
    (request,) = world.web.requests
    assert request.url == Url("https://a.example/?q=crawl%20delay%20%5B1m")
    assert request.headers == ()


async def test_a_query_that_is_too_long_is_not_sent() -> None:
    world = World({}, A)
    merged = await world.search("x" * 9000)
    assert [each.why for each in merged.left_out] == ["the query does not fit into its URL"]
    assert world.sent == []


async def test_an_error_of_the_own_index_comes_first() -> None:
    world = World({}, A)

    async def own(before: int) -> Sequence[Hit]:
        raise InputError("no such date")

    with pytest.raises(InputError, match="no such date"):
        await world.federation.search("x", own)
    assert world.sent == []


# ---- limits ---------------------------------------------------------------------------------------------------------


async def test_an_answer_is_kept_for_a_while() -> None:
    world = World({asked("a"): found("a", total=1)}, A)
    for _ in range(3):
        assert names(await world.search()) == "a"
    assert len(world.sent) == 1
    world.clock.advance(KEPT_S)
    await world.search()
    assert len(world.sent) == 2


async def test_a_service_that_failed_repeatedly_is_not_asked_for_a_while() -> None:
    world = World({asked("a"): Response(500, (), b"")}, A)
    for _ in range(FAILURES + 2):
        merged = await world.search()
    assert len(world.sent) == FAILURES
    assert merged.left_out[0].why.endswith("s, since it failed: it answers with status 500")
    world.clock.advance(PAUSE_S)
    await world.search()
    assert len(world.sent) == FAILURES + 1


async def test_a_service_that_asks_to_wait_is_not_asked_meanwhile() -> None:
    world = World({asked("a"): Response(503, (("Retry-After", "30"),), b"")}, A)
    await world.search()
    await world.search()
    assert len(world.sent) == 1
    world.clock.advance(31)
    await world.search()
    assert len(world.sent) == 2


async def test_a_service_gets_few_requests_at_a_time_and_a_minute() -> None:
    queries = [f"x{number}" for number in range(PER_MINUTE + 20)]
    world = World({asked("a", query): found("a", total=1) for query in queries}, A)
    for start in range(0, len(queries), 20):
        await asyncio.gather(*(world.search(query) for query in queries[start : start + 20]))
    assert world.web.most_in_flight == IN_FLIGHT
    assert len(world.sent) == PER_MINUTE


async def searches(world: World, count: int) -> list[tuple[str, str]]:
    """Returns state and reason of the first service in searches at the same time, each for something else."""
    number = len(world.sent)
    merged = await asyncio.gather(*(world.search(f"x{number}-{each}") for each in range(count)))
    return sorted((each.sources[0].state, each.sources[0].why) for each in merged)


class Always(dict[str, Response | Callable[[Request], Response]]):
    """The same answer to each other URL."""

    def __init__(
        self,
        answer: Response | Callable[[Request], Response],
        others: Mapping[str, Response] = MappingProxyType({}),
    ) -> None:
        super().__init__(others)
        self.answer = answer

    def get(self, url: str, default: object = None) -> Response | Callable[[Request], Response]:
        return super().get(url, self.answer)


LATE = "it did not answer within 2 s"


async def test_a_visitor_who_waits_in_our_queue_is_no_failure_of_the_service() -> None:
    world = World(Always(found("a", total=1)), A)
    world.web.usual_s = 1.2
    for _ in range(FAILURES + 1):
        assert await searches(world, 10) == [("answered", "")] * IN_FLIGHT + [("late", BUSY)] * (10 - IN_FLIGHT)
    assert await searches(world, 1) == [("answered", "")]


async def test_failures_at_the_same_time_count_once() -> None:
    world = World(Always(Response(500, (), b"")), A)
    for _ in range(FAILURES):
        assert await searches(world, IN_FLIGHT) == [("failed", "it answers with status 500")] * IN_FLIGHT
    ((_, why),) = await searches(world, 1)
    assert why == f"it is not asked for {PAUSE_S:g} s, since it failed: it answers with status 500"


async def test_a_service_that_hangs_is_paused_also_if_many_wait_for_it() -> None:
    world = World({}, A, slow=["a.example"])
    for _ in range(FAILURES):
        assert await searches(world, 10) == [("late", LATE)] * IN_FLIGHT + [("late", BUSY)] * (10 - IN_FLIGHT)
    ((_, why),) = await searches(world, 1)
    assert why == f"it is not asked for {PAUSE_S:g} s, since it failed: {LATE}"


async def test_a_service_that_hangs_is_paused_if_visitors_come_all_the_time() -> None:
    world = World({}, A, slow=["a.example"])

    async def come(number: int) -> str:
        await world.clock.sleep(number * 0.3)
        merged = await world.search(f"x{number}")
        return merged.sources[0].why

    reasons = await asyncio.gather(*map(come, range(40)))
    assert reasons[-1].startswith("it is not asked for ")


async def test_our_own_limits_start_no_pause() -> None:
    world = World(Always(found("a", total=1), {HOME: description(template("json", A))}), HOME)
    world.web.usual_s = 0.0
    for _ in range(FAILURES + 2):
        merged = await world.search("x" * 9000)
        assert [(each.name, each.why) for each in merged.sources] == [("Alpha", "the query does not fit into its URL")]
    ours = ("failed", f"it gets no more than {PER_MINUTE} requests a minute")
    assert await searches(world, PER_MINUTE + 9) == [("answered", "")] * (PER_MINUTE - 1) + [ours] * 10
    world.clock.advance(60)
    assert [(each.name, each.why) for each in (await world.search()).sources] == [("Alpha", "")]


async def test_a_service_that_failed_keeps_its_name_and_is_described_anew() -> None:
    answers: dict[str, Response | Failure] = {HOME: description(template("json", A))}
    world = World(answers, HOME)
    for _ in range(FAILURES + 1):
        assert [each.name for each in (await world.search()).sources] == ["Alpha"]
    assert world.federation.places() == (("Alpha", "a.example"),)
    answers |= {HOME: description(template("json", B.replace("b.", "b.a."))), asked("b.a"): found("b", total=1)}
    world.clock.advance(PAUSE_S)
    assert names(await world.search()) == "b"


# ---- descriptions ---------------------------------------------------------------------------------------------------

HOME = "https://a.example/"


def description(*urls: str, name: str = "Alpha") -> Response:
    body = f"<OpenSearchDescription><ShortName>{name}</ShortName>{''.join(urls)}</OpenSearchDescription>"
    return Response(200, (("Content-Type", "application/opensearchdescription+xml"),), body.encode())


def template(kind: str, text: str) -> str:
    return f'<Url type="application/{kind}" template="{text}"/>'


PAGE = Response(
    200,
    (("Content-Type", "text/html"),),
    b'<link rel="search" type="application/opensearchdescription+xml" href="/os.xml">',
)


async def test_a_home_page_leads_to_the_search() -> None:
    answers = {HOME: PAGE, f"{HOME}os.xml": description(template("json", A)), asked("a"): found("a", total=1)}
    world = World(answers, HOME)
    assert await world.federation.describe() == ()
    assert world.federation.places() == (("Alpha", "a.example"),)
    merged = await world.search()
    assert [each.name for each in merged.sources] == ["Alpha"]
    assert world.sent == [HOME, f"{HOME}os.xml", asked("a")]


async def test_a_page_that_is_no_search_is_not_offered() -> None:
    world = World({HOME: Response(200, (), b"<p>hello")}, HOME, B)
    (report,) = await world.federation.describe()
    assert (report.is_lasting, report.why.partition(":")[0]) == (True, "it is no search")
    assert world.federation.places() == (("b.example", "b.example"),)
    assert [each.name for each in (await world.search()).sources] == ["b.example"]
    assert world.sent.count(HOME) == 1


async def test_who_gets_the_query_is_known_before() -> None:
    answers = {HOME: description(template("json", NAMED.format("api.a"))), asked("api.a"): found("a", total=1)}
    world = World(answers, HOME, "https://down.example/", B)
    absent = await world.federation.describe()
    assert [(each.name, each.state) for each in absent] == [("down.example", "failed")]
    assert world.federation.receivers(absent) == ("api.a.example", "b.example")
    merged = await world.federation.search("x", without=absent)
    assert [each.name for each in merged.sources] == ["Alpha", "down.example", "b.example"]
    assert merged.sources[1] == absent[0]
    assert world.sent.count("https://down.example/") == 1


async def test_a_description_that_asks_to_wait_is_left_alone_meanwhile() -> None:
    world = World({HOME: Response(503, (("Retry-After", "100"),), b"")}, HOME)
    await world.federation.describe()
    assert (await world.search()).sources[0].why.startswith("it is not asked for 100 s")
    world.clock.advance(101)
    await world.search()
    assert world.sent == [HOME, HOME]


@pytest.mark.parametrize(
    ("stated", "query", "sent"),
    [
        ("ISO-8859-2", "zażółć ☃", "za%BF%F3%B3%E6%20%26%239731%3B"),
        ("US-ASCII", "été", "%26%23233%3Bt%26%23233%3B"),
        ("koi8-r", "жук", "%D6%D5%CB"),
        ("UTF-8", "жук", "%D0%B6%D1%83%D0%BA"),
    ],
)
async def test_queries_are_sent_in_the_encoding_that_the_service_wants(stated: str, query: str, sent: str) -> None:
    named = description(
        template("json", "https://a.example/?q={searchTerms}&amp;e={inputEncoding}"),
        f"<InputEncoding>{stated}</InputEncoding>",
    )
    world = World({HOME: named}, HOME)
    await world.search(query)
    assert world.sent[1] == f"https://a.example/?q={sent}&e={stated}"


async def test_a_description_that_is_late() -> None:
    world = World({HOME: description(template("json", A))}, HOME, slow=["a.example"])
    (report,) = await world.federation.describe()
    assert (report.state, report.why, round(report.took_ms)) == ("late", LATE, 2000)


async def test_a_service_that_is_named_twice_is_asked_once() -> None:
    world = World({asked("a"): found("a", total=1)}, A, f" {A}")
    assert len((await world.search()).sources) == len(world.sent) == 1


async def test_a_service_that_is_away_at_first_is_found_later() -> None:
    answers: dict[str, Response | Failure] = {HOME: Failure("connect", "connection refused")}
    world = World(answers, HOME)
    (report,) = await world.federation.describe()
    assert (report.name, report.is_lasting) == ("a.example", False)
    answers |= {HOME: description(template("json", A)), asked("a"): found("a", total=1)}
    assert names(await world.search()) == "a"


async def test_a_form_that_cannot_be_read_gives_way_to_the_next() -> None:
    atom = '<feed><entry><title>z</title><link href="https://pages.example/z"/></entry></feed>'
    answers = {
        HOME: description(
            template("json", f"{HOME}j?q={{searchTerms}}"), template("atom+xml", f"{HOME}f?q={{searchTerms}}")
        ),
        f"{HOME}j?q=x": Response(200, (), b'["x", []]'),
        f"{HOME}f?q=x": Response(200, (), atom.encode()),
    }
    world = World(answers, HOME)
    assert names(await world.search()) == "z"
    await world.search("x")
    assert world.sent.count(f"{HOME}j?q=x") == 1


async def test_a_service_does_not_ask_itself() -> None:
    world = World({HOME: description(template("json", A)), asked("b"): found("b", total=1)}, HOME, B)
    world.federation.never_asks([HOME])
    (report,) = await world.federation.describe()
    assert report.why == "it is this service itself"
    merged = await world.search()
    assert [each.name for each in merged.sources] == ["b.example"]
    assert world.sent == [HOME, asked("b")]


async def test_two_services_of_one_name_are_told_apart() -> None:
    answers = {
        HOME: description(template("json", A)),
        "https://b.example/": description(template("json", B), name="alpha"),
        "https://c.example/": description(template("json", NAMED.format("c")), name="This index"),
    }
    world = World(answers, HOME, "https://b.example/", "https://c.example/")
    await world.federation.describe()
    assert [place.name for place in world.federation.places()] == [
        "Alpha (a.example)",
        "alpha (b.example)",
        "This index (c.example)",
    ]
