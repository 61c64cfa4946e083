"""goodbot's own crawl signs, three servers log the fields, and `goodbot watch --keys` verifies them."""

import asyncio
import json
import re
import sys
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Final

import pytest

from journey.goodbot_process import goodbot
from watch.formats.log_servers import SIGNED_APACHE, SIGNED_NGINX, apache, caddy, nginx

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the servers are Debian's")

AGENT: Final = "https://bot.example.org"
TIME: Final = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\+\d\d:\d\d"
PATHS: Final = ("/page?q=1&x=%22", "/new/", "/%D0%B9")

NGINX_PATTERN: Final = SIGNED_NGINX["signed"]
APACHE_PATTERN: Final = SIGNED_APACHE["signed"][1:-1]

LOGS: Final[dict[str, tuple[str, str, list[str]]]] = {
    "nginx": ("nginx", "signed", ["--log-format", NGINX_PATTERN]),
    "nginx, JSON": ("nginx", "signed_json", []),
    "Apache": ("apache", "signed", ["--log-format", APACHE_PATTERN]),
    "Caddy": ("caddy", "json", []),
}


@dataclass(frozen=True, slots=True)
class Crawled:
    """The logs of the servers after a crawl, and the keys of the robot."""

    logs: dict[tuple[str, str], str]
    ports: dict[str, int]
    keys: Path


@pytest.fixture(scope="module")
def crawled(tmp_path_factory: pytest.TempPathFactory) -> Crawled:
    """Crawls the servers with a new key."""
    folder = tmp_path_factory.mktemp("signed")
    with ExitStack() as stack:
        folders = {name: folder / name for name in ("nginx", "apache", "caddy")}
        for place in folders.values():
            place.mkdir()
        servers = {
            "nginx": stack.enter_context(nginx(folders["nginx"], SIGNED_NGINX)),
            "apache": stack.enter_context(apache(folders["apache"], SIGNED_APACHE)),
            "caddy": stack.enter_context(caddy(folders["caddy"])),
        }
        asyncio.run(_crawl(folder, [server.port for server in servers.values()]))
        logs = {(name, form): path for name, server in servers.items() for form, path in server.logs.items()}
    texts = {names: path.read_text("latin-1") for names, path in logs.items()}
    return Crawled(texts, {name: server.port for name, server in servers.items()}, folder / "goodbot.json")


async def _crawl(folder: Path, ports: list[int]) -> None:
    assert (await goodbot("key", "new", "-o", folder / "bot.jwk")).status == 0
    shown = await goodbot("key", "show", folder / "bot.jwk", "--json", "-o", folder / "goodbot.json")
    assert shown.status == 0, shown.err
    crawl = await goodbot(
        *("crawl", *(f"http://127.0.0.1:{port}{path}" for port in ports for path in PATHS)),
        *("--into", folder / "crawl", "--allow-private"),
        *("--sign", folder / "bot.jwk", "--signature-agent", AGENT),
    )
    assert crawl.status == 0, crawl.err


async def _watched(crawled: Crawled, log: str, options: list[str], keys: str, folder: Path, engine: str) -> Any:
    (folder / "access.log").write_text(log, "latin-1")
    watch = await goodbot("watch", folder / "access.log", *options, "--engine", engine, "--keys", keys, "--json")
    assert watch.status == 0, watch.err
    return watch.json


@pytest.mark.parametrize("engine", ["standard", "fast"])
@pytest.mark.parametrize(("server", "form", "options"), LOGS.values(), ids=LOGS)
async def test_every_request_of_the_crawl_is_verified(
    crawled: Crawled, tmp_path: Path, server: str, form: str, options: list[str], engine: str
) -> None:
    log = crawled.logs[server, form]
    found = await _watched(crawled, log, options, str(crawled.keys), tmp_path, engine)
    signed = {"signed": found["lines"], "verified": found["lines"], "replayed": 0, "failed": {}}
    assert found["lines"] >= 1 + len(PATHS), "robots.txt is requested too"
    (robot,) = found["robots"]
    assert (robot["name"], robot["tier"], robot["signatures"]) == ("goodbot", "verified", signed)
    assert f"{found['lines']} requests were signed with a key of goodbot (Web Bot Auth)" in robot["evidence"]
    assert {name: found["signatures"][name] for name in signed} == signed
    assert found["signatures"]["others"] == []


def _at_another_host(log: str, port: int) -> str:
    return log.replace(f"127.0.0.1:{port}", "other.example")


def _an_hour_later(log: str, port: int) -> str:
    hour = timedelta(hours=1)
    return re.sub(TIME, lambda found: (datetime.fromisoformat(found[0]) + hour).isoformat(), log)


def _as_a_post(log: str, port: int) -> str:
    return log.replace('"GET ', '"POST ')


def _by_a_browser(log: str, port: int) -> str:
    return re.sub(r'("http_user_agent":")[^"]*', r"\1Firefox", log)


def _by_another_robot(log: str, port: int) -> str:
    return re.sub(r'("http_user_agent":")[^"]*', r"\1GPTBot/1.3", log)


def _twice(log: str, port: int) -> str:
    return log + log


CHANGES: Final[dict[str, tuple[Callable[[str, int], str], str, dict[str, int], str]]] = {
    "copied to another host": (_at_another_host, "goodbot", {"does not verify": 4}, "declared"),
    "copied after it expired": (_an_hour_later, "goodbot", {"expired": 4}, "declared"),
    "used for another method": (_as_a_post, "goodbot", {"does not verify": 4}, "declared"),
    "used by another robot": (_by_another_robot, "goodbot", {"another robot": 4}, "declared"),
    "the keys of another robot": (lambda log, port: log, "GPTBot", {"another robot": 4}, "declared"),
    "keys served elsewhere": (lambda log, port: log, "https://other.example", {"unknown key": 4}, "declared"),
    "used by a browser": (_by_a_browser, "goodbot", {}, ""),
    "replayed": (_twice, "goodbot", {}, "verified"),
}


@pytest.mark.parametrize(("change", "name", "failed", "tier"), CHANGES.values(), ids=CHANGES)
async def test_a_signature_proves_no_more_than_it_says(
    crawled: Crawled,
    tmp_path: Path,
    change: Callable[[str, int], str],
    name: str,
    failed: dict[str, int],
    tier: str,
) -> None:
    log = change(crawled.logs["nginx", "signed_json"], crawled.ports["nginx"])
    found = await _watched(crawled, log, [], f"{name}={crawled.keys}", tmp_path, "auto")
    signatures = found["signatures"]
    assert signatures["failed"] == failed
    assert signatures["verified"] == found["lines"] - sum(failed.values())
    assert signatures["replayed"] == (4 if change is _twice else 0)
    assert [robot["tier"] for robot in found["robots"]] == ([tier] if tier else [])
    if not tier:
        assert [(one["directory"], one["verified"]) for one in signatures["others"]] == [("goodbot", 4)]


async def test_the_report_in_words(crawled: Crawled, tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    log.write_text(crawled.logs["caddy", "json"])
    everything = await goodbot("watch", log, "--keys", crawled.keys)
    assert "Signed (Web Bot Auth): 4 requests, 4 verified." in everything.out
    one = await goodbot("watch", log, "--keys", crawled.keys, "--robot", "goodbot")
    assert "signed      4 requests, 4 verified" in one.out
    without = await goodbot("watch", log)
    assert "Signed (Web Bot Auth): 4 requests, 4 not (unknown key: 4). --keys FILE verifies" in without.out
    old = tmp_path / "old.log"
    old.write_text(crawled.logs["nginx", "combined"])
    unsigned = await goodbot("watch", old, "--keys", crawled.keys)
    assert "No request has a signature in these logs" in unsigned.out


async def test_a_state_goes_on_with_the_same_keys_only(crawled: Crawled, tmp_path: Path) -> None:
    lines = crawled.logs["caddy", "json"].splitlines(keepends=True)
    log, state = tmp_path / "access.log", tmp_path / "state"
    for end in (2, 4):
        log.write_text("".join(lines[:end]))
        found = await goodbot("watch", log, "--keys", crawled.keys, "--state", state, "--json")
        assert found.json["signatures"]["verified"] == end
    log.write_text("".join([*lines, lines[0]]))
    again = await goodbot("watch", log, "--keys", crawled.keys, "--state", state, "--json")
    assert (again.json["signatures"]["verified"], again.json["signatures"]["replayed"]) == (5, 1)
    other = await goodbot("watch", log, "--state", state)
    assert (other.status, "was made with --keys goodbot" in other.complaint) == (2, True)


WRONG: Final = {
    "no file": (None, "cannot read"),
    "not JSON": ("keys", "is not a key directory"),
    "one key": ('{"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}', "(a JWK Set"),
    "no key": ('{"keys": []}', "has no key that goodbot can use"),
    "other keys": (json.dumps({"keys": [{"kty": "oct", "k": "c2VjcmV0"}, 1, {"kty": "OKP"}]}), "has no key that"),
}


@pytest.mark.parametrize(("text", "complaint"), WRONG.values(), ids=WRONG)
async def test_what_is_no_key_directory(tmp_path: Path, text: str | None, complaint: str) -> None:
    file = tmp_path / "keys.json"
    if text is not None:
        file.write_text(text)
    log = tmp_path / "access.log"
    log.write_text("")
    watch = await goodbot("watch", log, "--keys", f"goodbot={file}")
    assert (watch.status, watch.out) == (2, "")
    assert complaint in watch.complaint
