"""`goodbot who` as its users have it."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dns.message
import dns.rrset
import pytest

from goodbot.cli.who_update import update
from goodbot.registry import AddressBook
from goodbot.registry.robot_records import load_records
from journey.goodbot_process import Ended, goodbot
from nameserver import NameServer, Records
from webserver import WebServer, answer

GPTBOT = "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot"


def of_google() -> str:
    known = AddressBook().get("google-common")
    assert known is not None
    return str(known.networks[0].network_address)


@pytest.mark.parametrize(
    ("arguments", "tier", "status"),
    [
        ((GPTBOT,), "declared", 0),
        (("Googlebot/2.1", "--ip", of_google()), "verified", 0),
        (("Google-Extended", "--ip", "8.8.8.8"), "impostor", 1),
        (("Mozilla/5.0 (X11; Linux x86_64; rv:132.0) Gecko/20100101 Firefox/132.0",), "unknown", 1),
    ],
)
async def test_the_tier_and_the_exit_status(arguments: tuple[str, ...], tier: str, status: int) -> None:
    told = await goodbot("who", *arguments)
    asked = await goodbot("who", *arguments, "--json")
    assert (told.status, asked.status) == (status, status)
    assert told.out.startswith("unknown: ") if tier == "unknown" else f": {tier}, " in told.out
    assert "evidence" in told.out
    assert "\x1b" not in told.out
    (found,) = asked.json
    assert found["tier"] == tier
    assert found["evidence"]
    assert (found["name"] is None) == (tier == "unknown")
    assert told.err == asked.err == ""


async def test_json_of_one_robot() -> None:
    (value,) = (await goodbot("who", GPTBOT, "--json")).json
    assert (value["name"], value["operator"], value["purpose"]) == ("GPTBot", "OpenAI", "ai-training")
    assert (value["token"], value["obeys_robots_txt"], value["retired"]) == ("GPTBot", "yes", False)
    assert value["address_lists"] == ["https://openai.com/gptbot.json"]
    assert value["source"].startswith("https://")
    assert value["user_agent"] == GPTBOT


async def test_standard_input() -> None:
    result = await goodbot("who", "-", "bingbot", "--json", stdin=GPTBOT.encode() + b"\r\n\n Nemo \nGooglebot")
    assert [value["name"] for value in result.json] == ["GPTBot", None, "Googlebot", "bingbot"]
    assert result.status == 1
    told = await goodbot("who", "GPTBot", "Gogglebot")
    assert told.out.startswith("GPTBot\nGPTBot: declared, ")
    assert "\n\nGogglebot\nunknown: no robot on record matches\n" in told.out
    assert "did you mean Googlebot?" in told.out
    assert (await goodbot("who", "-", stdin=b"\n")).status == 2
    hostile = await goodbot("who", "-", stdin=b"\x1b[2J\xff\x00" * 50_000)
    assert hostile.status == 1
    assert "\x1b" not in hostile.out + hostile.err


async def test_only_a_bare_name_may_be_a_slip() -> None:
    """A whole User-Agent is as its program sends it: a Cubot phone is not CCBot."""
    typed = ["Gogglebot", "Gogglebot/2.1", "Cubot X", "Mozilla/5.0 (compatible; Gogglebot)"]
    result = await goodbot("who", *typed, "--json")
    assert [value["similar"] for value in result.json] == [["Googlebot"], [], [], []]
    assert "did you mean" not in (await goodbot("who", "Cubot X")).out


def test_the_help_names_every_list() -> None:
    _, _, told = (update.help or "").partition("LIST is one of")
    assert re.findall(r"[a-z-]+", told.partition(";")[0]) == sorted(load_records().lists)


async def test_the_list() -> None:
    everything = (await goodbot("who", "--list", "--json")).json
    training = (await goodbot("who", "--list", "--purpose", "ai-training", "--json")).json
    assert len(everything) > len(training) > 10
    assert {robot["purpose"] for robot in training} == {"ai-training"}
    assert [robot for robot in everything if robot["purpose"] == "ai-training"] == training
    told = await goodbot("who", "--list", "--purpose", "archive")
    assert told.status == 0
    assert "archive.org_bot" in told.out
    assert "GPTBot" not in told.out


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("",),
        ("Googlebot", "--list"),
        ("Googlebot", "--ip", "999.1.1.1"),
        ("Googlebot", "--ip", ""),
        ("Googlebot", "--reverse-dns"),
        ("Googlebot", "--ip", "8.8.8.8", "--reverse-dns", "--nameserver", "nonsense"),
        ("--ip", "8.8.8.8", "--list"),
        ("--list", "--purpose", "world-peace"),
        ("--json", "update"),
        ("Googlebot", "update"),
        ("Googlebot", "--purpose", "search"),
        ("--refresh", "no-such-file.json"),
        ("--refresh", "gptbot.json"),
        ("--refresh", "gptbot.json", "--as", "no-such-list"),
    ],
)
async def test_bad_input_is_one_line_and_exit_2(arguments: tuple[str, ...]) -> None:
    result = await goodbot("who", *arguments)
    assert result.status == 2
    assert result.complaint
    assert result.out == ""


async def test_refresh_from_a_file_is_kept_and_used(tmp_path: Path) -> None:
    file = tmp_path / "bots.json"
    file.write_text(json.dumps({"prefixes": [{"ipv4Prefix": "9.9.9.0/24"}, {"ipv6Prefix": "2620:fe::/48"}]}))
    before = await goodbot("who", "ClaudeBot", "--ip", "9.9.9.9", "--json", folder=tmp_path)
    assert before.json[0]["tier"] == "declared"
    taken = await goodbot("who", "--refresh", file, "--json", folder=tmp_path)
    assert taken.status == 0
    assert (taken.json["list"], taken.json["ranges"]) == ("anthropic", 2)
    assert (taken.json["added"], taken.json["removed"]) == (["9.9.9.0/24", "2620:fe::/48"], [])
    assert Path(taken.json["file"]).is_relative_to(tmp_path)
    after = await goodbot("who", "ClaudeBot", "--ip", "9.9.9.9", "--json", folder=tmp_path)
    assert after.json[0]["tier"] == "verified"
    assert (await goodbot("who", "ClaudeBot", "--ip", "8.8.8.8", folder=tmp_path)).status == 1
    file.write_text('["9.9.9.0/25"]')
    again = await goodbot("who", "--refresh", file, folder=tmp_path)
    assert "+ 9.9.9.0/25" in again.out
    assert "- 9.9.9.0/24" in again.out
    same = await goodbot("who", "--refresh", file, folder=tmp_path)
    assert "nothing has changed" in same.out


def use_list(age_days: int, folder: Path) -> None:
    """Puts a list of Google with 9.9.9.0/24 in use, as if it was fetched so many days ago."""
    made = datetime.now(UTC).date() - timedelta(age_days)
    addresses = folder / ".local" / "share" / "goodbot" / "addresses"
    addresses.mkdir(parents=True)
    (addresses / "google-common.txt").write_text(f"# https://x.example/\n# {made}\n9.9.9.0/24\n")


@pytest.mark.parametrize(
    ("age_days", "address", "tier", "status", "said"),
    [
        (1, "9.9.9.9", "verified", 0, "is in 9.9.9.0/24"),
        (300, "9.9.9.9", "verified", 0, "is in 9.9.9.0/24"),
        (1, "8.8.8.8", "impostor", 1, "is outside the ranges"),
        (300, "8.8.8.8", "unknown", 1, "300 days old"),
        (300, "8.8.8.8", "unknown", 1, "goodbot who update google-common fetches the current one"),
    ],
)
async def test_an_old_list_makes_no_impostor(
    age_days: int, address: str, tier: str, status: int, said: str, tmp_path: Path
) -> None:
    use_list(age_days, tmp_path)
    told = await goodbot("who", "Googlebot/2.1", "--ip", address, folder=tmp_path)
    (value,) = (await goodbot("who", "Googlebot/2.1", "--ip", address, "--json", folder=tmp_path)).json
    assert (value["name"], value["tier"], told.status) == ("Googlebot", tier, status)
    assert any(said in sentence for sentence in value["evidence"])
    text = " ".join(told.out.split())
    assert said in text
    assert text.startswith(f"Googlebot: {tier}, ")
    assert ("its address lists are too old or too new to tell" in text) == (tier == "unknown")
    assert "no robot on record" not in text


def published(day: str, *ranges: str) -> str:
    return json.dumps({"creationTime": f"{day}T15:46:05.000000", "prefixes": [{"ipv4Prefix": each} for each in ranges]})


async def test_refresh_keeps_the_day_of_the_list_and_the_newer_of_two(tmp_path: Path) -> None:
    file = tmp_path / "gptbot.json"

    async def refresh(text: str) -> Ended:
        file.write_text(text)
        return await goodbot("who", "--refresh", file, folder=tmp_path)

    async def evidence() -> str:
        return " ".join((await goodbot("who", GPTBOT, "--ip", "9.9.9.9", folder=tmp_path)).out.split())

    assert (await refresh(published("2026-10-01", "9.9.9.0/24"))).status == 0
    assert "as of 2026-10-01" in await evidence()
    older = await refresh(published("2026-09-30", "8.8.8.0/24"))
    assert (older.status, older.out) == (2, "")
    assert "has the date 2026-09-30 and is older than the list in use (2026-10-01)" in older.complaint
    assert "verified" in await evidence()
    same = await refresh(published("2026-09-30", "9.9.9.0/24"))
    assert (same.status, "nothing has changed" in same.out) == (0, True)
    assert "as of 2026-10-01" in await evidence()
    newer = await refresh(published("2026-10-02", "9.9.9.9/32"))
    assert "1 range, as of 2026-10-02; before: 1, as of 2026-10-01" in newer.out
    assert (await refresh(published("9999-01-01", "9.9.9.0/25"))).status == 0  # a day to come is taken for today
    assert (await refresh('["9.9.9.9"]')).status == 0


async def test_refresh_from_a_url(tmp_path: Path) -> None:
    body = json.dumps({"prefixes": [{"ipv4Prefix": "9.9.9.0/24"}]}).encode()
    moved = b"HTTP/1.1 302 Found\r\nLocation: /lists/gptbot.json\r\nContent-Length: 0\r\n\r\n"
    around = b"HTTP/1.1 302 Found\r\nLocation: /around/gptbot.json\r\nContent-Length: 0\r\n\r\n"
    routes = {"/lists/gptbot.json": answer(body), "/gptbot.json": moved, "/around/gptbot.json": around}
    async with WebServer(routes) as server:
        taken = await goodbot("who", "--refresh", server.url("/gptbot.json"), "--json", folder=tmp_path)
        gone = await goodbot("who", "--refresh", server.url("/none/gptbot.json"), folder=tmp_path)
        looped = await goodbot("who", "--refresh", server.url("/around/gptbot.json"), folder=tmp_path)
        asked = list(server.targets)
    assert taken.json["list"] == "openai-gptbot"
    assert taken.json["added"] == ["9.9.9.0/24"]
    assert len(taken.json["removed"]) > 10
    assert (gone.status, looped.status) == (3, 3)
    assert "answers with status 404" in gone.complaint
    assert "redirects too often" in looped.complaint
    assert "/robots.txt" not in asked  # the user named this document; it is no part of a crawl
    assert (await goodbot("who", GPTBOT, "--ip", "9.9.9.9", folder=tmp_path)).status == 0


async def test_refresh_with_what_is_no_list_changes_nothing(tmp_path: Path) -> None:
    file = tmp_path / "gptbot.json"
    for body in ("<html>not found", "{}", '["0.0.0.0/0"]', '["127.0.0.1"]'):
        file.write_text(body)
        result = await goodbot("who", "--refresh", file, folder=tmp_path)
        assert result.status == 2
        assert result.complaint
    assert not (tmp_path / ".local").exists()


async def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    (tmp_path / "gptbot.json").write_text('["9.9.9.9"]')
    (tmp_path / ".local").write_text("in the way")
    result = await goodbot("who", "--refresh", "gptbot.json", folder=tmp_path)
    assert result.status == 3
    assert result.complaint


async def test_reverse_dns_leads_there_and_back() -> None:
    def named(asked: bytes) -> bytes:
        question = dns.message.from_wire(asked)
        response = dns.message.make_response(question)
        response.answer.append(dns.rrset.from_text(question.question[0].name, 300, "IN", "PTR", "a.spider.yandex.com."))
        return response.to_wire()

    records: dict[str, Records] = {
        "9.9.9.9.in-addr.arpa": named,
        "8.8.8.8.in-addr.arpa": named,
        "a.spider.yandex.com": ["9.9.9.9"],
    }
    async with NameServer(records) as server:
        ask = ("--reverse-dns", "--nameserver", server.address, "--json")
        true = await goodbot("who", "YandexBot", "--ip", "9.9.9.9", *ask)
        false = await goodbot("who", "YandexBot", "--ip", "8.8.8.8", *ask)
    assert (true.json[0]["tier"], true.status) == ("verified", 0)
    assert (false.json[0]["tier"], false.status) == ("impostor", 1)


# ---- the user's own records -----------------------------------------------------------------------------------------

OWN = """operator = "Our firm"

[[robot]]
name = "OurProbe"
purpose = "monitoring"
contact = "web@ours.example"
reverse_dns = ["probes.ours.example"]
"""


def write_own(folder: Path, text: str, name: str = "mine.toml") -> Path:
    """Writes a file of own records where goodbot looks for them."""
    file = folder / ".config" / "goodbot" / "robots" / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


async def test_own_records_are_used_and_listed(tmp_path: Path) -> None:
    assert (await goodbot("who", "OurProbe/1.0", folder=tmp_path)).status == 1
    file = write_own(tmp_path, OWN)
    (value,) = (await goodbot("who", "OurProbe/1.0", "--json", folder=tmp_path)).json
    assert (value["name"], value["operator"], value["contact"]) == ("OurProbe", "Our firm", "web@ours.example")
    assert (value["from"], value["tier"]) == (str(file), "declared")
    told = await goodbot("who", "OurProbe/1.0", folder=tmp_path)
    assert "  contact     web@ours.example\n" in told.out
    assert "(your record in" in told.out

    everything = (await goodbot("who", "--list", "--json", folder=tmp_path)).json
    assert [robot["from"] for robot in everything if robot["from"] != "bundled"] == [str(file)]
    assert [robot["name"] for robot in everything if robot["contact"] == "claudebot@anthropic.com"] == ["ClaudeBot"]
    listed = " ".join((await goodbot("who", "--list", "--purpose", "monitoring", folder=tmp_path)).out.split())
    assert "OurProbe Our firm can be checked, from /" in listed


async def test_records_of_the_settings_file_come_before_those_of_the_folder(tmp_path: Path) -> None:
    write_own(tmp_path, OWN)
    (tmp_path / "goodbot.toml").write_text("depth = 3\n" + OWN.partition("\n")[2].replace("monitoring", "seo"))
    (value,) = (await goodbot("who", "OurProbe", "--json", folder=tmp_path)).json
    assert (value["purpose"], value["from"], value["operator"]) == ("seo", "goodbot.toml", None)
    (tmp_path / "other.toml").write_text("# nothing\n")
    (other,) = (await goodbot("who", "OurProbe", "--json", "--config", "other.toml", folder=tmp_path)).json
    assert other["purpose"] == "monitoring"
    assert (await goodbot("config", folder=tmp_path)).status == 0


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (OWN.replace("monitoring", "peace"), "robot 'OurProbe': purpose must be one of"),
        (OWN.replace("web@", "web at "), "robot 'OurProbe': contact must be a mail address or an http(s) URL"),
        (OWN + "addres_lists = []\n", "robot 'OurProbe': unknown field 'addres_lists'"),
        (
            OWN + 'address_lists = ["ours"]\n',
            "robot 'OurProbe': address_lists names 'ours', which is no list on record",
        ),
    ],
)
async def test_a_mistake_in_an_own_record_is_one_line(text: str, said: str, tmp_path: Path) -> None:
    file = write_own(tmp_path, text)
    for arguments in (("Googlebot",), ("--list",), ("update",)):
        result = await goodbot("who", *arguments, folder=tmp_path)
        assert (result.status, result.out) == (2, "")
        assert str(file) in result.complaint
        assert said in result.complaint
    file.unlink()
    (tmp_path / "goodbot.toml").write_text(text.partition("\n")[2])
    result = await goodbot("who", "Googlebot", folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert f"goodbot.toml: {said}" in result.complaint
    if "no list" not in said:
        assert f"goodbot.toml: {said}" in (await goodbot("config", folder=tmp_path)).complaint


async def test_other_files_in_the_folder_do_not_matter(tmp_path: Path) -> None:
    write_own(tmp_path, "not TOML", "notes.txt")
    assert (await goodbot("who", "Googlebot", folder=tmp_path)).status == 0
    (tmp_path / ".config" / "goodbot" / "robots" / "folder.toml").mkdir()
    result = await goodbot("who", "Googlebot", folder=tmp_path)
    assert (result.status, result.out) == (2, "")
    assert "folder.toml" in result.complaint
    (tmp_path / "goodbot.toml").write_text("[[robto]]\nname = 'x'\n")
    assert "unknown setting 'robto' (did you mean robot?)" in (await goodbot("who", "x", folder=tmp_path)).complaint
