"""Which logs are read: the usual places, folders, and the order of rotated logs."""

import os
from pathlib import Path

import pytest

from goodbot.errors import InputError
from goodbot.watch.reader.log_files import USUAL_PLACES, find_logs, logs_of_folder, usual_logs


def make(root: Path, *names: str, content: bytes = b"x\n") -> list[str]:
    """Makes files, and returns their paths."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return [str(root / name) for name in names]


@pytest.mark.parametrize("place", USUAL_PLACES)
def test_each_usual_place_is_found(place: str, tmp_path: Path) -> None:
    paths = make(tmp_path, place)
    assert usual_logs(tmp_path).logs == tuple(paths)


def test_the_first_server_counts_with_its_rotated_logs_oldest_first(tmp_path: Path) -> None:
    folder = "var/log/nginx/access.log"
    paths = make(tmp_path, f"{folder}.10.gz", f"{folder}.2.gz", f"{folder}.1", folder)
    make(tmp_path, "var/log/apache2/access.log", f"{folder}.bak", "var/log/nginx/error.log")
    assert usual_logs(tmp_path).logs == tuple(paths)


def test_an_empty_log_is_passed_over_for_the_next_server(tmp_path: Path) -> None:
    make(tmp_path, "var/log/nginx/access.log", content=b"")
    paths = make(tmp_path, "var/log/caddy/access.log")
    assert usual_logs(tmp_path).logs == tuple(paths)


def test_no_log_in_the_usual_places_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no access log in the usual places; name a LOG"):
        find_logs([], tmp_path)


def test_rotated_by_date_oldest_first(tmp_path: Path) -> None:
    names = ["access_log-20261101.gz", "access_log-20261102", "access_log"]
    make(tmp_path, *reversed(names))
    assert [Path(path).name for path in logs_of_folder(tmp_path).logs] == names


def test_a_folder_names_what_it_leaves_out(tmp_path: Path) -> None:
    make(tmp_path, "access.log", "site.access.log.1", "other.log", "error.log", "notes.txt")
    found = logs_of_folder(tmp_path)
    assert sorted(Path(path).name for path in found.logs) == ["access.log", "other.log", "site.access.log.1"]
    assert [(Path(path).name, reason) for path, reason in found.passed_over] == [
        ("error.log", "not named like an access log"),
        ("notes.txt", "not named like an access log"),
    ]


def test_folders_and_files_are_read_once(tmp_path: Path) -> None:
    (path,) = make(tmp_path, "access.log")
    assert find_logs([str(tmp_path), path, "-"]).logs == (path, "-")


def test_a_folder_without_logs_is_one_line(tmp_path: Path) -> None:
    make(tmp_path, "notes.txt")
    with pytest.raises(InputError, match="no access log in "):
        find_logs([str(tmp_path)])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read every file")
def test_a_log_that_may_not_be_read_is_named(tmp_path: Path) -> None:
    (path,) = make(tmp_path, "access.log")
    Path(path).chmod(0)
    assert logs_of_folder(tmp_path).passed_over == ((path, "you may not read it"),)
