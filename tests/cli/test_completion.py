"""The Tab key: what is completed, and that bash, zsh and fish ask as they should."""

import os
import pty
import re
import select
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import click
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cli.test_every_command import LEAVES
from goodbot.cli import main
from goodbot.cli.completing import complete
from goodbot.cli.completion_scripts import SHELLS
from goodbot.cli.completion_scripts import script as script_for
from programs import ROOT, load


def test_the_table_is_that_of_the_commands() -> None:
    """If this fails, run `make docs`."""
    made = load("docs/make_completions.py")
    assert (ROOT / "src/goodbot/cli/completions.json").read_text(encoding="utf-8") == made.text()


def after(line: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> list[str]:
    """What bash is answered if Tab is pressed at the end of a line: `file`, `dir`, or what may stand there."""
    words = re.split(r" |(?<=[a-z])(=)", line)
    words = [word for word in words if word is not None]
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", str(len(words) - 1))
    assert complete("bash_complete") == 0
    out, err = capfd.readouterr()
    assert err == ""
    return [value if kind == "plain" else kind for kind, _, value in (row.partition(",") for row in out.splitlines())]


CASES = [
    ("goodbot cra", ["crawl"]),
    ("goodbot index re", ["rebuild", "refresh"]),
    ("goodbot --v", ["--version"]),
    ("goodbot allowed ", ["file"]),
    ("goodbot allowed robots.txt --agent GPTB", ["GPTBot"]),
    ("goodbot allowed robots.txt --agent GPTBot --dialect go", ["google"]),
    ("goodbot check --format ", ["text", "json", "sarif", "github"]),
    ("goodbot check --format=sa", ["sarif"]),
    ("goodbot check a.txt b", ["file"]),
    ("goodbot check --js", ["--json"]),
    ("goodbot check --json --js", []),
    ("goodbot crawl --into ", ["dir"]),
    ("goodbot crawl --no-ind", ["--no-index"]),
    ("goodbot crawl --contact ", []),
    ("goodbot crawl --agent GPTB", []),
    ("goodbot explain r31", ["R310"]),
    ("goodbot exam --with goodb", ["goodbot"]),
    ("goodbot exam --site robots-404", ["robots-404"]),
    ("goodbot exam -- wget --rec", ["file"]),
    ("goodbot remedy ngi", ["nginx"]),
    ("goodbot remedy nginx --robot gptb", ["GPTBot"]),
    ("goodbot who upda", ["update"]),
    ("goodbot who update openai-g", ["openai-gptbot"]),
    ("goodbot who update --fr", ["--from"]),
    ("goodbot completion f", ["fish"]),
    ("goodbot nothing --j", []),
    ("goodbot crawl --nothing --keep-f", ["--keep-fresh"]),
    ("goodbot check --format nothing --js", ["--json"]),
    ("goodbot check 'a b", ["file"]),
    ("goodbot allowed robots.txt --agent gptb", ["GPTBot"]),
    ("goodbot allowed robots.txt --agent AP", ["APIs-Google"]),
    ("goodbot allowed robots.txt --agent Ap", ["Applebot", "Applebot-Extended"]),
    ("goodbot allowed robots.txt --agent ap", ["apIs-Google", "applebot", "applebot-Extended"]),
    ("goodbot allowed robots.txt --agent app", ["Applebot", "Applebot-Extended"]),
    ("goodbot allowed robots.txt --agent SCRE", ["Screaming Frog SEO Spider"]),
    ("goodbot write --no-robot Scre", []),
    ("goodbot write --no-robot=GPTB", ["GPTBot"]),
    ("goodbot write --only GPTB", ["GPTBot"]),
    ("goodbot write --merge rob", ["file"]),
    ("goodbot check --format=-", []),
]


@pytest.mark.parametrize(("line", "expected"), CASES, ids=[case[0] for case in CASES])
def test_what_may_follow(
    line: str, expected: list[str], monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    assert after(line, monkeypatch, capfd) == expected


def test_every_option_is_completed(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> None:
    for path, command, _ in LEAVES:
        options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
        names = {name for option in options for name in (*option.opts, *option.secondary_opts)}
        found = set(after(f"goodbot {path} -", monkeypatch, capfd))
        assert found | {"-h"} == names | {"-h", "--help"}, path


ENVIRONMENTS = [
    ("bash_complete", {}),
    ("bash_complete", {"COMP_WORDS": "goodbot ", "COMP_CWORD": "x"}),
    ("tcsh_complete", {"COMP_WORDS": "goodbot ", "COMP_CWORD": "1"}),
    ("bash_", {}),
    ("", {}),
]


@pytest.mark.parametrize(("instruction", "environment"), ENVIRONMENTS)
def test_an_environment_that_no_script_makes_is_answered_with_nothing(
    instruction: str,
    environment: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    for name in ("COMP_WORDS", "COMP_CWORD"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert complete(instruction) == 1
    assert capfd.readouterr() == ("", "")


TYPED = st.sampled_from(["goodbot", "who", "update", "crawl", "--into", "exam", "--", "-", "=", "'", "\\", "index", ""])


@given(
    words=st.lists(TYPED | st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=8)),
    place=st.integers(-5, 20),
    shell=st.sampled_from(SHELLS),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_whatever_is_typed_is_answered(
    words: list[str], place: int, shell: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COMP_WORDS", "\n".join(words))
    monkeypatch.setenv("COMP_CWORD", " ".join(words) if shell == "fish" else str(place))
    assert complete(f"{shell}_complete") in (0, 1)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_can_also_be_asked_for_by_the_variable(shell: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["completion", shell]) == 0
    printed = capfd.readouterr().out
    assert complete(f"{shell}_source") == 0
    assert capfd.readouterr().out == printed == script_for(shell)


# ---- real shells ----------------------------------------------------------------------------------------------------


class Terminal:
    """A shell on a terminal. Its prompt is `READY> `."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor

    def press(self, keys: str) -> None:
        """Types."""
        os.write(self._descriptor, keys.encode())

    def shows(self, expected: str, limit_s: float = 30) -> bool:
        """Whether the text appears; waits for it."""
        seen, end = "", time.monotonic() + limit_s
        while expected not in seen and time.monotonic() < end:
            if select.select([self._descriptor], [], [], 0.1)[0]:
                seen += os.read(self._descriptor, 65536).decode(errors="replace")
        return expected in seen


@contextmanager
def terminal(arguments: list[str], folder: Path) -> Iterator[Terminal]:
    process, descriptor = pty.fork()
    if process == 0:
        os.chdir(folder)
        os.execvpe(arguments[0], arguments, environment_in(folder))
    try:
        yield Terminal(descriptor)
    finally:
        os.close(descriptor)  # the shell gets SIGHUP
        os.waitpid(process, 0)


def environment_in(folder: Path) -> dict[str, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    return {"PATH": path, "HOME": str(folder), "ZDOTDIR": str(folder), "TERM": "dumb", "LC_ALL": "C.UTF-8"}


def needs(shell: str) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")


AT_ONE_TAB = [
    ("goodbot cra", "goodbot crawl "),
    ("goodbot crawl --keep-f", "goodbot crawl --keep-fresh "),
    ("goodbot index reb", "goodbot index rebuild "),
    ("goodbot check --format=sa", "goodbot check --format=sarif "),
    ("goodbot explain R31", "goodbot explain R310 "),
    ("goodbot check rob", "goodbot check robots.txt "),
    ("goodbot exam -- wget rob", "goodbot exam -- wget robots.txt "),
    ("goodbot vectors > rob", "goodbot vectors > robots.txt "),
]
WORDS_AT_ONE_TAB = [
    ("allowed robots.txt --agent Goo", "--agent", "Google"),
    ("allowed robots.txt --agent ap", "--agent", "ap"),
    ("allowed robots.txt --agent Scre", "--agent", "Screaming Frog SEO Spider"),
    ("allowed robots.txt --agent=scre", "robots.txt", "--agent=Screaming Frog SEO Spider"),
    ('allowed robots.txt --agent "Screaming F', "--agent", "Screaming Frog SEO Spider"),
    ("allowed robots.txt --agent=Screaming\\ F", "robots.txt", "--agent=Screaming Frog SEO Spider"),
    ("vectors --output=two", "vectors", "--output=two words.txt"),
    ("crawl --into=fol", "crawl", "--into=folder"),
    ("write --merge robots.txt two", "robots.txt", "two words.txt"),
]
"""What is typed after `goodbot`, and the last two words that a program is given after Tab and Enter, without the
slash that some shells add to a folder."""
AFTER_A_TAB = {
    "bash": "value=5; type=7; completion=9; kind=3",
    "zsh": "type=7; key=5; descr=9; kind=3",
}
"""Variables of the user with names that scripts like to use."""
STARTS = {
    "bash": (["bash", "--noprofile", "--rcfile", ".bashrc", "-i"], ".bashrc", ""),
    "zsh": (["zsh", "-i"], ".zshrc", "autoload -U compinit; compinit -u -D\n"),
    "fish": (["fish", "-i"], ".config/fish/config.fish", "function fish_prompt; echo -n 'REA''DY> '; end\n"),
}
LAST_WORDS = {
    "bash": 'last() { set -- "${@%/}"; printf "<%s>" "${@: -2}"; }\n',
    "zsh": 'last() { printf "<%s>" "${@[-2,-1]}"; }\n',
    "fish": "function last; printf '<%s>' (string trim -r -c / -- $argv[-2..-1]); end\n",
}


@contextmanager
def completing(shell: str, folder: Path) -> Iterator[Terminal]:
    """A terminal with a shell that completes, in a folder with a few files."""
    needs(shell)
    arguments, file, before = STARTS[shell]
    (folder / file).parent.mkdir(parents=True, exist_ok=True)
    prompt = "" if shell == "fish" else "PS1='REA''DY> '\n"
    (folder / file).write_text(f"{before}{prompt}{LAST_WORDS[shell]}{script_for(shell)}")
    for name in ("robots.txt", "two words.txt"):
        (folder / name).touch()
    (folder / "folder").mkdir()
    with terminal(arguments, folder) as shown:
        assert shown.shows("READY> ")
        yield shown


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_the_tab_key(shell: str, tmp_path: Path) -> None:
    with completing(shell, tmp_path) as shown:
        for typed, expected in AT_ONE_TAB:
            shown.press(f"{typed}\t")
            assert shown.shows(expected), typed
            shown.press("\x15")  # Ctrl-U: empties the line
        shown.press(f"{AFTER_A_TAB[shell]}\ngoodbot vec\t")
        assert shown.shows("goodbot vectors ")
        shown.press('\x15echo "=${value-}${type-}${completion-}${key-}${descr-}$kind="\n')
        assert shown.shows({"bash": "=5793=", "zsh": "=7593="}[shell])


@pytest.mark.parametrize("shell", STARTS)
def test_the_words_that_the_tab_key_makes(shell: str, tmp_path: Path) -> None:
    with completing(shell, tmp_path) as shown:
        for typed, *expected in WORDS_AT_ONE_TAB:
            shown.press(f"goodbot {typed}\t\x01last \n")  # Ctrl-A: to the beginning of the line
            assert shown.shows("".join(f"<{word}>" for word in expected)), typed


def test_zsh_may_have_the_script_in_its_fpath(tmp_path: Path) -> None:
    needs("zsh")
    (tmp_path / "functions").mkdir()
    (tmp_path / "functions" / "_goodbot").write_text(script_for("zsh"))
    start = "fpath=($HOME/functions $fpath)\nautoload -U compinit; compinit -u -D\nPS1='REA''DY> '\n"
    (tmp_path / ".zshrc").write_text(start)
    with terminal(["zsh", "-i"], tmp_path) as shown:
        assert shown.shows("READY> ")
        for typed, expected in AT_ONE_TAB[:2]:  # the second time, zsh has read it already
            shown.press(f"{typed}\t")
            assert shown.shows(expected), typed
            shown.press("\x15")


def test_fish_completes(tmp_path: Path) -> None:
    needs("fish")
    (tmp_path / "robots.txt").touch()
    asked = "\n".join(f"complete -C '{typed}'" for typed, _ in AT_ONE_TAB)
    command = ["fish", "--no-config", "-c", f"{script_for('fish')}\n{asked}"]
    answer = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment_in(tmp_path), check=True)
    found = [line.partition("\t")[0].rpartition("=")[2] for line in answer.stdout.decode().splitlines()]
    assert found == [expected.split()[-1].rpartition("=")[2] for _, expected in AT_ONE_TAB]
    assert answer.stderr == b""


def test_bash_finds_the_program_that_was_typed_and_is_silent_without_one(tmp_path: Path) -> None:
    """Called by a path, as far as bash can find it; otherwise the one on the path; otherwise nothing happens."""
    needs("bash")
    program = Path(sys.executable).parent / "goodbot"
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "goodbot").symlink_to(program)
    asked = 'COMP_WORDS=("$1" cra); COMP_CWORD=1; COMPREPLY=(); _goodbot_completion "$1"; echo "${COMPREPLY[@]}"'
    (tmp_path / "ask").write_text(f"compopt() {{ :; }}\n{script_for('bash')}\n{asked}\n")
    for typed, path, expected in [
        ("goodbot", environment_in(tmp_path)["PATH"], "crawl"),
        ("~/own/goodbot", "/usr/bin:/bin", "crawl"),
        ("$HOME/other/goodbot", environment_in(tmp_path)["PATH"], "crawl"),
        ("~/other/goodbot", "/usr/bin:/bin", ""),
    ]:
        command = ["bash", "--noprofile", str(tmp_path / "ask"), typed]
        environment = environment_in(tmp_path) | {"PATH": path}
        answer = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=True)
        assert (answer.stdout.decode().strip(), answer.stderr) == (expected, b""), typed
