"""What commands print, and how: colours, widths, encodings, a reader that goes away."""

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from goodbot.cli import main
from goodbot.cli.printing import Styled, joined, json_text, styled
from goodbot.demo import DemoWeb

ROBOTS = b"User-agent: GPTBot\nDisalow: /a/path/with\x1b[2J/several/parts\nDisallow: /private\n"
UNTIDY = b"User-agent : *\nDisallow : /a\n"
PAGE = b'<title>t</title><meta name="robots" content="noindex, nofollow, max-snippet:20"><p>text'
STYLE = re.compile(r"\x1b\[[0-9;]*m")


def on_a_terminal(*arguments: str, columns: int = 80, **environment: str) -> str:
    """What a terminal of so many columns gets from a command."""
    ours, theirs = pty.openpty()
    variables = {"PATH": os.environ["PATH"], "COLUMNS": str(columns), "TERM": "xterm", **environment}
    command = [sys.executable, "-m", "goodbot", *arguments]
    with subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=variables) as process:
        os.close(theirs)
        pieces = []
        try:
            while piece := os.read(ours, 65_536):
                pieces.append(piece)
        except OSError:  # EIO: the other end is closed
            pass
        process.wait()
    os.close(ours)
    return b"".join(pieces).decode().replace("\r\n", "\n")


@pytest.fixture
def robots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    Path("robots.txt").write_bytes(ROBOTS)
    Path("untidy.txt").write_bytes(UNTIDY)
    Path("page.html").write_bytes(PAGE)
    return "robots.txt"


COMMANDS = [
    ("check", "robots.txt"),
    ("who", "GPTBot", "Gogglebot"),
    ("directives", "page.html"),
    ("allowed", "robots.txt", "--agent", "GPTBot", "/private", "/open"),
    ("exam", "--list", "--site", "robots-404"),
]


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_a_dumb_terminal_gets_no_escape_codes(robots: str, command: tuple[str, ...]) -> None:
    assert "\x1b" not in on_a_terminal(*command, TERM="dumb")


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_a_narrow_terminal_without_colours(robots: str, command: tuple[str, ...]) -> None:
    text = on_a_terminal(*command, columns=40, NO_COLOR="1")
    assert text.strip()
    assert "\x1b" not in text
    assert not too_long(text, 40)


def too_long(text: str, columns: int) -> list[str]:
    """Lines of more columns, but for those with a word that is long in itself."""
    return [line for line in text.split("\n") if len(line) > columns and len(max(line.split(), key=len)) <= 22]


NARROW = [
    "who --list",
    "who Gogglebot",
    "allowed robots.txt --agent GPTBot --dialect all /private",
    "status --in d",
    "why http://127.0.0.1:9/ --in d",
    "search robots --in d",
    "courtesy --in d",
    "crawl --into d --dry-run",
    "crawl --into d --keep-fresh --once",
    "forget 127.0.0.1:8 --in d",
    "forget example.org --in d",
    "lessons list --in d --host 127.0.0.1",
    "key new -o k.jwk",
    "config",
    "explain R203",
    "explain --list",
    "exam --list",
    "--help",
    "allowed --help",
    "archive check --help",
    "status --help",
    "who --help",
    "who update --help",
    "serve --help",
    "search --help",
]


@pytest.fixture
def crawl(robots: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("seeds.txt").write_text("http://127.0.0.1:9/\n")
    options = ("--exclude=*", "--allow-private", "--workers=1")
    assert main(["crawl", "--into", "d", "--seeds", "seeds.txt", *options]) == 0
    capsys.readouterr()


def test_text_and_help_keep_to_the_width(
    crawl: None, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    for typed in NARROW:
        assert main(typed.split()) < 2
        text = capsys.readouterr().out
        assert text
        assert not too_long(text, 40), typed


def test_an_error_keeps_to_the_width(robots: str) -> None:
    text = on_a_terminal("status", "--in", "a folder that is not there at all", columns=40)
    assert text.startswith("goodbot: ")
    assert len(text.splitlines()) > 1
    assert not too_long(text, 40)


def test_an_invalid_setting_for_crawls_stops_no_question(crawl: None, capsys: pytest.CaptureFixture[str]) -> None:
    with Path("d/goodbot.toml").open("a") as file:
        file.write('proxy = "foo"\n')
    asked = ["search robots", "status", "why http://127.0.0.1:9/", "courtesy", "export --what pages"]
    for typed in (*asked, "archive check", "lessons list"):
        assert main([*typed.split(), "--in", "d"]) == 0, typed
    assert main(["crawl", "--into", "d"]) == 2
    assert "d/goodbot.toml, line " in capsys.readouterr().err


def test_a_crawl_of_no_url_prints_no_empty_line(crawl: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["forget", "127.0.0.1:9", "--in", "d"]) == 0
    capsys.readouterr()
    assert main(["crawl", "--into", "d"]) == 3
    assert [line for line in capsys.readouterr().out.splitlines() if not line.strip()] == []


@pytest.mark.parametrize("place", ["file", "pipe"])
def test_what_is_written_may_go_to_standard_output_by_name(place: str, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "goodbot", "write", "--closed", "-o", "/dev/stdout"]
    if place == "pipe":
        out = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
    else:
        with (tmp_path / "out").open("wb") as file:
            file.write(b"# before\n")
            file.flush()
            subprocess.run(command, stdout=file, check=True)
        out = (tmp_path / "out").read_bytes().removeprefix(b"# before\n")
    assert out == b"User-agent: *\nDisallow: /\n"


def test_a_line_in_a_pipe_is_not_folded(
    robots: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    main(["allowed", robots, "--agent", "GPTBot", f"/private/{'long/' * 30}"])
    assert len(capsys.readouterr().out.splitlines()) == 2


def test_colours_on_a_terminal(robots: str) -> None:
    assert STYLE.search(on_a_terminal("who", "GPTBot"))
    assert not STYLE.search(on_a_terminal("who", "GPTBot", "--color", "never"))
    assert STYLE.search(on_a_terminal("who", "GPTBot", "--color", "always", NO_COLOR="1"))


@pytest.mark.parametrize("command", COMMANDS, ids=[command[0] for command in COMMANDS])
def test_colours_in_a_pipe(robots: str, command: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    plain, coloured = list[str](), list[str]()
    for form, found in (("auto", plain), ("always", coloured), ("never", plain)):
        main([command[0], "--color", form, *command[1:]])
        found.append(capsys.readouterr().out)
    assert plain[0] == plain[1]
    assert "\x1b" not in plain[0]
    assert STYLE.search(coloured[0])
    assert STYLE.sub("", coloured[0]) == plain[0]


def test_a_file_is_printed_visibly_on_a_terminal_and_as_it_is_in_a_pipe(
    robots: str, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    shown = on_a_terminal("format", robots)
    assert shown.encode() == ROBOTS.replace(b"\x1b", rb"\x1b")
    assert main(["format", robots]) == 0
    assert capfdbinary.readouterr().out == ROBOTS


ENCODINGS = [
    ("latin-1", ("who", "--list", "--purpose", "search"), b"C\\u1ed1c C\\u1ed1c"),
    ("ascii", ("who", "--list", "--purpose", "search"), b"C\\u1ed1c C\\u1ed1c"),
    ("ascii", ("exam", "--list", "--site", "robots-404"), b"robots-404"),
    ("ascii", ("crawl", "--help"), b"--color"),
]


@pytest.mark.parametrize(("encoding", "command", "said"), ENCODINGS)
def test_what_an_encoding_lacks_is_an_escape(encoding: str, command: tuple[str, ...], said: bytes) -> None:
    variables = {"PATH": os.environ["PATH"], "PYTHONIOENCODING": encoding}
    ended = subprocess.run([sys.executable, "-m", "goodbot", *command], env=variables, capture_output=True, check=False)
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert said in ended.stdout


# command → exit status
UNREAD = [
    ("exam --list", 0),
    ("who --list --json", 0),
    ("who Gogglebot", 1),
    ("allowed robots.txt --agent GPTBot /private", 1),
    ("check wrong.txt", 1),
    ("check --format sarif wrong.txt", 1),
    ("check --fix untidy.txt wrong.txt", 1),
    ("format --diff untidy.txt", 1),
    ("write --closed --diff -o robots.txt", 1),
    ("exam --site robots-404 --minutes 0.01 -- true {seeds}", 1),
]


@pytest.mark.parametrize(("typed", "status"), UNREAD)
def test_a_reader_that_goes_away_changes_no_exit_status(robots: str, typed: str, status: int) -> None:
    Path("wrong.txt").write_text("Disallow: /a\nUser-agent : *\nDisalow: /b\n" * 100)
    reader, writer = os.pipe()
    os.close(reader)
    ended = subprocess.run([sys.executable, "-m", "goodbot", *typed.split()], stdout=writer, stderr=writer, check=False)
    os.close(writer)
    assert ended.returncode == status
    if typed.startswith("check --fix untidy"):
        assert b"User-agent : *" not in Path("untidy.txt").read_bytes() + Path("wrong.txt").read_bytes()


def test_a_variable_with_a_wrong_value_is_named(
    robots: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GOODBOT_INCLUDE", "http")
    assert main(["crawl", "http://127.0.0.1:9/", "--into", "x"]) == 2
    assert "environment: GOODBOT_INCLUDE 'http' matches no URL" in capsys.readouterr().err


def test_a_crawl_without_any_page_failed(
    robots: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("GOODBOT_ROBOTS_RETRY_FIRST", "0.1")
    monkeypatch.setenv("GOODBOT_BACKOFF_FIRST", "0.1")
    assert main(["crawl", "http://127.0.0.1:9/", "--into", "x", "--allow-private"]) == 3
    assert capsys.readouterr().out.startswith("failed: 0 pages visited in")


def test_a_crawl_whose_reader_goes_away_is_not_finished(robots: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with DemoWeb() as web:
        command = ["crawl", web.sites[0].url, "--into", "crawl", "--allow-private", "--json"]
        ended = subprocess.run(
            [sys.executable, "-m", "goodbot", *command], stdout=writer, stderr=subprocess.PIPE, check=False
        )
    os.close(writer)
    assert ended.returncode == 3
    (line,) = ended.stderr.decode().splitlines()
    assert line.endswith("the crawl is not finished; resume with: goodbot crawl --into crawl")


def test_a_file_name_that_is_not_utf_8_is_strict_json() -> None:
    assert json_text({"\udcff": ["a \udcff", "\ud800", "\U0001f600"]}) == (
        '{"%FF": ["a %FF", "\\ufffd", "\\ud83d\\ude00"]}'
    )


def test_styles_are_ours_alone() -> None:
    assert joined("\x1b[1m", styled("a\x1b[0mb", bold=True), "\n") == "\\x1b[1m\x1b[1ma\\x1b[0mb\x1b[0m\\n"
    assert joined(f"{styled('a', bold=True)}") == r"\x1b[1ma\x1b[0m"
    assert isinstance(joined("a"), Styled)


SLIPS = [
    ("crawl --keepfresh", "; did you mean --keep-fresh?"),
    ("sttus", "there is no command 'sttus'; did you mean status?"),
    ("xyz", "there is no command 'xyz' (see goodbot --help)"),
    ("archive repiar", "there is no command 'archive repiar'; did you mean repair? (see goodbot archive --help)"),
    ("archive check --in", "Option '--in' requires an argument (see goodbot archive check --help)"),
    ("-q status", "put -q after the command: goodbot status -q"),
    ("--json lessons list", "put --json after the command: goodbot lessons list --json"),
    ("lessons -q list", "put -q after the command: goodbot lessons list -q"),
    ("--log-level info", "put --log-level after the command: goodbot COMMAND --log-level"),
    ("help", "there is no command 'help'; did you mean --help? (see goodbot --help)"),
    ("crawl http://127.0.0.1:9/ --allow-private --into \udcff", "the name of the folder \\udcff is not valid UTF-8"),
    (
        "crawl http://127.0.0.1:9/ --into x --config contact.toml",
        "contact.toml, line 1: contact must be a mail address",
    ),
    ("crawl http://127.0.0.1:9/ --into x --config delay.toml", "delay.toml, line 1: delay must be a number, not text"),
    ("crawl http://127.0.0.1:9/ --into x --delay inf", "goodbot: --delay must be at least 0"),
    ("crawl http://127.0.0.1:9/ --into x --contact x", "goodbot: --contact must be a mail address"),
    ("check --ignore Z9 robots.txt", "there is no code Z9; goodbot explain --list lists all codes"),
    ("check --ignore", "Option '--ignore' requires an argument (see goodbot check --help)"),
    ("write --delay x", "Invalid value for '--delay': 'x' is not a number (see goodbot write --help)"),
    ("crawl --depth x", "Invalid value for '--depth': 'x' is not a whole number (see goodbot crawl --help)"),
    ("search --tpo", "; did you mean --top?"),
    ("crawl --frobnicate", "No such option '--frobnicate' (see"),
    ("check example.org", "give the whole URL: https://example.org/"),
    ("check localhost:8000", "give the whole URL: https://localhost:8000/"),
    ("allowed example.org/robots.txt --agent A /", "give the whole URL: https://example.org/robots.txt"),
    ("directives example.org/page", "give the whole URL: https://example.org/page"),
    ("format example.org", "example.org is not a file: save the robots.txt of the site first"),
    ("check robts.txt", "cannot read robts.txt: No such file or directory"),
    ("write --no-robot GPTbto", "did you mean GPTBot?"),
    ("write --only bing", "did you mean bingbot or BingPreview?"),
    ("write --policy policy.toml", "did you mean GPTBot?"),
    ("write --closed -o robots.txt", "robots.txt exists already: --force replaces it"),
    ("write --closed --diff", "--output FILE"),
    ("crawl http://127.0.0.1:9/ --allow-private --into robots.txt/deep/er", "a file is in the way"),
    ("crawl http://127.0.0.1:9/ --allow-private --into robots.txt", "a file is in the way"),
]


@pytest.mark.parametrize(("typed", "said"), SLIPS)
def test_a_slip_is_one_line_that_helps(robots: str, typed: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    Path("policy.toml").write_text("[robots.GPTbto]\nclose = ['/']\n")
    Path("contact.toml").write_text("contact = 'x'")
    Path("delay.toml").write_text("delay = 'x'")
    assert main(typed.split()) == 2
    out, err = capsys.readouterr()
    assert (out, len(err.splitlines())) == ("", 1)
    assert said in err
    assert Path(robots).read_bytes() == ROBOTS


@pytest.mark.parametrize("folder", ["/proc", "/proc/none", "/proc/none/deep/er"])
def test_a_folder_that_cannot_be_written_is_a_failure_at_any_depth(
    folder: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["crawl", "http://127.0.0.1:9/", "--allow-private", "--into", folder]) == 3
    assert len(capsys.readouterr().err.splitlines()) == 1


TAKEN = [
    ("write --no-robot GPTbto --force", 0),
    ("write --no-robot FrobnicatorOfOurs", 0),
    ("write --closed -o robots.txt --diff", 1),
    ("write --closed -o new.txt", 0),
    ("write --merge robots.txt robots.txt -o robots.txt --diff", 1),
    ("format robots.txt --diff", 0),
    ("format untidy.txt --diff --json", 1),
    ("check robots.txt --fix --diff", 0),
    ("check untidy.txt --fix --diff", 1),
    ("check untidy.txt --diff", 1),
    ("check robots.txt --diff", 0),
]


@pytest.mark.parametrize(("typed", "status"), TAKEN)
def test_what_changes_no_file(robots: str, typed: str, status: int, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(typed.split()) == status
    assert (Path(robots).read_bytes(), Path("untidy.txt").read_bytes()) == (ROBOTS, UNTIDY)


@pytest.mark.parametrize("typed", ["write --closed --force", "write --merge robots.txt robots.txt"])
def test_what_replaces_a_file(robots: str, typed: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main([*typed.split(), "--output", robots]) == 0
    assert Path(robots).read_bytes() != ROBOTS
    assert main([*typed.split(), "--output", robots, "--diff"]) == 0


def test_what_is_there_already_may_be_written_again(robots: str, capfd: pytest.CaptureFixture[str]) -> None:
    for _ in range(2):
        assert main(["write", "--closed", "-o", "new.txt"]) == 0
