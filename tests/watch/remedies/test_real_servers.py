"""Remedies in real servers stop what they should stop, and nothing else; fail2ban finds the same in their logs."""

import base64
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from ipaddress import ip_network
from pathlib import Path
from typing import Final

import pytest

from goodbot.registry import bundled_registry
from goodbot.watch.remedies.kinds import configuration
from goodbot.watch.remedies.nginx import nginx_remedy
from goodbot.watch.remedies.targets import Part, Rate, Remedy, TargetRobot, Targets
from watch.formats.log_servers import program
from watch.remedies.remedy_servers import CHECKS, SERVERS, nginx, status_of
from watch.remedies.remedy_targets import BLOCKED, GENUINE, NASTY_TARGETS, ON_LOOPBACK, known, made_robot

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="each request comes from an address of its own")

BROWSER: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
GPTBOT: Final = (
    "Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.3; +https://openai.com/gptbot)"
)
GOOGLEBOT: Final = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"

# name → address, User-Agent, path, whether it is stopped
CASES: Final = {
    "browser": ("127.0.1.1", BROWSER, "/page", False),
    "robot": ("127.0.1.2", GPTBOT, "/page", True),
    "robot, other case": ("127.0.1.3", "gptBOT", "/page", True),
    "robot, robots.txt": ("127.0.1.4", GPTBOT, "/robots.txt", False),
    "robot, robots.txt with a query": ("127.0.1.5", GPTBOT, "/robots.txt?x=1", False),
    "robot, another robots.txt": ("127.0.1.6", GPTBOT, "/x/robots.txt", True),
    "robot, dots in the path": ("127.0.1.7", GPTBOT, "/robots.txt/../page", True),
    "longer name": ("127.0.1.8", "GPTBotty/1.0", "/page", False),
    "after a slash": ("127.0.1.21", "Other/GPTBot/1.3 https://example.org/", "/page", True),
    "after a hyphen": ("127.0.1.22", "--GPTBot/1.3", "/page", True),
    "after a comparison": ("127.0.1.23", "GPTBot/1.3 like GPTBot", "/page", True),
    "impostor that compares itself": ("127.0.1.24", "Googlebot/2.1 like googlebot", "/page", True),
    "end of a longer name": ("127.0.1.9", "x-GPTBot/1.0", "/page", False),
    "beginning of a longer name": ("127.0.1.10", "GPTBot-Image/1.0", "/page", False),
    "compares itself": ("127.0.1.11", "Other/1.0 (like GPTBot)", "/page", False),
    "name in a URL": ("127.0.1.12", "Other/1.0 (+https://example.org/GPTBot)", "/page", False),
    "mailbox": ("127.0.1.13", "Other/1.0 (gptbot@example.org)", "/page", False),
    "two words": ("127.0.1.14", "A two; Words/1", "/page", True),
    "two words in one": ("127.0.1.15", "A two-words/1", "/page", False),
    "at the start": ("127.0.1.16", "begins/1", "/page", True),
    "not at the start": ("127.0.1.17", "It begins/1", "/page", False),
    "genuine": (GENUINE, GOOGLEBOT, "/page", False),
    "impostor": ("127.0.1.18", GOOGLEBOT, "/page", True),
    "impostor, robots.txt": ("127.0.1.19", GOOGLEBOT, "/robots.txt", False),
    "address": (BLOCKED, BROWSER, "/page", True),
    "address, robots.txt": (BLOCKED, BROWSER, "/robots.txt", False),
    "network": ("127.0.5.9", BROWSER, "/page", True),
    "genuine and blocked by name": (GENUINE, GPTBOT, "/page", True),
    "no User-Agent": ("127.0.1.20", "", "/page", False),
}
STOPPED: Final = 403
IMPOSTORS: Final = ("127.0.1.18", "127.0.1.24")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: tmp_path_factory.mktemp(name) for name in SERVERS}


@pytest.fixture(scope="module")
def ports(folders: dict[str, Path]) -> Iterator[dict[str, int]]:
    """The servers with a remedy that refuses requests."""
    with ExitStack() as stack:
        yield {
            name: stack.enter_context(start(folders[name], remedy_of(name, ON_LOOPBACK)))
            for name, start in SERVERS.items()
        }


def remedy_of(kind: str, targets: Targets, rate: Rate | None = None) -> Remedy:
    return configuration(kind, targets, rate, bundled_registry())  # type: ignore[arg-type]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("server", SERVERS)
def test_a_server_stops_what_the_remedy_is_for(ports: dict[str, int], server: str, case: str) -> None:
    address, agent, path, is_stopped = CASES[case]
    status = status_of(ports[server], address, agent, path)
    assert (status == STOPPED) == is_stopped, status
    assert status in (200, 204, 403, 404)


@pytest.mark.parametrize("server", SERVERS)
def test_the_test_in_the_comment_succeeds(ports: dict[str, int], server: str) -> None:
    """The command sends a request with the first robot's name."""
    text = remedy_of(server, ON_LOOPBACK).text
    found = re.search(r"^# curl -I -A (\S+) https://YOUR-SITE/   \(must answer 403\)$", text, re.MULTILINE)
    assert found is not None
    assert status_of(ports[server], "127.0.1.2", found[1]) == STOPPED


def test_apache_keeps_closed_what_is_closed(ports: dict[str, int]) -> None:
    assert status_of(ports["apache"], "127.0.1.1", BROWSER, "/closed") == 403


def test_nginx_limits_a_rate(tmp_path: Path) -> None:
    """A minute has one request for the robot, whatever its addresses, after five at once; others have no limit."""
    targets = Targets((TargetRobot(known("GPTBot")),), (), (ip_network(BLOCKED),))
    with nginx(tmp_path, nginx_remedy(targets, Rate(1, 60))) as port:
        robot = [status_of(port, f"127.0.2.{number}", GPTBOT) for number in range(1, 9)]
        address = [status_of(port, BLOCKED, BROWSER) for _ in range(8)]
        browser = [status_of(port, "127.0.1.1", BROWSER) for _ in range(8)]
        file = [status_of(port, BLOCKED, GPTBOT, "/robots.txt") for _ in range(8)]
    assert robot == address == [200] * 6 + [429] * 2
    assert browser == file == [200] * 8


@pytest.mark.parametrize("server", CHECKS)
def test_nasty_names_are_accepted(server: str, tmp_path: Path) -> None:
    """The real parser takes the configuration; HOME has a quotation mark and a newline."""
    CHECKS[server](tmp_path, remedy_of(server, NASTY_TARGETS))


# ---- fail2ban -------------------------------------------------------------------------------------------------------

FAKE: Final = '192.0.2.99 - - [01/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "GPTBot/1.3"'
USER: Final = base64.b64encode(f'192.0.2.98 - x [] "GET / HTTP/1.1" 200 1 "-" "GPTBot" {FAKE}:p'.encode()).decode()

# name → address, fields of the request, path, whether its address is found
LOGGED: Final[dict[str, tuple[str, dict[str, str], str, bool]]] = {
    "a line in the User-Agent": ("127.0.3.1", {"User-Agent": FAKE}, "/page", True),
    "quotes in the User-Agent": ("127.0.3.2", {"User-Agent": 'x" 200 5 "-" "Other/1'}, "/page", False),
    "a line in the Referer": ("127.0.3.3", {"User-Agent": BROWSER, "Referer": FAKE}, "/page", False),
    "the Referer ends": ("127.0.3.4", {"User-Agent": BROWSER, "Referer": '" "GPTBot/1.3"'}, "/page", False),
    "the request ends": ("127.0.3.5", {"User-Agent": BROWSER}, '/"_200_5_"-"_"GPTBot/1.3"', False),
    "backslash": ("127.0.3.6", {"User-Agent": BROWSER, "Referer": "\\"}, "/page", False),
    "the user": ("127.0.3.7", {"User-Agent": BROWSER, "Authorization": f"Basic {USER}"}, "/page", False),
    "after a backslash": ("127.0.3.8", {"User-Agent": "\\ GPTBot/1 \\"}, "/page", True),
}


def fail2ban_remedy(targets: Targets = ON_LOOPBACK, rate: Rate | None = None) -> dict[str, Part]:
    return {Path(part.place).name: part for part in remedy_of("fail2ban", targets, rate).parts}


def found_in(log: Path, filter_: Part, folder: Path) -> set[str]:
    """Returns the addresses that fail2ban finds in a log."""
    file = folder / Path(filter_.place).name
    file.write_text(filter_.text)
    command = [program("fail2ban-regex", "fail2ban"), "-o", "ip", str(log), str(file)]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    return set(found.stdout.split())


@pytest.mark.parametrize("server", ["nginx", "apache"])
def test_fail2ban_finds_what_the_server_logged(
    server: str, ports: dict[str, int], folders: dict[str, Path], tmp_path: Path
) -> None:
    """Each address sends what is in the table; afterwards the log is read. Nothing in a field can name an address."""
    addresses = {address for address, *_ in CASES.values()}
    expected = {address for address, _, _, is_stopped in CASES.values() if is_stopped} - {
        *IMPOSTORS,
        "127.0.5.9",
    }
    for address, agent, path, _ in CASES.values():
        status_of(ports[server], address, agent, path)
    for address, fields, path, is_found in LOGGED.values():
        others = {name: value for name, value in fields.items() if name != "User-Agent"}
        status_of(ports[server], address, fields["User-Agent"], path, **others)
        addresses.add(address)
        expected |= {address} if is_found else set()
    parts = fail2ban_remedy()
    log = folders[server] / "access.log"
    assert found_in(log, parts["goodbot-robots.conf"], tmp_path) == expected
    assert found_in(log, parts["goodbot-impostors.conf"], tmp_path) == {*IMPOSTORS, GENUINE}  # its jail ignores this


LINES: Final = (
    '192.0.2.1 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "GPTBot/1.3"',
    'example.org:443 192.0.2.2 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 - "-" "GPTBot/1.3"',
    '2001:db8:1::5 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 - "-" "GPTBot/1.3"',
    '192.0.2.3 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "GPTBot/1.3" "198.51.100.7"',
    '192.0.2.4 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "\\xD0\\x91\\xD0\\xBE\\xD1\\x82/1"',
    '192.0.2.5 - - [01/Nov/2026:10:00:00 +0000] "GET /GPTBot HTTP/1.1" 200 5 "GPTBot" "Firefox" "GPTBot"',
    '192.0.2.6 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5',
    "192.0.2.7 GPTBot",
    '192.0.2.8 - - [01/Nov/2026:10:00:00 +0000] "GET /robots.txt HTTP/1.1" 200 5 "-" "GPTBot/1.3"',
    '192.0.2.10 - - [01/Nov/2026:10:00:00 +0000] "GET http://example.org/robots.txt?x HTTP/1.1" 200 5 "-" "GPTBot/1.3"',
    '192.0.2.11 - - [01/Nov/2026:10:00:00 +0000] "POST /robots.txt HTTP/1.1" 405 5 "-" "GPTBot/1.3"',
    '192.0.2.12 - - [01/Nov/2026:10:00:00 +0000] "GET http://example.org/x/robots.txt HTTP/1.1" 404 5 "-" "GPTBot/1.3"',
    '192.0.2.13 - - [01/Nov/2026:10:00:00 +0000] "GET /robots.txt/x HTTP/1.1" 404 5 "-" "GPTBot/1.3"',
    '::ffff:192.0.2.14 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "GPTBot/1.3"',
    '::ffff:192.0.2.15 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "Firefox"',
    '::ffff:192.0.2.159 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "Firefox"',
    '192.0.2.16 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "x (+https://example.org/GPTBot)"',
    '192.0.2.17 - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "bot/GPTBot/2.1 https://example.org"',
)


def test_fail2ban_reads_the_usual_formats(tmp_path: Path) -> None:
    log = tmp_path / "made.log"
    log.write_text("".join(f"{line}\n" for line in LINES))
    robots = (TargetRobot(known("GPTBot")), TargetRobot(made_robot("Бот", "Бот")))
    addresses = (ip_network("192.0.2.6"), ip_network("192.0.2.15"))
    filter_ = fail2ban_remedy(Targets(robots, (), addresses))["goodbot-robots.conf"]
    four = (1, 2, 3, 4, 6, 12, 13, 14, 15, 17)
    assert found_in(log, filter_, tmp_path) == {*(f"192.0.2.{number}" for number in four), "2001:db8:1::5"}


def test_fail2ban_takes_the_jails_and_nasty_names(tmp_path: Path) -> None:
    """fail2ban-client reads its whole configuration, with ours in it."""
    folder = tmp_path / "fail2ban"
    shutil.copytree("/etc/fail2ban", folder)
    for file in (folder / "jail.d").iterdir():
        file.unlink()
    (tmp_path / "access.log").write_text("")
    for targets in (ON_LOOPBACK, NASTY_TARGETS):
        for part in fail2ban_remedy(targets, Rate(30, 60)).values():
            text = part.text.replace("%(nginx_access_log)s", str(tmp_path / "access.log"))
            (folder / Path(part.place).relative_to("/etc/fail2ban")).write_text(text)
        line = f'{BLOCKED} - - [01/Nov/2026:10:00:00 +0000] "GET /x HTTP/1.1" 200 5 "-" "Firefox"\n'
        (tmp_path / "one.log").write_text(line)
        assert found_in(tmp_path / "one.log", fail2ban_remedy(targets)["goodbot-robots.conf"], tmp_path) == {BLOCKED}
        command = [program("fail2ban-client", "fail2ban"), "-c", str(folder), "-t"]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stdout + found.stderr
