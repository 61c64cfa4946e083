"""Measures how many requests `goodbot gate` decides, and what it adds to nginx.

    make bench-gate SECONDS=20

wrk (`apt install wrk`) sends requests of AGENTS different User-Agents from ADDRESSES addresses: of 20 requests, 10 are
of browsers, 6 of robots on record, some of them from their own addresses, 2 of unknown robots and 2 of tools such as
curl. robots.txt has 40 groups with 400 rules, and asks for a Crawl-delay. The rows:

    nginx              answers all requests itself, without rules
    nginx, map         refuses the robots that robots.txt closes, by name, in a `map` of 20 expressions: what people
                       use today; it knows neither paths, addresses nor paces
    nginx, gate        asks the gate before each request (auth_request, connections kept), in mode enforce; every
                       decision is logged
    gate               wrk asks the gate directly, as a Web server does

Each row is measured with CONNECTIONS connections twice: at about RATE requests/s, which shows how long an answer takes,
and as fast as the answers come, which shows how many there can be. `CPU µs` is the
CPU time for a request, of nginx and of the gate; each is one process. All programs share the machine with wrk. Memory
is that of the gate after each row: it must not grow once it has seen all addresses.

At the end, all decisions are made once more in one process, without sockets and log.

Anubis (a gate of puzzles) is no package of Debian, PyPI or npm, so it is not in the table.
"""

import json
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from http.client import HTTPConnection
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import psutil

from goodbot.gate.answers import answer_to
from goodbot.gate.clients import Clients
from goodbot.gate.decision import Gate, Sites
from goodbot.gate.gate_request import read_request
from goodbot.gate.policy import Policy
from goodbot.gate.rate_limits import RateLimits
from goodbot.gate.site_rules import SiteRules, access_of_file
from goodbot.registry import AddressBook, KnownRobot, robots
from goodbot.watch.addresses import AddressRanges
from goodbot.watch.counting.identities import Identities
from settings import UsageError, save, start, whole

SCRIPT = Path(__file__).parent / "gate_load.lua"
SHARES = {"browser": 10, "robot": 6, "unknown": 2, "tool": 2}
"""Of 20 requests."""
TOOLS = ("curl/8.5.0", "python-requests/2.31.0", "Go-http-client/1.1", "okhttp/4.12.0", "Wget/1.21.4")
CHROME = "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko)"
WARM_UP_S = 2

NGINX = """
daemon off; master_process off; pid {folder}/nginx.pid; error_log {folder}/error.log crit;
events {{ worker_connections 1024; }}
http {{
  access_log off;
  client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy; fastcgi_temp_path {folder}/fastcgi;
  uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
  keepalive_requests 1000000000;
  set_real_ip_from 127.0.0.1; real_ip_header X-Test-Client;
  map_hash_bucket_size 128;
  {http}
  server {{
    listen 127.0.0.1:{port};
    {server}
  }}
}}
"""
PLAIN = 'location / { return 200 "a page\\n"; }'
GATE_HTTP = "upstream goodbot {{ server 127.0.0.1:{port}; keepalive 32; keepalive_requests 1000000000; }}"
GATE_SERVER = """
    location = /goodbot-gate {
      internal;
      proxy_pass http://goodbot;
      proxy_http_version 1.1; proxy_set_header Connection "";
      proxy_pass_request_body off; proxy_set_header Content-Length "";
      proxy_set_header X-Original-URI $request_uri;
      proxy_set_header X-Original-Method $request_method;
      proxy_set_header X-Forwarded-Host $host;
      proxy_set_header X-Forwarded-For $remote_addr;
      proxy_set_header X-Goodbot-Server nginx;
    }
    location / {
      auth_request /goodbot-gate;
      auth_request_set $goodbot_status $upstream_http_x_goodbot_status;
      error_page 403 = @refused;
      try_files /page =404;
    }
    location @refused {
      if ($goodbot_status = 429) { return 429 "too fast\\n"; }
      return 403 "closed\\n";
    }
"""

SECONDS = whole("SECONDS", 10, "how long each row is asked", 1, 3600)
CONNECTIONS = whole("CONNECTIONS", 16, "requests in flight at once", 1, 200)
RATE = whole("RATE", 1000, "requests/s of the paced runs", 10, 100_000)
AGENTS = whole("AGENTS", 1000, "different User-Agents", 20, 100_000)
ADDRESSES = whole("ADDRESSES", 100_000, "different addresses", 100, 10_000_000)
SEED = whole("SEED", 1, "the seed of the requests", 0, 2**31)


@dataclass(frozen=True)
class Row:
    """The result of one run of wrk. Times in ms, CPU times in µs for a request, memory of the gate in MB."""

    program: str
    is_paced: bool
    requests: int
    requests_per_s: float
    p50_ms: float
    p95_ms: float
    p99_ms: float
    max_ms: float
    nginx_cpu_us: float
    gate_cpu_us: float
    gate_memory_mb: float
    statuses: dict[str, int]
    broken: int

    def row(self) -> str:
        """Returns a line of the table."""
        statuses = "/".join(f"{100 * count / max(1, self.requests):.0f}" for count in self.statuses.values())
        kind = "paced" if self.is_paced else "full"
        return (
            f"{self.program:<12} {kind:>5} {self.requests_per_s:>10,.0f} {self.p50_ms:>7.2f} "
            f"{self.p95_ms:>7.2f} {self.p99_ms:>7.2f} {self.max_ms:>8.1f} {self.nginx_cpu_us:>9.0f} "
            f"{self.gate_cpu_us:>8.0f} {self.gate_memory_mb:>7.0f} {statuses:>15} {self.broken:>6}"
        )


HEAD = (
    f"{'':<12} {'load':>5} {'requests/s':>10} {'p50 ms':>7} {'p95 ms':>7} {'p99 ms':>7} {'max ms':>8} "
    f"{'nginx µs':>9} {'gate µs':>8} {'gate MB':>7} {'% 200/403/429/…':>15} {'broken':>6}"
)


# ---- what is requested ----------------------------------------------------------------------------------------------


def robots_txt() -> str:
    """Returns a robots.txt of 40 groups: 20 robots are closed out, 19 have rules of their own."""
    named = [robot for robot in robots() if robot.token and not robot.control and robot.purpose != "tool"][:39]
    closed = "".join(f"User-agent: {robot.token}\nDisallow: /\n\n" for robot in named[:20])
    own = "".join(
        f"User-agent: {robot.token}\n{_rules(number)}Crawl-delay: 1\n\n" for number, robot in enumerate(named[20:])
    )
    return f"{closed}{own}User-agent: *\n{_rules(0)}Crawl-delay: 2\n"


def _rules(number: int) -> str:
    return "".join(f"Disallow: /part-{number + place}/*.pdf$\nAllow: /part-{place}/open\n" for place in range(9))


def write_requests(file: Path, dice: random.Random) -> None:
    """Writes the requests, one for each address."""
    agents = list(_agents(dice))
    book = AddressBook()
    with file.open("w") as opened:
        for number in range(ADDRESSES.value()):
            agent, robot = agents[dice.randrange(len(agents))]
            address = str(ip_address(0x0B000000 + number * 37))
            if robot is not None and robot.address_lists and dice.random() < 0.7:
                address = _address_of(robot, book, dice) or address
            path = f"/part-{dice.randrange(40)}/{dice.randrange(1000)}{dice.choice(('', '.pdf', '?page=2'))}"
            opened.write(f"{address}\t{path}\t{agent}\n")


def _agents(dice: random.Random) -> Iterator[tuple[str, KnownRobot | None]]:
    on_record = [robot for robot in robots() if robot.example and not robot.control and robot.purpose != "tool"]
    kinds = [kind for kind, share in SHARES.items() for _ in range(share)]
    for number in range(AGENTS.value()):
        kind = kinds[number % len(kinds)]
        if kind == "robot":
            robot = dice.choice(on_record)
            yield f"{robot.example}", robot
        elif kind == "unknown":
            yield f"Mozilla/5.0 (compatible; Crawler{number}Bot/1.0; +https://robot{number}.example/)", None
        elif kind == "tool":
            yield f"{dice.choice(TOOLS)}", None
        else:
            version = f"{dice.randrange(90, 140)}.0.{dice.randrange(9999)}"
            yield f"{CHROME} Chrome/{version} Safari/537.36", None


def _address_of(robot: KnownRobot, book: AddressBook, dice: random.Random) -> str | None:
    lists = [known for name in robot.address_lists if (known := book.get(name)) is not None]
    if not lists:
        return None
    network = dice.choice([network for known in lists for network in known.networks])
    return str(network[dice.randrange(min(network.num_addresses, 1 << 16))])


# ---- the programs ---------------------------------------------------------------------------------------------------


def nginx_lines(program: str, gate_port: int) -> tuple[str, str]:
    """Returns what a row has in the http block and in the server block."""
    if program == "nginx":
        return "", PLAIN
    if program == "nginx, map":
        names = [line.split(": ")[1] for line in robots_txt().splitlines() if line.startswith("User-agent")][:20]
        lines = "".join(f'"~*{name}" 1; ' for name in names)
        return f"map $http_user_agent $closed {{ default 0; {lines} }}", "if ($closed) { return 403; } " + PLAIN
    return GATE_HTTP.format(port=gate_port), GATE_SERVER


@contextmanager
def nginx(folder: Path, lines: tuple[str, str]) -> Iterator[tuple[int, psutil.Process]]:
    """Runs nginx with one process."""
    port, (http, server) = free_port(), lines
    (folder / "html").mkdir(exist_ok=True)
    (folder / "html" / "page").write_text("a page\n")
    config = folder / "nginx.conf"
    config.write_text(NGINX.format(folder=folder, port=port, http=http, server=f"root {folder}/html; {server}"))
    with running(["nginx", "-e", str(folder / "error.log"), "-c", str(config)], port, folder) as process:
        yield port, process


@contextmanager
def gate(folder: Path) -> Iterator[tuple[int, psutil.Process]]:
    """Runs the gate."""
    port = free_port()
    (folder / "robots.txt").write_text(robots_txt())
    (folder / "gate.toml").write_text('contact = "webmaster@example.org"\nreverse_dns = false\n')
    command = [sys.executable, "-m", "goodbot", "gate", "--robots", str(folder / "robots.txt"), "--port", str(port)]
    command += ["--policy", str(folder / "gate.toml"), "--log", str(folder / "gate.log")]
    with running(command, port, folder) as process:
        yield port, process


@contextmanager
def running(command: Sequence[str], port: int, folder: Path) -> Iterator[psutil.Process]:
    """Runs a server from the time it accepts connections until the block ends."""
    with (
        (folder / "output.txt").open("ab") as output,
        subprocess.Popen(command, stdout=output, stderr=output) as server,
    ):
        try:
            end = time.monotonic() + 30
            while True:
                try:
                    socket.create_connection(("127.0.0.1", port), 5).close()
                    break
                except OSError:
                    if server.poll() is not None or time.monotonic() > end:
                        raise SystemExit(f"{command[0]} did not start: {(folder / 'output.txt').read_text()}") from None
                    time.sleep(0.05)
            yield psutil.Process(server.pid)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(30)


def free_port() -> int:
    """Returns a port of loopback on which nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
        return port


def alone(requests: Path, folder: Path) -> dict[str, float]:
    """Decides about all requests in this process, without sockets and log; returns CPU µs for a decision, and how long
    50, 99 and 99.9 % of them take at most, in ms. Every User-Agent has been seen before."""
    policy = Policy(reverse_dns=False)
    sites = Sites(SiteRules(access_of_file((folder / "robots.txt").read_bytes())), {})
    decider = Gate(policy, Clients(Identities()), sites, RateLimits(policy.addresses))
    proxies = AddressRanges(policy.networks())
    asked = [line.rstrip("\n").split("\t") for line in requests.open()]
    fields = [
        [
            (b"x-original-uri", path.encode()),
            (b"x-forwarded-host", b"example.org"),
            (b"x-forwarded-for", address.encode()),
            (b"user-agent", agent.encode()),
        ]
        for address, path, agent in asked
    ]
    times = []
    for is_measured in (False, True):
        before_s = time.process_time()
        for one in fields:
            began_s = time.perf_counter()
            request = read_request("GET", "/", one, "127.0.0.1", proxies)
            answer_to(request, decider.decide(request, time.time(), began_s), policy)
            if is_measured:
                times.append(1000 * (time.perf_counter() - began_s))
    spent_s = time.process_time() - before_s
    times.sort()
    shares = {"p50_ms": 0.5, "p99_ms": 0.99, "p99_9_ms": 0.999}
    return {"cpu_us": 1e6 * spent_s / len(fields)} | {
        name: times[int(share * (len(times) - 1))] for name, share in shares.items()
    }


# ---- measuring ------------------------------------------------------------------------------------------------------


def load(
    program: str,
    port: int,
    requests: Path,
    delay_ms: float,
    server: psutil.Process | None,
    gate: psutil.Process | None,
) -> Row:
    """Runs wrk against a server, after a warm-up."""
    is_direct = server is None
    wrk(port, requests, delay_ms, WARM_UP_S, is_direct=is_direct)
    before = [cpu_s(process) for process in (server, gate)]
    figures = wrk(port, requests, delay_ms, SECONDS.value(), is_direct=is_direct)
    spent = [cpu_s(process) - was for process, was in zip((server, gate), before, strict=True)]
    count = max(1, figures["requests"])
    return Row(
        program,
        delay_ms > 0,
        figures["requests"],
        figures["requests"] / figures["wall_s"],
        figures["p50_ms"],
        figures["p95_ms"],
        figures["p99_ms"],
        figures["max_ms"],
        1e6 * spent[0] / count,
        1e6 * spent[1] / count,
        gate.memory_info().rss / 1e6 if gate is not None else 0.0,
        {name.removeprefix("status_"): figures[name] for name in figures if name.startswith("status_")},
        figures["broken"],
    )


def wrk(port: int, requests: Path, delay_ms: float, seconds: int, *, is_direct: bool) -> dict[str, Any]:
    """Runs wrk; returns its figures."""
    command = ["wrk", "-t1", f"-c{CONNECTIONS.value()}", f"-d{seconds}s", "--timeout", "30s", "-s", str(SCRIPT)]
    environment = {**os.environ, "REQUESTS": str(requests), "FORWARDED": "1" if is_direct else "0"}
    environment["DELAY_MS"] = str(round(delay_ms))
    command.append(f"http://127.0.0.1:{port}")
    output = subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stdout
    figures: dict[str, Any] = json.loads(output.splitlines()[-1])
    return figures


def cpu_s(process: psutil.Process | None) -> float:
    """Returns the CPU seconds of a process."""
    if process is None:
        return 0.0
    times = process.cpu_times()
    return float(times.user + times.system)


def decisions(port: int) -> int:
    """Returns how many decisions the gate has counted."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/metrics")
    lines = connection.getresponse().read().decode().splitlines()
    connection.close()
    return sum(int(float(line.split()[-1])) for line in lines if line.startswith("goodbot_gate_decisions_total{"))


def main() -> int:
    """Prints the table and writes all figures as JSON."""
    for program, package in {"wrk": "wrk", "nginx": "nginx-light"}.items():
        if shutil.which(program) is None:
            raise UsageError(f"{program} is not installed; apt install {package}")
    before = round(os.getloadavg()[0], 2)
    rows: list[Row] = []
    with tempfile.TemporaryDirectory() as place, ExitStack() as stack:
        folder = Path(place)
        requests = folder / "requests"
        write_requests(requests, random.Random(SEED.value()))
        print(f"{AGENTS.value():,} agents, {ADDRESSES.value():,} addresses (load before {before})\n{HEAD}", flush=True)
        gate_port, gate_process = stack.enter_context(gate(folder))
        for program in ("nginx", "nginx, map", "nginx, gate", "gate"):
            asked = gate_process if program in ("nginx, gate", "gate") else None
            with ExitStack() as own:
                port, server = (
                    (gate_port, None)
                    if program == "gate"
                    else own.enter_context(nginx(folder, nginx_lines(program, gate_port)))
                )
                for delay_ms in (1000 * CONNECTIONS.value() / RATE.value(), 0.0):
                    rows.append(load(program, port, requests, delay_ms, server, asked))
                    print(rows[-1].row(), flush=True)
        counted = decisions(gate_port)
        decided = alone(requests, folder)
    print("a decision alone: " + ", ".join(f"{name} {value:.3g}" for name, value in decided.items()))
    print(f"{counted:,} decisions were made and logged in all")
    figures = {
        "load": before,
        "agents": AGENTS.value(),
        "addresses": ADDRESSES.value(),
        "decisions": counted,
        "alone": decided,
    }
    save("gate", {**figures, "rows": [asdict(row) for row in rows]})
    return 1 if any(row.broken or row.statuses["other"] for row in rows) else 0


if __name__ == "__main__":
    raise SystemExit(start(__file__, __doc__, (SECONDS, CONNECTIONS, RATE, AGENTS, ADDRESSES, SEED), main))
