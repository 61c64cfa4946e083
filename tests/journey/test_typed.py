"""Every command of README and docs runs as it stands there, in a new folder; example.org is served from here."""

import asyncio
import os
import re
import shlex
import signal
import sys
import tomllib
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path

import click
import pytest
import trustme

from goodbot.cli.command_with_others import CommandWithOthers
from goodbot.cli.commands import COMMANDS, group
from journey.goodbot_process import ended, start
from journey.sample_web import Proxy
from programs import ROOT, blocks_of

DOCS = ROOT / "docs"
HANDBOOK = ROOT / "src" / "goodbot" / "demo" / "sites" / "handbook"
TRANSCRIBED = [ROOT / "README.md", *sorted((DOCS / "start").glob("*.md"))]
"""Pages whose `console` blocks `test_transcripts` runs."""
PAGES = [
    *TRANSCRIBED,
    *(DOCS / f"{name}.md" for name in ("tutorial", "recipes", "exclusion", "library", "database")),
    *sorted((DOCS / "how-to").glob("*.md")),
    *sorted(HANDBOOK.glob("*.md")),
]
NAMES = [str(page.relative_to(ROOT)) for page in PAGES]

LONG_PAGES = {
    "docs/recipes.md",
    *(
        f"docs/how-to/{name}.md"
        for name in ("ci", "copy-an-index", "search-several-folders", "site-owners", "test-vectors", "watch-robots")
    ),
}
"""Their commands take long."""

NOT_RUN = {
    r"(\.venv/bin/)?pip (install|wheel|uninstall) |apt install |python3 -m venv ": "installs software",
    r"make ": "is a target of the Makefile",
    r"goodbot who (.*--reverse-dns|update( [a-z -]+)?$)": "asks a public service",
    r"goodbot announce (?!.*--dry-run)": "sends requests to public services: other tests have such services",
    r"goodbot (search|serve) .*--with": "sends requests to public services: other tests have such services",
    r"goodbot crawl .*--archive-to s3:": "needs an object store: other tests move files to folders and others",
    r"goodbot (cluster\b|crawl .*--frontier)": "needs a PostgreSQL server or Spark: other tests start one",
    r"goodbot watch( *(#.*)?$| .*/var/log/)": "reads the logs of the reader's server",
    r"goodbot remember .*--every": "runs until Ctrl-C: a test of its own does that",
    r"goodbot index snapshot .*--every": "runs until Ctrl-C: a test of its own does that",
    r"goodbot mcp ": "runs until its client leaves: tests of its own do that",
    r"goodbot gate (?!export)": "runs until Ctrl-C: tests of its own do that",
    r"goodbot watch .*--follow": "runs until Ctrl-C: tests of its own do that",
    r"python3 -m http\.server |curl http://127\.0\.0\.1": "is one side of a conversation that other tests have",
    r"goodbot exam -- |(\.venv/bin/)?python \w+\.py": "runs a program of the reader's: other tests have such programs",
}
"""Commands, by how they begin, and why they are not run here."""

SLOW = ("goodbot (crawl|fetch) .*--render",)
"""Commands that take long."""

_PAGE = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>Old</title><p>x"
WARC = (
    "WARC/1.0\r\nWARC-Type: response\r\nWARC-Date: 2024-03-01T10:00:00Z\r\nWARC-Target-URI: https://example.org/old\r\n"
    f"Content-Type: application/http\r\nContent-Length: {len(_PAGE)}\r\n\r\n{_PAGE}\r\n\r\n"
)

OF_THE_READER = {
    "robots.txt": "User-agent: *\nDisallow: /private/\n",
    "new.txt": "User-agent: *\nDisallow: /shop/\n",
    "urls.txt": "/\n/shop/1\n",
    "page.html": "<title>Page</title><meta name=robots content=noarchive><p>x",
    "old.html": "<title>Old</title><meta name=robots content=noindex><p>x",
    "bookmarks.html": '<!DOCTYPE NETSCAPE-Bookmark-file-1><DL><DT><A HREF="https://example.org/care">c</A></DL>',
    "archive.mbox": "From a Mon Jan  1 00:00:00 2024\nFrom: a@example.org\n\nhttps://example.org/news.html\n",
    "old.warc": WARC,
    "more.warc.gz": WARC.replace("/old", "/more"),
    "alice.txt": "User-agent: *\nDisallow: /alice/private/\n",
    "access.log": '192.0.2.1 - - [01/Nov/2026:10:00:00 +0000] "GET / HTTP/1.1" 200 5 "-" "GPTBot/1.3"\n',
    "bob.txt": "User-agent: *\nDisallow: /bob/\n",
    "chatgpt.com.json": '{"keys":[{"kty":"OKP","crv":"Ed25519","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}',
}
"""Files that a reader has before the first command, unless a command of the page writes them."""

_COMMAND = re.compile(r"(?:\.venv/bin/)?(?:goodbot|make|pip|python3?|curl|apt)\s|GOODBOT_\w+=\S+ goodbot ")


def commands_of(text: str) -> Iterator[str]:
    """What is typed in blocks and tables, in order."""
    fenced = False
    lines = iter(text.splitlines())
    for line in lines:
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif line.startswith("|"):
            yield from (span for span in re.findall(r"`([^`]+)`", line) if _COMMAND.match(span))
        elif (fenced or line.startswith("    ")) and _COMMAND.match(command := line.strip().removeprefix("$ ")):
            while command.endswith("\\"):
                command = command[:-1] + next(lines).strip()
            yield command


def examples_of(page: Path) -> str:
    """The page without the commands that other tests run, and without the tables of the handbook, which name commands
    but do not show how they are typed."""
    text = page.read_text(encoding="utf-8")
    if page in TRANSCRIBED:
        return re.sub(r"```console\n.*?```", "", text, flags=re.DOTALL)
    return re.sub(r"^\|.*", "", text, flags=re.MULTILINE) if page.is_relative_to(HANDBOOK) else text


def is_form(command: str) -> bool:
    """Whether something is left out; commands that are only named are told by the options that they need."""
    return "…" in command or command in ("goodbot crawl", "goodbot serve", "goodbot status")


@dataclass(frozen=True)
class Web:
    """The settings by which a crawl finds example.org here, and where commands without settings find the same site."""

    settings: dict[str, str]
    origin: str

    def typed(self, command: str) -> str:
        """The command as it is run here."""
        asks = re.match(r"goodbot (check|directives|impact|key|remember) .*https:", command)
        return command.replace("https://example.org", self.origin) if asks else command


@pytest.fixture
async def web(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Web]:
    authority = trustme.CA()
    file = tmp_path_factory.mktemp("authority") / "ca.pem"
    authority.cert_pem.write_to_path(file)
    async with AsyncExitStack() as stack:
        proxy = await stack.enter_async_context(Proxy(authority.issue_cert("example.org", "www.example.org")))
        settings = {"GOODBOT_PROXY": proxy.origin, "GOODBOT_CA_FILE": str(file), "GOODBOT_DELAY": "0"}
        yield Web(settings, proxy.site)


async def run(command: str, folder: Path, web: Web) -> None:
    command = web.typed(command)
    if re.search(r"[>|]|^GOODBOT", command):
        process = await asyncio.create_subprocess_exec(
            *("sh", "-c", f'goodbot() {{ "{sys.executable}" -m goodbot "$@"; }}; {command}'),
            cwd=folder,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={**os.environ, "HOME": str(folder), **web.settings},
        )
    else:
        process = await start(*shlex.split(command, comments=True)[1:], folder=folder, settings=web.settings)
    async with asyncio.timeout(300):
        end = await ended(process)
    assert "Traceback" not in end.err, (command, end.err)
    assert end.status < 2 or "no crawl is running" in end.err, (command, end.err)


async def serve(command: str, folder: Path, web: Web) -> None:
    names = re.findall(r"--in (\S+)", command)
    folders = [text for name in names for text in ("--in", name if (folder / name).is_dir() else "crawl")]
    process = await start("serve", *folders, "--port", "0", folder=folder, settings=web.settings)
    assert process.stderr is not None
    assert "http://127.0.0.1:" in (await process.stderr.readline()).decode()
    process.send_signal(signal.SIGINT)
    assert (await ended(process)).status in (0, 130)


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.long) if name in LONG_PAGES else name for name in NAMES]
)
async def test_the_commands_of_a_page(name: str, tmp_path: Path, web: Web) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    typed = [command for command in commands_of(examples_of(ROOT / name)) if not is_form(command)]
    typed = [command for command in typed if not any(re.match(begin, command) for begin in (*NOT_RUN, *SLOW))]
    for file, content in OF_THE_READER.items():
        if not any(re.match(rf"goodbot write .*(-o|--output) {file}", command) for command in typed):
            (tmp_path / file).write_text(content, encoding="utf-8")
    for policy in [block for block in blocks_of(text, "toml") if "everyone" in block]:
        (tmp_path / "policy.toml").write_text(policy, encoding="utf-8")
    for place in ("crawl", "DIR"):
        named = [command for command in typed if re.search(rf"--in(to)? {place}\b", command)]
        if named and ("--in " in named[0] or named[0] == f"goodbot crawl --into {place}"):
            await run(f"goodbot crawl https://www.example.org/ --into {place} --contact me@example.org", tmp_path, web)
    for command in typed:
        if "goodbot serve" in command:
            await serve(command, tmp_path, web)
        else:
            await run(command.removeprefix(".venv/bin/"), tmp_path, web)


@pytest.mark.long
@pytest.mark.parametrize("name", [name for name in NAMES if "--render" in (ROOT / name).read_text(encoding="utf-8")])
async def test_the_slow_commands_of_a_page(name: str, tmp_path: Path, web: Web) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    slow = [command for command in commands_of(text) if any(re.match(begin, command) for begin in SLOW)]
    assert slow
    for command in slow:
        await run(command, tmp_path, web)


@pytest.mark.parametrize("page", sorted((HANDBOOK / "ru").glob("*.md")), ids=lambda page: page.name)
def test_a_translation_has_the_same_commands(page: Path) -> None:
    original = (HANDBOOK / page.name).read_text(encoding="utf-8")
    assert [*commands_of(page.read_text(encoding="utf-8"))] == [*commands_of(original)]


def test_what_is_not_run_is_there() -> None:
    """No reason is kept for a command that has gone; targets and extras exist."""
    typed = [command for page in PAGES for command in commands_of(page.read_text(encoding="utf-8"))]
    assert [begin for begin in NOT_RUN if not any(re.match(begin, command) for command in typed)] == []
    targets = set(re.findall(r"^([\w.-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert {command.split()[1] for command in typed if command.startswith("make ")} <= targets
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    every = "".join(page.read_text(encoding="utf-8") for page in PAGES)
    asked = re.findall(r"pipx? install '?(?!https:|\S*\.whl)([\w.]+)(?:\[([\w,]+)\])?", every)
    assert {name for name, _ in asked} == {"."}  # goodbot is in no package index
    assert {extra for _, extras in asked for extra in extras.split(",") if extra} <= set(
        project["optional-dependencies"]
    )


def _command(words: list[str]) -> click.Command | None:
    """The command that these words begin with."""
    command: click.Command | None = group
    with click.Context(group) as context:
        for word in words:
            if isinstance(command, CommandWithOthers):
                return command.others.get(word, command)
            if not isinstance(command, click.Group) or word.startswith("-"):
                break
            command = command.get_command(context, word)
    return command


NAMING = [
    *PAGES,
    *sorted({*DOCS.rglob("*.md"), *ROOT.glob("*.md")} - {*PAGES, *DOCS.glob("decisions/*"), ROOT / "CHANGELOG.md"}),
]
"""Pages that name commands of this version: all but the history of the project."""

FORMS = sorted(
    {
        *(form for page in NAMING for form in re.findall(r"`(goodbot [a-z][^`]*)`", page.read_text(encoding="utf-8"))),
        *(command for page in PAGES for command in commands_of(page.read_text(encoding="utf-8"))),
    }
)


@pytest.mark.parametrize("form", [form for form in FORMS if form.startswith("goodbot ")])
def test_every_command_that_is_named_exists_with_its_options(form: str) -> None:
    words = form.partition(" -- ")[0].replace("…", " ").split()[1:]
    assert words[0] in COMMANDS
    command = _command(words)
    assert command is not None
    known = {"--help", *(name for each in command.params for name in (*each.opts, *each.secondary_opts))}
    assert {word for word in words if re.fullmatch(r"--[a-z-]+", word)} <= known
