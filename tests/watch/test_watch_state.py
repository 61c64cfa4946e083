"""The file of `--state`: written and read again, and refused if it is not that."""

from pathlib import Path

import pytest

from goodbot.errors import InputError
from goodbot.watch.watch_state import MAGIC, WatchState, load_state, save_state


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "watch.state"
    save_state(path, WatchState(), "--since 2026-11-01")
    return path


def test_a_state_is_read_again(saved: Path) -> None:
    assert load_state(saved, "--since 2026-11-01").positions == []


@pytest.mark.parametrize("name", ["missing", "empty"])
def test_a_missing_or_empty_file_is_an_empty_state(name: str, tmp_path: Path) -> None:
    (tmp_path / "empty").touch()
    assert load_state(tmp_path / name, "").tally.lines == 0


def test_any_changed_byte_is_noticed(saved: Path) -> None:
    content = saved.read_bytes()
    for place in range(len(MAGIC), len(content)):
        saved.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        with pytest.raises(InputError, match="is damaged; remove it"):
            load_state(saved, "--since 2026-11-01")


def test_a_state_that_ends_early_is_damaged(saved: Path) -> None:
    content = saved.read_bytes()
    for end in range(len(MAGIC), len(content)):
        saved.write_bytes(content[:end])
        with pytest.raises(InputError, match="is damaged; remove it"):
            load_state(saved, "--since 2026-11-01")


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ("", "was made with --since 2026-11-01; use the same options, or another file"),
        ("--real-ip", "was made with --since 2026-11-01; use the same options, or another file"),
    ],
)
def test_other_choices_are_refused(saved: Path, choices: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        load_state(saved, choices)


def test_a_state_without_choices_says_what_it_was_made_without(tmp_path: Path) -> None:
    save_state(tmp_path / "state", WatchState(), "")
    with pytest.raises(InputError, match="was made without --since 2026-11-01; use the same options, or another file"):
        load_state(tmp_path / "state", "--since 2026-11-01")


def test_what_is_not_a_file_is_not_read(tmp_path: Path) -> None:
    """`/dev/zero` has no end."""
    for path in (Path("/dev/zero"), tmp_path):
        with pytest.raises(InputError, match="is not a file; choose another name for the state"):
            load_state(path, "")
