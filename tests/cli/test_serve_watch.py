"""Which logs `goodbot serve --watch` says that it waits for."""

from pathlib import Path

import click
import pytest

from goodbot.cli.serve_watch import LogWatch, check_watched
from goodbot.errors import InputError

FOLDER = "has no access log yet (*access* or *.log, without error in the name); waiting for one"


@pytest.mark.parametrize(
    ("made", "watched", "said"),
    [
        (["access.log"], ["access.log"], []),
        (["access.log"], ["."], []),
        ([], ["no.log"], ["no.log does not exist yet; waiting for it"]),
        ([], ["."], [f". {FOLDER}"]),
        (["error.log", "photo.png"], ["."], [f". {FOLDER}"]),
        (["access.log"], ["access.log", "no.log", "."], ["no.log does not exist yet; waiting for it"]),
        (["access.log"], ["access.log/x"], ["access.log/x does not exist yet; waiting for it"]),
    ],
    ids=["a file", "a folder", "no file", "an empty folder", "other files", "one of three", "below a file"],
)
def test_missing_logs(
    made: list[str], watched: list[str], said: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in made:
        (tmp_path / name).touch()
    assert check_watched(watched) == said


@pytest.mark.parametrize("name", ["-", "/dev/null"])
def test_what_does_not_grow_is_refused(name: str) -> None:
    with pytest.raises(InputError):
        check_watched([name])


def test_the_view_says_what_is_missing_until_it_is_there(tmp_path: Path) -> None:
    log = tmp_path / "access.log"
    with click.Context(click.Command("goodbot")):
        watch = LogWatch([str(log)])
    assert watch.look().missing == (f"{log} does not exist yet; waiting for it",)
    log.touch()
    assert watch.look().missing == ()
