"""No text from outside steers a terminal, whichever command prints it."""

import asyncio
import json
import os
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from unicodedata import category

import pytest

from goodbot.cli import main
from goodbot.cli.commands import COMMANDS
from webserver import WebServer, answer

EVIL = "x\x1b]52;c;aGk=\x07\x9b31m\x7f\u202e\u2028\u200b\u00ad\udc80\U000e0041y"
"""Control and format characters, a line separator, a lone surrogate."""

EVIL_BYTES = EVIL.encode("utf-8", "surrogatepass")
EVIL_NAME = os.fsdecode(b"a\x1b]52;c;aGk=\x07\xff\xe2\x80\xae\n.txt")
EVIL_HEADER = "x\x1b]52;c;aGk=\x07\x9b\x7f"
ROBOTS = (
    b"User-agent: goodbot\nDisallow: /closed\x1b[2J*%s\nUser-agent: %s\nDisallow : /\nEvil%s: %s\nSitemap: %s\n"
    % ((EVIL_BYTES,) * 5)
)
PAGE = b"""<!doctype html><title>%s word</title><meta name=robots content="noindex%s, nofollow%s">
<meta name=goodbot content="index, follow, %s"><meta name=description content="%s">
<p>word %s word <a href="/two?%s">%s</a> <a href="/closed\x1b[2Jz%s">c</a> <a href="/moved">m</a> <a href="/typed">t</a>
<a href="http://evil\x1b.example/">e</a> <a href="/two" rel="nofollow%s">n</a>""" % ((EVIL_BYTES,) * 10)
LOG = b'%s - - [01/Nov/2026:10:00:00 +0000] "GET /%s HTTP/1.1" 200 5 "%s" "GPTBot/1.3 %s"\n' % (
    (EVIL_BYTES.replace(b" ", b""),) * 4
)
ANONYMOUS_LOG = LOG.replace(b"GPTBot", b"Mozilla")
EVIL_TEXT = EVIL.replace("\udc80", "")
EVIL_ROBOT = {
    "tier": "declared",
    "disallowed": 1,
    "evidence": [EVIL_TEXT],
    "user_agents": [{"user_agent": EVIL_TEXT}],
    "obedience": {"rules": [{"rule": EVIL_TEXT, "group": [EVIL_TEXT], "log_lines": [EVIL_TEXT]}]},
}
PLAN = """start = 2026-10-30
url = "https://example.org"
repeat = true
[[phase]]
name = "open"
[[phase]]
name = "evil"
robots = """
EVIL_RULES = f"User-agent: *\nDisallow: /{EVIL_TEXT}\nUser-agent: {EVIL_TEXT}\nDisallow: /\n"
PLAN += '"' + "".join(f"\\U{ord(character):08x}" for character in EVIL_RULES) + '"\n'
REPORT = json.dumps({"robots": [EVIL_ROBOT | {"name": name} for name in ("GPTBot", EVIL_TEXT)]})
FIELDS = (("Content-Type", "text/html; charset=utf-8"), ("X-Robots-Tag", EVIL_HEADER), ("Link", f"<{EVIL_HEADER}>"))


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A site full of such characters."""
    routes = {
        "/robots.txt": answer(ROBOTS, headers=(("Content-Type", f"text/plain{EVIL_HEADER}"),)),
        "/": answer(PAGE, headers=FIELDS),
        "/moved": answer(b"", 302, (("Location", f"/closed\x1b[2J{EVIL_HEADER}"),)),
        "/typed": answer(PAGE, headers=(("Content-Type", f"text/html{EVIL_HEADER}"),)),
    }
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = WebServer(routes, fallback=answer(PAGE, headers=FIELDS))
    asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result()
    yield server.url("/")
    asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


@pytest.fixture(scope="module")
def place(url: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working folder, with a crawl of the site in `crawl`."""
    folder = tmp_path_factory.mktemp("hostile")
    (folder / EVIL_NAME).write_bytes(ROBOTS)
    (folder / "robots.txt").write_bytes(ROBOTS)
    (folder / "other.txt").write_bytes(b"User-agent: *\nAllow: /closed\n")
    (folder / "page.html").write_bytes(PAGE)
    (folder / "run.jsonl").write_bytes(b'{"id": "1\\u001b]52;", "text": "word"}\n')
    (folder / "policy.toml").write_text(f'close = ["/{EVIL_NAME}"]'.replace("\n", "").replace("\udcff", ""))
    (folder / "access.log").write_bytes(LOG + 10 * ANONYMOUS_LOG.replace(b"GET /", b"GET /wp-login.php?") + EVIL_BYTES)
    (folder / "plan.toml").write_text(PLAN)
    (folder / "evil.toml").write_text(PLAN + f"{json.dumps(EVIL_TEXT)} = 1\n")
    (folder / "report.json").write_text(REPORT)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        assert main(["crawl", url, "--into", "crawl", "--allow-private", "--max-pages", "3"]) == 0
    return folder


CASES = [
    "crawl {url} --into crawl --allow-private",
    "crawl {url} --into again --allow-private --json",
    "crawl {url} --into dry --allow-private --dry-run",
    "crawl {evil} --into dry",
    "crawl {url} --into dry --{evil}",
    "crawl {url} --into dry --agent {evil}",
    "crawl {url} --into dry --include [{evil}",
    "crawl --seeds {file} --into dry",
    "crawl --config {file} --into dry",
    "fetch {url} --allow-private",
    "fetch {url} {url}moved --allow-private --as text",
    "fetch {url} {url}typed --allow-private --as html --whole",
    "fetch {url} {url}closed%1B[2Jz --allow-private --json",
    "fetch {url}{evil} --allow-private",
    "fetch {evil}",
    "status --in crawl",
    "status --in {file}",
    "pause --in crawl",
    "resume --in crawl",
    "stop --in crawl",
    "submit {url}{evil} --in crawl",
    "submit {evil} --in crawl",
    "export --in crawl --what urls",
    "export --in crawl --what pages",
    "export --in crawl --what links",
    "export --in crawl --what {evil} --format {evil}",
    "why {url} --in crawl",
    "why {url}moved --in crawl",
    "why {url}typed --in crawl",
    "why {url}closed%1B[2Jz --in crawl",
    "why {url}{evil} --in crawl",
    "why {evil} --in crawl",
    "lessons list --in crawl",
    "lessons drop {evil} --in crawl",
    "courtesy --in crawl",
    "courtesy --in crawl --json",
    "courtesy --in crawl --format html",
    "courtesy --in crawl --host {evil}",
    "audit --in crawl",
    "audit --in crawl --json",
    "audit --in crawl --format html",
    "audit --in crawl --format sarif",
    "audit --in crawl --host {evil}",
    "audit --in crawl --ignore {evil}",
    "audit --in {file}",
    "sitemap --in crawl -o sitemap.xml",
    "sitemap --in crawl -o {file}/x",
    "sitemap --in crawl -o sitemap.xml --base {evil}",
    "sitemap --in crawl -o sitemap.xml --host {evil}",
    "archive check --in crawl",
    "archive repair --in crawl",
    "archive import {file} --into imported",
    "archive import {evil} --into imported",
    "archive import crawl --into {evil}",
    "archive export --wacz -o {file}/x --in crawl",
    "archive export --wacz -o x.wacz --in {evil}",
    "search word --in crawl",
    "search word --in crawl --json",
    "search --run run.jsonl --in crawl",
    "search word{evil} --in crawl",
    "search --run {file} --in crawl",
    "search word{evil} --in crawl --with {url}{evil}?q={{searchTerms}}",
    "search word --with {url}{evil}",
    "search word --with {evil}",
    "index rebuild --in crawl",
    "index snapshot --in crawl --to {file}",
    "index snapshot --in crawl --to {evil}",
    "index snapshot --in crawl --to {url}{evil}",
    "index snapshot --in crawl --to evil://{evil}",
    "index snapshot --in crawl --to copies --every {evil}",
    "serve --in {file}",
    "serve --follow {file} --into copy",
    "serve --follow {evil} --into copy",
    "serve --follow {url}{evil} --into copy",
    "serve --follow evil://{evil} --into copy",
    "serve --follow {url} --follow-every {evil}",
    "serve --follow {url} --into {file}",
    "key new -o {file}",
    "key show {file}",
    "key show {file} --json",
    "key indexnow --into {file}",
    "key indexnow --check {url}",
    "key indexnow --check {url} {evil}",
    "key indexnow --check {evil} 0123456789abcdef",
    "key indexnow --check {url}moved 0123456789abcdef",
    "announce {url} --to {url}two --key 0123456789abcdef --dry-run",
    "announce {url}{evil} --to {evil} --key {evil}",
    "announce {evil} --to {url} --key 0123456789abcdef",
    "announce --urls {file} --to {url} --key 0123456789abcdef",
    "announce --sitemap {file} --to {url} --key {file}",
    "announce --sitemap {url} --to {url} --key 0123456789abcdef",
    "announce --in crawl --changed --state {file} --to {url} --key 0123456789abcdef",
    "allowed robots.txt --agent {evil} /closed {url}{evil}",
    "allowed robots.txt --agent goodbot --dialect all /closed",
    "allowed robots.txt --agent goodbot --json /closed {url}{evil}",
    "allowed {url} --agent goodbot {url}closed%1B[2Jz",
    "allowed {file} --agent goodbot {evil}",
    "allowed {evil} --agent goodbot /",
    "directives page.html --agent {evil} --header X-Robots-Tag:{evil}",
    "directives page.html --json",
    "directives {url}two",
    "directives {url}closed%1B[2Jz",
    "directives {evil}",
    "remember {url} --into history --page {url}two",
    "remember {url} --into history --page {url}two --file other.txt",
    "remember {url} --into history --file other.txt --json",
    "remember {url} --into {file}",
    "remember {evil} --into history",
    "remember {url} --into history --page {evil}",
    "remember {url} --into history --every {evil}",
    "check robots.txt page.html {file}",
    "check robots.txt page.html {file} --json",
    "check robots.txt page.html {file} --format github",
    "check robots.txt page.html {file} --format sarif",
    "check {file} --fix --diff",
    "check {file} --diff",
    "check {url} {url}two {evil}",
    "check robots.txt --ignore {evil}",
    "explain {evil}",
    "completion {evil}",
    "vectors --section {evil}",
    "vectors --dialect {evil}",
    "vectors --section 2.3.1.5",
    "cluster status --in crawl",
    "cluster status --in {file}",
    "cluster status --frontier {evil}",
    "cluster workers --frontier postgresql://{evil}@{evil}/{evil}?{evil}",
    "config --in crawl",
    "config --in {file}",
    "config --config {file}",
    "watch access.log",
    "watch access.log --robot gptbot",
    "watch access.log --robot {evil}",
    "watch access.log --json",
    "watch access.log --format csv",
    "watch access.log --format prometheus",
    "watch access.log --log-format {evil}",
    "watch access.log --since {evil}",
    "watch access.log --real-ip --trusted-proxy {evil}",
    "watch access.log --keys {evil}",
    "watch access.log --keys {evil}={file}",
    "watch access.log --processes {evil}",
    "watch access.log --state {file}",
    "watch {file} {evil}",
    "impact robots.txt other.txt --log access.log",
    "impact robots.txt --log access.log --json",
    "impact robots.txt {file} --log {file}",
    "impact {file} --in crawl",
    "impact {url} robots.txt --in crawl",
    "impact robots.txt --urls page.html --agent {evil}",
    "impact robots.txt --urls {file}",
    "impact robots.txt --urls page.html --host {evil}",
    "impact {evil} --log {evil}",
    "study plan.toml",
    "study plan.toml --json",
    "study plan.toml --publish due.txt",
    "study plan.toml --publish {file}",
    "study plan.toml --log access.log --log {file}",
    "study evil.toml",
    "study {file}",
    "study {evil} --log {evil}",
    "mcp --in {file}",
    "mcp --private-host {evil}",
    "mcp --agent {evil} --contact {evil}",
    "mcp --http 0 --public-url {evil}",
    "gate --robots {evil}",
    "gate --robots robots.txt --policy {file} --port 0",
    "gate --robots robots.txt --keys {evil}={file} --port 0",
    "gate --robots evil://{evil} --nameserver {evil}",
    "gate export --robots robots.txt --format nginx",
    "gate export --robots {file} --format caddy",
    "gate export --robots {evil} --format cidr --policy {evil}",
    "gate rewrite-map --gate {evil}",
    "remedy nginx --report report.json",
    "remedy caddy --report report.json --undeclared --json",
    "remedy letter --report report.json --robot GPTBot --website {evil} --done {evil}",
    "remedy robots --robot {evil}",
    "remedy cidr --address {evil}",
    "remedy fail2ban --report {file}",
    "remedy nginx --robot GPTBot --rate {evil}",
    "incidents add {evil} --robot GPTBot --state notes",
    "incidents add x --robot {evil} --state {file}",
    "incidents list --state notes",
    "incidents list --state {file} --robot {evil}",
    "who {evil} -",
    "who {evil} --json",
    "who --refresh {file}",
    "who --list --purpose {evil}",
    "who update {evil}",
    "who update --from {file}",
    "who update ahrefs --from {evil}",
    "write --merge robots.txt other.txt -o merged.txt",
    "write --merge robots.txt other.txt -o robots.txt --diff",
    "write --close /{evil}",
    "write --no-robot {evil}",
    "write --policy {file}",
    "write --policy policy.toml",
    "format --diff robots.txt",
    "format --write {file}",
    "format {evil}",
    "exam --site {evil}",
    "exam --site robots-404 --minutes 0.05 -- sh -c 'printf {evil}\\n; exit 3' {{seeds}}",
    "exam -- {evil} {{seeds}}",
    "forget {evil} --in crawl",
    "forget evil.example --in crawl",
    "demo {evil}",
    "{evil}",
]


def arguments_of(case: str, url: str) -> list[str]:
    """A quoted part is one argument."""
    quoted = case.split("'")
    words = [word for number, part in enumerate(quoted) for word in ([part] if number % 2 else part.split())]
    return [word.format(url=url, evil=EVIL, file=EVIL_NAME) for word in words]


def raw(text: str) -> list[str]:
    """What should not be in it."""
    return [each for each in text if not (each.isprintable() or each == "\n" or category(each) == "Zs")]


@pytest.mark.parametrize("case", CASES)
def test_no_command_prints_what_steers_a_terminal(
    case: str, url: str, place: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(place)
    if "--diff" in case or case.startswith("fetch"):  # elsewhere programs need the bytes as they are
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    status = main(arguments_of(case, url))
    out, err = capfd.readouterr()
    assert status in (0, 1, 2)
    assert raw(out + err) == []
    assert "Traceback" not in err
    assert out or err


def test_a_query_may_begin_with_a_minus(place: Path, capfd: pytest.CaptureFixture[str]) -> None:
    folder = ("--in", str(place / "crawl"))
    for arguments in (
        ["-history word", *folder],
        [*folder, "--top", "2", "-history word"],
        [*folder, "--", "-history word"],
    ):
        assert main(["search", "--json", *arguments]) == 0
        found = json.loads(capfd.readouterr().out)
        assert found["query"] in arguments
        assert found["total"]
    assert main(["search", "--json", "-history", *folder]) == 0
    assert json.loads(capfd.readouterr().out)["searched_for"] == "without history"


def test_every_command_is_walked() -> None:
    assert {case.partition(" ")[0] for case in CASES} - {"{evil}"} == set(COMMANDS)
