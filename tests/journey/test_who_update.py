"""`goodbot who update` against a real server, whose lists the user's own records name."""

import asyncio
import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from goodbot.cli.who_update import Failed, Updated, _update_each
from goodbot.registry import AddressBook, ListName
from journey.goodbot_process import goodbot
from webserver import WebServer, answer

NAMES = ("one", "two", "three")


def body_of(*ranges: str, made: str | None = None) -> bytes:
    head = {"creationTime": f"{made}T00:00:00"} if made else {}
    return answer(json.dumps({**head, "prefixes": [{"ipv4Prefix": each} for each in ranges]}).encode())


def write_records(folder: Path, server: WebServer) -> None:
    """Writes a record for each of `NAMES`, with a list on this server."""
    text = 'operator = "Us"\n'
    for name in NAMES:
        text += f'[[list]]\nname = "{name}"\nurl = "{server.url(f"/{name}.json")}"\n'
        text += f'[[robot]]\nname = "Bot-{name}"\npurpose = "search"\naddress_lists = ["{name}"]\n'
    file = folder / ".config" / "goodbot" / "robots" / "mine.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def today() -> str:
    return datetime.now(UTC).date().isoformat()


async def test_lists_are_fetched_kept_and_used(tmp_path: Path) -> None:
    """The date is the day of fetching, whenever the operator made the list."""
    routes = {f"/{name}.json": body_of("9.9.9.0/24", "8.8.8.0/24", made="2020-01-01") for name in NAMES}
    async with WebServer(routes) as server:
        write_records(tmp_path, server)
        before = (await goodbot("who", "Bot-one", "--ip", "9.9.9.9", "--json", folder=tmp_path)).json[0]
        first = await goodbot("who", "update", "one", "two", "one", folder=tmp_path)
        server.routes["/one.json"] = body_of("9.9.9.0/24", "8.8.4.0/24")
        second = await goodbot("who", "update", "one", "two", "--json", folder=tmp_path)
        asked = list(server.targets)
        inside = (await goodbot("who", "Bot-one", "--ip", "9.9.9.9", "--json", folder=tmp_path)).json[0]
        outside = (await goodbot("who", "Bot-one", "--ip", "1.1.1.1", "--json", folder=tmp_path)).json[0]
    assert before["tier"] == "declared"
    assert "goodbot who update one fetches it" in before["evidence"][-1]
    assert (first.status, first.err) == (0, "")
    assert first.out.splitlines() == ["one of Us: new, 2 ranges", "two of Us: new, 2 ranges"]
    assert second.status == 0
    changed, unchanged = second.json["lists"]
    assert second.json["done"] is True
    assert (changed["list"], changed["operator"], changed["state"]) == ("one", "Us", "changed")
    assert (changed["added"], changed["removed"], changed["ranges"]) == (["8.8.4.0/24"], ["8.8.8.0/24"], 2)
    assert (changed["as_of"], changed["error"]) == (today(), None)
    assert Path(changed["file"]).is_relative_to(tmp_path)
    assert (unchanged["list"], unchanged["state"], unchanged["added"]) == ("two", "unchanged", [])
    assert asked == ["/one.json", "/two.json"] * 2
    assert (inside["tier"], outside["tier"]) == ("verified", "impostor")
    assert inside["address_lists"] == [changed["url"]]
    assert f"as of {today()}" in inside["evidence"][-1]


async def test_a_failure_does_not_stop_the_others(tmp_path: Path) -> None:
    routes = {"/one.json": answer(b"<html>gone"), "/three.json": body_of("9.9.9.0/24")}
    async with WebServer(routes) as server:
        write_records(tmp_path, server)
        told = await goodbot("who", "update", *NAMES, folder=tmp_path)
        asked = await goodbot("who", "update", *NAMES, "--json", "-o", "result.json", folder=tmp_path)
        alone = await goodbot("who", "Bot-three", "--ip", "9.9.9.9", folder=tmp_path)
    assert (told.status, asked.status) == (3, 3)
    one, two, three = told.out.splitlines()
    assert re.fullmatch(r"one of Us: failed: line 1 of .*/one\.json does not begin with an address range: .*", one)
    assert re.fullmatch(r"two of Us: failed: .* answers with status 404: there is no document", two)
    assert three == "three of Us: new, 1 range"
    assert told.complaint == "goodbot: 2 of 3 lists could not be updated; the lists in use stay"
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["done"] is False
    assert [each["state"] for each in result["lists"]] == ["failed", "failed", "unchanged"]
    assert [each["error"] is None for each in result["lists"]] == [False, False, True]
    assert [each["ranges"] for each in result["lists"]] == [None, None, 1]
    assert alone.status == 0


async def test_a_failure_keeps_the_list_in_use_and_a_damaged_one_is_replaced(tmp_path: Path) -> None:
    async with WebServer({"/one.json": body_of("9.9.9.0/24")}) as server:
        write_records(tmp_path, server)
        kept = Path((await goodbot("who", "update", "one", "--json", folder=tmp_path)).json["lists"][0]["file"])
        before = kept.read_bytes()
        server.routes["/one.json"] = body_of("10.0.0.0/8")
        assert (await goodbot("who", "update", "one", folder=tmp_path)).status == 3
        assert kept.read_bytes() == before
        kept.write_text("rubbish")
        damaged = await goodbot("who", "Bot-one", "--ip", "9.9.9.9", folder=tmp_path)
        assert damaged.status == 3
        assert "goodbot who update one" in damaged.complaint
        server.routes["/one.json"] = body_of("9.9.9.0/24")
        assert (await goodbot("who", "update", "one", folder=tmp_path)).out == "one of Us: new, 1 range\n"
    assert kept.read_bytes() == before


@pytest.mark.parametrize(
    ("arguments", "name"),
    [(("anthropic", "--from"), "ranges.json"), (("--from",), "gptbot.json"), (("--from",), "URL")],
)
async def test_a_list_from_elsewhere(arguments: tuple[str, ...], name: str, tmp_path: Path) -> None:
    body = json.dumps({"creationTime": "2026-10-01", "prefixes": [{"ipv4Prefix": "9.9.9.0/24"}]}).encode()
    async with WebServer({"/gptbot.json": answer(body)}) as server:
        (tmp_path / name).write_bytes(body)
        source = server.url("/gptbot.json") if name == "URL" else name
        taken = await goodbot("who", "update", *arguments, source, "--json", folder=tmp_path)
        told = await goodbot("who", "update", *arguments, source, folder=tmp_path)
    (entry,) = taken.json["lists"]
    assert (taken.status, taken.json["done"], told.status) == (0, True, 0)
    assert entry["list"] == ("anthropic" if name == "ranges.json" else "openai-gptbot")
    assert (entry["as_of"], entry["ranges"], "9.9.9.0/24" in entry["added"]) == ("2026-10-01", 1, True)
    assert "1 range, as of 2026-10-01; before: 1, as of 2026-10-01\n  nothing has changed\nsaved to " in told.out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("nope",), "there is no list 'nope'; the lists are ahrefs, "),
        (("google-comon",), "there is no list 'google-comon'; did you mean google-common?"),
        (("anthropic", "ccbot", "--from", "x.json"), "--from takes one LIST"),
        (("--from", "x.json"), "the name x.json contains no list's name: add the LIST, one of ahrefs, "),
        (("anthropic", "--from", "missing.json"), "cannot read missing.json"),
        (("anthropic", "--from", "x.json"), "x.json contains no address ranges"),
        (("--ip", "8.8.8.8"), "no such option '--ip' (see goodbot who update --help)"),
    ],
)
async def test_bad_input(arguments: tuple[str, ...], said: str, tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("{}")
    result = await goodbot("who", "update", *arguments, folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert said.lower() in result.complaint.lower()


async def test_progress_and_a_list_without_a_valid_url(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("goodbot.cli.who_update.FIRST_LINE_S", 0.0)
    said: list[str] = []
    async with WebServer({"/a.json": body_of("9.9.9.0/24")}) as server:
        lists = [ListName("a", server.url("/a.json"), "Us"), ListName("b", "nowhere", "Us")]
        book = AddressBook(tmp_path, {each.name: each for each in lists})
        results = await asyncio.to_thread(lambda: [*_update_each(lists, book, said.append)])
    assert isinstance(results[0], Updated)
    assert results[1] == Failed(lists[1], "nowhere is not an http or https URL")
    assert [re.sub(r"about .* left", "", line) for line in said] == ["fetched 1 of 2 lists, "]


async def test_help_is_that_of_the_command_below() -> None:
    told = await goodbot("who", "update", "--help")
    assert told.out.startswith("Usage: goodbot who update [OPTIONS] [LIST...]\n")
    assert "update  Fetch the current address lists of robots\n" in (await goodbot("who", "--help")).out
