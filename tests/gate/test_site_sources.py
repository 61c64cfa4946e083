"""Where the gate gets its robots.txt files from: files that change, break and come back, and real servers."""

import asyncio
import os
from pathlib import Path

import pytest

from gate.gate_sockets import WITHIN_S
from goodbot.errors import GoodbotError, InputError
from goodbot.exclusion import LIMIT_BYTES, Access
from goodbot.gate.clients import Client
from goodbot.gate.site_sources import FETCH_EVERY_S, FIRST_RETRY_S, MOST_BYTES, RETRY_S, SiteSources
from goodbot.one_shot import fetch_access
from goodbot.url import Url
from webserver import Exchange, WebServer, answer

CLOSED = "User-agent: *\nDisallow: /private\n"
OPEN = "User-agent: *\nDisallow:\n"
ANYONE = Client("unverified", None, "")


def no_fetch(url: Url) -> Access:
    raise AssertionError("no URL is named")


def closes(sources: SiteSources, target: str = "/private", host: str = "example.org") -> bool | None:
    """Whether the rules of a host close a target; None without rules."""
    rules = sources.sites().rules(host)
    return None if rules is None else rules.of(ANYONE, "FooBot", named_only=False).disallows((target,)) is not None


def settled(sources: SiteSources, passed_s: float = 1.0) -> bool:
    """Looks at the sources twice, as the gate does within two seconds."""
    first = sources.refresh(passed_s)
    return sources.refresh(passed_s) or first


# ---- files ----------------------------------------------------------------------------------------------------------


@pytest.fixture
def robots(tmp_path: Path) -> Path:
    file = tmp_path / "robots.txt"
    file.write_text(CLOSED)
    return file


@pytest.fixture
def sources(robots: Path) -> SiteSources:
    found = SiteSources(str(robots), {}, no_fetch)
    found.load(0.0)
    assert closes(found)
    return found


def test_a_changed_file_is_taken_over_when_it_has_settled(robots: Path, sources: SiteSources) -> None:
    assert not sources.refresh(1.0)
    robots.write_text(OPEN)
    assert not sources.refresh(2.0)
    assert closes(sources)
    assert sources.refresh(3.0)
    assert not closes(sources)
    assert not sources.refresh(4.0)


def test_a_file_that_still_grows_is_not_taken_over(robots: Path, sources: SiteSources) -> None:
    with robots.open("w") as file:
        for number in range(10):
            file.write(f"User-agent: bot{number}\nDisallow: /\n")
            file.flush()
            assert not sources.refresh(1.0 + number)
            assert closes(sources)
        file.write(OPEN)
    assert settled(sources)
    assert not closes(sources)


def test_other_bytes_with_the_same_time_and_size_are_noticed(robots: Path, sources: SiteSources) -> None:
    """As a copy that keeps the time (cp -p) leaves them."""
    before = robots.stat()
    robots.write_text(CLOSED.replace("private", "another"))
    os.utime(robots, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert settled(sources)
    assert closes(sources, "/another")


def test_the_same_bytes_change_nothing(robots: Path, sources: SiteSources) -> None:
    robots.write_text(CLOSED)
    rules = sources.sites().rules("example.org")
    assert not settled(sources)
    assert sources.sites().rules("example.org") is rules


def removed(robots: Path) -> None:
    robots.unlink()


def a_web_page(robots: Path) -> None:
    robots.write_text("<!doctype html><html><head><title>503</title></head><body>Sorry</body></html>")


def a_folder(robots: Path) -> None:
    robots.unlink()
    robots.mkdir()


def a_loop_of_links(robots: Path) -> None:
    robots.unlink()
    robots.symlink_to(robots)


def a_queue(robots: Path) -> None:
    robots.unlink()
    os.mkfifo(robots)


@pytest.mark.parametrize("broken", [removed, a_web_page, a_folder, a_loop_of_links, a_queue])
def test_the_last_good_rules_stay_until_the_file_is_good_again(
    robots: Path, sources: SiteSources, caplog: pytest.LogCaptureFixture, broken: object
) -> None:
    assert callable(broken)
    broken(robots)
    for _ in range(5):
        assert not settled(sources)
    assert closes(sources)
    (problem,) = sources.problems().values()
    assert str(robots) in problem
    assert [record.getMessage() for record in caplog.records] == [f"{problem}; the gate keeps the rules that it has"]
    if robots.is_dir():
        robots.rmdir()
    elif robots.exists() or robots.is_symlink():
        robots.unlink()
    robots.write_text(OPEN)
    assert settled(sources)
    assert not closes(sources)
    assert sources.problems() == {str(robots): ""}


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_was_unreadable_comes_back(robots: Path, sources: SiteSources) -> None:
    robots.write_text(OPEN)
    robots.chmod(0)
    assert not settled(sources)
    assert sources.problems()[str(robots)] == f"cannot read {robots}: Permission denied"
    robots.chmod(0o644)
    assert settled(sources)
    assert not closes(sources)


def test_a_file_that_cannot_be_read_is_tried_again_although_it_has_not_changed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """As with a disk that answers again. Here: a file of another process, of which nothing can be read."""
    place = tmp_path / "robots.txt"
    place.write_text(CLOSED)
    sources = SiteSources(str(place), {}, no_fetch)
    sources.load(0.0)
    place.unlink()
    place.symlink_to("/proc/self/mem")
    assert not settled(sources)
    assert "Input/output error" in sources.problems()[str(place)]
    assert not any(sources.refresh(float(second)) for second in range(3 * int(RETRY_S)))
    assert closes(sources)
    assert len(caplog.records) == 1


def test_what_is_broken_at_the_start_is_refused(tmp_path: Path) -> None:
    robots = tmp_path / "robots.txt"
    for place, said in ((str(robots), "No such file"), (str(tmp_path), "not a file"), ("a\0b", "null"), ("", "empty")):
        with pytest.raises(InputError, match=said):
            SiteSources(place, {}, no_fetch).load(0.0)
    a_web_page(robots)
    with pytest.raises(InputError, match=r"is .*, not a robots\.txt"):
        SiteSources(str(robots), {}, no_fetch).load(0.0)
    with pytest.raises(InputError, match="not an http or https URL"):
        SiteSources("http://[/", {}, no_fetch)


def test_all_of_a_file_counts(robots: Path) -> None:
    filler = "# filler\n" * (600_000 // 9)
    robots.write_text(f"User-agent: *\nDisallow: /early\n{filler}Disallow: /late\n")
    assert robots.stat().st_size > LIMIT_BYTES
    sources = SiteSources(str(robots), {}, no_fetch)
    sources.load(0.0)
    assert (closes(sources, "/early"), closes(sources, "/late")) == (True, True)
    robots.write_bytes(b"User-agent: *\nDisallow: /\n" * (MOST_BYTES // 20))
    with pytest.raises(InputError, match="more than 8 MiB"):
        SiteSources(str(robots), {}, no_fetch).load(0.0)


def test_each_host_has_its_own_file(tmp_path: Path, robots: Path) -> None:
    for name in ("one", "idn"):
        (tmp_path / f"{name}.txt").write_text(f"User-agent: *\nDisallow: /{name}\n")
    places = {"One.Test.": str(tmp_path / "one.txt"), "bücher.test": str(tmp_path / "idn.txt")}
    sources = SiteSources(str(robots), places, no_fetch)
    sources.load(0.0)
    assert (closes(sources, "/one", "one.test"), closes(sources, "/private", "one.test")) == (True, False)
    assert closes(sources, "/idn", "xn--bcher-kva.test")
    assert closes(sources, "/private", "other.test")
    alone = SiteSources(None, places, no_fetch)
    alone.load(0.0)
    assert closes(alone, "/private", "other.test") is False


def test_a_new_policy_reads_only_the_places_that_are_new(robots: Path, tmp_path: Path, sources: SiteSources) -> None:
    """Otherwise a robots.txt that is broken now would keep every change of the policy out."""
    a_web_page(robots)
    settled(sources)
    new = tmp_path / "new.txt"
    new.write_text("User-agent: *\nDisallow: /new\n")
    following = SiteSources(str(robots), {"new.test": str(new)}, no_fetch)
    following.take_over(sources)
    following.load(2.0)
    assert (closes(following), closes(following, "/new", "new.test")) == (True, True)
    assert following.problems()[str(robots)]


# ---- URLs -----------------------------------------------------------------------------------------------------------


async def fetched(sources: SiteSources, passed_s: float) -> bool:
    """Looks at the sources at a time until all that is fetched is there."""
    is_new = sources.refresh(passed_s)
    async with asyncio.timeout(WITHIN_S):
        while any(source.fetched is not None for source in sources._places.values()):
            await asyncio.sleep(0.01)
            is_new = sources.refresh(passed_s) or is_new
    return is_new


async def loaded(place: str, most_s: float = WITHIN_S) -> SiteSources:
    sources = SiteSources(place, {}, fetch_access)
    await asyncio.to_thread(sources.load, 0.0, most_s)
    return sources


def text(body: str, status: int = 200) -> bytes:
    return answer(body.encode(), status, (("Content-Type", "text/plain"),))


@pytest.fixture
def pages() -> dict[str, bytes]:
    return {
        "503": text("", 503),
        "page": answer(b"<!doctype html><html><title>x</title><body>We are closed</body></html>"),
        "404": text("", 404),
    }


async def test_a_url_is_fetched_again_after_ten_minutes(pages: dict[str, bytes]) -> None:
    async with WebServer({"/robots.txt": text(CLOSED)}) as server:
        sources = await loaded(server.url("/some/page"))
        assert closes(sources)
        server.routes["/robots.txt"] = text(OPEN)
        assert not await fetched(sources, FETCH_EVERY_S - 10)
        assert server.targets == ["/robots.txt"]
        assert await fetched(sources, FETCH_EVERY_S + 10)
        assert closes(sources) is False
        server.routes["/robots.txt"] = pages["404"]
        assert await fetched(sources, 3 * FETCH_EVERY_S)
        assert closes(sources) is False, "without a robots.txt everything is open"
    assert [*sources.problems().values()] == [""]


async def test_a_redirect_is_followed() -> None:
    async with WebServer({"/moved.txt": text(CLOSED)}) as server:
        server.routes["/robots.txt"] = answer(b"", 301, (("Location", "/moved.txt"),))
        sources = await loaded(server.url())
    assert closes(sources)


@pytest.mark.parametrize("failure", ["503", "page"])
async def test_the_last_good_rules_stay_when_a_server_fails(pages: dict[str, bytes], failure: str) -> None:
    async with WebServer({"/robots.txt": text(CLOSED)}) as server:
        sources = await loaded(server.url())
        server.routes["/robots.txt"] = pages[failure]
        assert not await fetched(sources, FETCH_EVERY_S + 1)
        assert closes(sources)
        (problem,) = sources.problems().values()
        assert f"the robots.txt of {server.origin}" in problem
        server.routes["/robots.txt"] = text(OPEN)
        assert not await fetched(sources, FETCH_EVERY_S + RETRY_S)
        assert await fetched(sources, FETCH_EVERY_S + RETRY_S + 2)
        assert closes(sources) is False
        assert [*sources.problems().values()] == [""]
    assert not await fetched(sources, 9 * FETCH_EVERY_S), "nobody listens any more"
    assert closes(sources) is False
    assert "cannot fetch the robots.txt of" in sources.problems()[server.url()]


@pytest.mark.parametrize("failure", ["503", "page"])
async def test_without_rules_at_the_start_it_is_tried_again_soon(pages: dict[str, bytes], failure: str) -> None:
    async with WebServer({"/robots.txt": pages[failure]}) as server:
        sources = await loaded(server.url())
        assert closes(sources) is None
        server.routes["/robots.txt"] = text(CLOSED)
        assert await fetched(sources, FIRST_RETRY_S + 1)
        assert closes(sources)


async def test_a_server_that_does_not_answer_holds_up_neither_the_start_nor_the_files(robots: Path) -> None:
    asked = asyncio.Event()

    async def late(exchange: Exchange) -> None:
        await asked.wait()
        await exchange.send(text("User-agent: *\nDisallow: /late\n"))

    async with WebServer({"/robots.txt": late}) as server:
        sources = SiteSources(str(robots), {"late.test": server.url()}, fetch_access)
        await asyncio.to_thread(sources.load, 0.0, 0.1)
        assert (closes(sources), closes(sources, "/late", "late.test")) == (True, None)
        assert sources.problems()[server.url()] == f"the robots.txt of {server.origin} has not been fetched yet"
        robots.write_text(OPEN)
        assert settled(sources)
        assert closes(sources) is False
        asked.set()
        assert await fetched(sources, 2.0)
        assert closes(sources, "/late", "late.test")
        assert len(server.targets) == 1, "a fetch that has begun is not begun again"


async def test_more_urls_than_are_fetched_at_once_are_all_fetched() -> None:
    async with WebServer({"/robots.txt": text(CLOSED)}) as server:
        places = {f"host{number}.test": server.url(f"/{number}") for number in range(20)}
        sources = SiteSources(None, places, fetch_access)
        await asyncio.to_thread(sources.load, 0.0, WITHIN_S)
    assert all(closes(sources, host=host) for host in places)
    assert server.most_busy <= 8


async def test_a_mistake_of_the_fetcher_is_a_problem_of_that_place_only(robots: Path) -> None:
    def broken(url: Url) -> Access:
        raise ZeroDivisionError("a mistake")

    sources = SiteSources(str(robots), {"broken.test": "http://broken.test/"}, broken)
    await asyncio.to_thread(sources.load, 0.0)
    assert closes(sources)
    assert "a mistake" in sources.problems()["http://broken.test/"]
    assert not await fetched(sources, 1.0)


def test_an_error_of_the_fetcher_is_said_as_it_is() -> None:
    def refusing(url: Url) -> Access:
        raise GoodbotError("no network today")

    sources = SiteSources("http://some.test/", {}, refusing)
    sources.load(0.0)
    assert sources.problems() == {"http://some.test/": "no network today"}
