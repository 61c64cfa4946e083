"""`goodbot study` as its users have it."""

import json
import os
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from goodbot.cli import main
from watch.study.study_plans import DAY, HEAD, PHASES, START, line, study_log


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working folder with a plan and a log."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "plan.toml").write_text(HEAD + PHASES)
    (tmp_path / "access.log").write_text(study_log())
    return tmp_path


def run(capsys: pytest.CaptureFixture[str], typed: str, status: int = 0) -> tuple[str, str]:
    assert main(typed.split()) == status
    out, err = capsys.readouterr()
    return out, err


def found(capsys: pytest.CaptureFixture[str], typed: str) -> Any:
    return json.loads(run(capsys, f"{typed} --json")[0])


def running_plan(days_ago: int, more: str = "") -> str:
    """A plan that began so many days ago."""
    start = datetime.fromtimestamp(time.time() - days_ago * 86_400, UTC).date()
    return HEAD.replace("2026-09-07", str(start)) + more + PHASES


def test_the_report(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, _ = run(capsys, "study plan.toml --log access.log")
    text = " ".join(out.split())
    for words in (
        "Study of https://www.example.org/robots.txt, 2026-09-07 to 2026-09-28; control: open",
        "GPTBot (verified): 720 requests, and 120 in the first 24 hours after a change",
        "closed: obeyed: in phase “open”, 60 of 240 requests (25.0 % [19.9–30.8]) were for URLs that this phase closes",
        "; in this phase, 0 of 240 (0.0 % [0.0–1.6]). It read robots.txt 1 h 0 min after the change",
        "closed: did not obey: in phase “open”, 60 of 240 requests (25.0 %",
        "closed: cannot tell: in phase “open”, 0 of 240 requests (0.0 % [0.0–1.6]) were for",
        "it did not request these URLs in the control phase either",
        "delay: obeyed: in phase “open”, 234 of 239 gaps between requests (97.9 %",
        "In part: it only fell clearly.",
    ):
        assert words in text, out
    report = found(capsys, "study plan.toml --log access.log")
    robots = {robot["name"]: robot for robot in report["robots"]}
    assert {name: robot["paths"][0]["obeyed"] for name, robot in robots.items()} == {
        "GPTBot": "yes",
        "SemrushBot": "no",
        "CCBot": "cannot tell",
    }
    assert robots["GPTBot"]["paths"][0]["control"]["count"] == 60
    assert robots["GPTBot"]["phases"][0]["robots_txt_after_s"] == 3600
    assert (report["lines"], report["skipped"], report["outside"]) == (2583, 0, 0)


SOME = [
    (
        "only-then",
        "GPTBot",
        [(15, "/folder/1")],
        "did not obey: in phase “open”, it sent no request, or only in the first 24 hours; in this phase, 1 of 1",
        "no",
    ),
    (
        "not-then",
        "GPTBot",
        [(2, "/folder/1")],
        "[20.7–100.0]) was for URLs that this phase closes; in this phase, it sent no request, or only in the first 24",
        "cannot tell",
    ),
    (
        "user-triggered",
        "ChatGPT-User",
        [(2, "/folder/1"), (15, "/folder/1"), (15.5, "/folder/1")],
        "it is a user-triggered fetcher, which fetches what a person asks for. Its figures: closed: in phase “open”, 1",
        "user-triggered",
    ),
]


@pytest.mark.parametrize(("robot", "requests", "words", "obeyed"), [c[1:] for c in SOME], ids=[c[0] for c in SOME])
def test_robots_with_few_requests(
    robot: str,
    requests: list[tuple[float, str]],
    words: str,
    obeyed: str,
    place: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (place / "plan.toml").write_text(HEAD + PHASES.replace("crawl_delay = 10\n", ""))
    (place / "some.log").write_text("".join(line(START + day * DAY, path, robot) for day, path in requests))
    out, _ = run(capsys, "study plan.toml --log some.log")
    assert words in " ".join(out.split()), out
    (found_robot,) = found(capsys, "study plan.toml --log some.log")["robots"]
    assert [one["obeyed"] for one in found_robot["paths"]] == [obeyed]


def test_cron_and_the_history(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "plan.toml").write_text(running_plan(9))
    written = found(capsys, "study plan.toml --publish robots.txt --into history")
    assert (written["phase"], written["written"], written["next"]["phase"]) == ("delay", True, "closed")
    assert "Crawl-delay: 10" in (place / "robots.txt").read_text()
    assert not found(capsys, "study plan.toml --publish robots.txt --into history")["written"]
    out, _ = run(capsys, "study plan.toml --publish robots.txt")
    assert out.startswith("robots.txt already has the rules of phase delay, until ")
    judged = found(capsys, "watch access.log --robots history/www.example.org")
    assert judged["requests"] == 2583
    out, err = run(capsys, "study plan.toml --log access.log --into history")
    assert "the phase open from" in err
    assert "No known robot came in this time." in out
    (place / "robots.txt").write_text("User-agent: *\nDisallow: /mine\n")
    _, err = run(capsys, "study plan.toml --publish robots.txt", 2)
    assert (
        "'robots.txt' is not from this plan. If you edited the plan or its base during the study, the file has" in err
    )
    assert "If somebody changed the file, save a copy and name it as base in the plan to keep its rules" in err
    run(capsys, "study plan.toml --publish robots.txt --force")
    assert "Crawl-delay" in (place / "robots.txt").read_text()


def test_the_schedule(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "plan.toml").write_text(running_plan(9, "repeat = true\n"))
    out, _ = run(capsys, "study plan.toml")
    for words in ("3 phases in 21 days, again and again; control: open", "delay now", "Now: delay, until "):
        assert words in " ".join(out.split())
    assert "closes /folder/ for every robot (Disallow: /folder/)" in out
    assert "asks every robot for Crawl-delay 10 s\n" in out
    schedule = found(capsys, "study plan.toml")
    assert schedule["schedule"][0]["changes"] is None
    closed = schedule["schedule"][2]["changes"]["closed"][0]
    assert (closed["robots"], closed["except"], closed["rule"]) == (["*"], [], "Disallow: /folder/")
    assert schedule["schedule"][2]["changes"]["timing"] == []
    assert [span["phase"] for span in schedule["schedule"][:3]] == ["open", "delay", "closed"]
    assert schedule["schedule"][2]["changes"]["closed"][0]["paths"][0] == "/folder/"
    assert (schedule["phase"], schedule["next"]["phase"]) == ("delay", "closed")


DIFFERENCES = [
    ("rules-of-the-control", 'control = "a"\n', "", "b\n    the same rules\n"),
    (
        "control-is-not-first",
        'control = "b"\n',
        'disallow = ["/x"]\n',
        "a\n    opens /x for every robot (Disallow: /x)\n",
    ),
    ("no-delay", 'control = "b"\n', "crawl_delay = 9\n", "a\n    drops Crawl-delay 9 s for every robot\n"),
    ("named", "", 'agents = ["x", "y"]\ndisallow = ["/x"]\n', "b\n    closes /x for x, y (Disallow: /x)\n"),
    (
        "all-and-named",
        'base = "own.txt"\n',
        'agents = ["*", "x"]\ndisallow = ["/x"]\n',
        "closes /x for every robot but z (Disallow: /x)\n",
    ),
    (
        "longer-delay",
        'base = "own.txt"\n',
        "agents = ['z']\ncrawl_delay = 9\n",
        "asks z for Crawl-delay 9 s (control: Crawl-delay 5 s)\n",
    ),
    (
        "shorter-delay",
        'base = "own.txt"\n',
        "agents = ['z']\ncrawl_delay = 2\n",
        "asks z for Crawl-delay 2 s (control: Crawl-delay 5 s)\n",
    ),
]


@pytest.mark.parametrize(("head", "rules", "words"), [c[1:] for c in DIFFERENCES], ids=[c[0] for c in DIFFERENCES])
def test_how_a_phase_differs_from_the_control_phase(
    head: str, rules: str, words: str, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    own = "User-agent: *\nDisallow: /mine\n\nUser-agent: z\nCrawl-delay: 5\n\nUser-agent: x\nDisallow: /mine\n"
    (place / "own.txt").write_text(own)
    (place / "plan.toml").write_text(f'{HEAD}{head}[[phase]]\nname = "a"\n[[phase]]\nname = "b"\n{rules}')
    assert words in run(capsys, "study plan.toml")[0]


def test_the_study_is_over(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "own.txt").write_text("User-agent: *\nDisallow: /mine\n")
    (place / "plan.toml").write_text(running_plan(30, 'base = "own.txt"\n'))
    assert "The study is over. The base counts again." in run(capsys, "study plan.toml")[0]
    assert "now has the rules of the base" in run(capsys, "study plan.toml --publish robots.txt")[0]
    assert (place / "robots.txt").read_text() == (place / "own.txt").read_text()
    (place / "plan.toml").write_text(running_plan(30))
    assert "put your own robots.txt back" in run(capsys, "study plan.toml --publish other.txt")[0]
    assert not (place / "other.txt").exists()


def test_the_example_works(place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(capsys, "study --example -o example.toml")
    assert "The study begins on " in run(capsys, "study example.toml")[0]
    (place / "robots.txt").write_text("User-agent: *\nDisallow: /mine\n")
    out, err = run(capsys, "study example.toml --publish robots.txt")
    assert "nothing to do: the study begins on " in out
    assert "'robots.txt' is not from this plan" in err
    assert "No phase of the study has been in force yet." in run(capsys, "study example.toml --log access.log")[0]


@pytest.mark.parametrize("made", [None, "symlink_to", "hardlink_to"], ids=["the plan", "symlink", "hard link"])
def test_the_plan_is_not_published_over(made: str | None, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan = place / "plan.toml"
    plan.write_text(running_plan(9))
    file = plan if made is None else place / "robots.txt"
    if made is not None:
        getattr(file, made)(plan)
    for typed in (f"study plan.toml --publish {file.name}", f"study plan.toml --publish {file.name} --force"):
        assert f"--publish: {file.name} is the plan itself" in run(capsys, typed, 2)[1]
    before = os.dup(0)
    try:
        with plan.open() as opened:
            os.dup2(opened.fileno(), 0)
        assert f"--publish: {file.name} is the plan itself" in run(capsys, f"study - --publish {file.name}", 2)[1]
    finally:
        os.dup2(before, 0)
        os.close(before)
    assert plan.read_text() == running_plan(9)


BAD = [
    ("study", "goodbot study --example prints one"),
    ("study none.toml", "cannot read none.toml"),
    ("study plan.toml --example", "--example prints a plan"),
    ("study plan.toml --log none.log", "none.log"),
    ("study plan.toml --log access.log --publish x", "cannot be combined"),
    ("study plan.toml --log access.log --into none", "none/www.example.org has no copies"),
    ("study plan.toml --force", "--force needs --publish"),
    ("study plan.toml --into x", "--into needs --publish or --log"),
    ("study plan.toml --real-ip", "--real-ip needs --log"),
    ("study - --log -", "can be named once only"),
    ("study plan.toml --publish .", "is not a file"),
    ("study plan.toml --publish none/robots.txt", "none/robots.txt"),
    ("study same.toml --publish own.txt", "own.txt is the file of --publish"),
    ("study html.toml", "html.toml: phase 4: robots is an HTML page, not a robots.txt"),
    ("study plan.toml -o plan.toml", "--output is one of the inputs: plan.toml"),
    ("study same.toml -o own.txt", "--output is one of the inputs: own.txt"),
    ("study file.toml --json -o own.txt", "--output is one of the inputs: own.txt"),
    ("study plan.toml --publish own.txt -o own.txt", "--output is one of the inputs: own.txt"),
    (
        "study plan.toml --log access.log --into . -o www.example.org/copies.jsonl",
        "--output is one of the inputs: www.example.org/copies.jsonl",
    ),
    ("study plan.toml --publish x --into . -o www.example.org/a.txt", "--output is one of the inputs"),
]


@pytest.mark.parametrize(("typed", "words"), BAD, ids=[case[0] for case in BAD])
def test_bad_input_is_one_line(typed: str, words: str, place: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (place / "own.txt").write_text("User-agent: *\nDisallow: /mine\n")
    (place / "plan.toml").write_text(running_plan(9))
    (place / "same.toml").write_text(running_plan(9, 'base = "own.txt"\n'))
    (place / "file.toml").write_text(running_plan(9) + '[[phase]]\nname = "x"\nrobots_file = "own.txt"\n')
    (place / "html.toml").write_text(running_plan(9) + '[[phase]]\nname = "x"\nrobots = "<html><body>x"\n')
    (place / "www.example.org").mkdir()
    (place / "www.example.org" / "a.txt").write_text("")
    out, err = run(capsys, typed, 2)
    assert (out, len(err.splitlines())) == ("", 1)
    assert words in err
