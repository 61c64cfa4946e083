"""Readers that may not write: they find pages and link texts, and follow what a writer does meanwhile."""

import os
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from disks import MOUNTS
from goodbot.index import TantivyIndex, TantivySearch, refresh_links
from goodbot.index.lock_folder import LOCK_FILE
from goodbot.search_values import Document
from goodbot.url import Url
from goodbot.values import Link

ONE, OTHER = "https://pages.example/1", "https://pages.example/2"


def write(folder: Path, text: str, link: str, title: str) -> None:
    """Two pages; the first has this text and, in its link to the second, another one. Every user may read the files."""
    index = TantivyIndex(folder)
    index.add(Document(ONE, ONE, title, text, links=(Link(Url(OTHER), link),)))
    index.add(Document(OTHER, OTHER, "Another", "other"))
    index.commit()
    index.close()
    refresh_links(folder)


@contextmanager
def read_only_view(folder: Path, at: Path) -> Iterator[Path]:
    """Mounts a folder a second time, where nothing can be written. Skips the test if mounting is not permitted."""
    at.mkdir()
    if subprocess.run(["mount", "--bind", str(folder), str(at)], check=False, capture_output=True).returncode:
        pytest.skip("mounting is not permitted here")
    try:
        subprocess.run(["mount", "-o", "remount,bind,ro", str(at)], check=True)
        yield at
    finally:
        subprocess.run(["umount", "--lazy", str(at)], check=True)  # files that are still open there may close later


@MOUNTS
def test_a_reader_where_nothing_can_be_written_follows_pages_links_and_completions(tmp_path: Path) -> None:
    write(tmp_path / "index", "lion", "zebra", "First title")
    with read_only_view(tmp_path / "index", tmp_path / "view") as view:
        with pytest.raises(OSError, match="Read-only file system"):
            (view / "file").touch()
        search = TantivySearch(view)
        assert [[hit.id for hit in search.search(query).hits] for query in ("lion", "zebra", "kettle")] == [
            [ONE],
            [OTHER],
            [],
        ]
        assert search.suggest("first") == ("First title", "first")
        write(tmp_path / "index", "kettle", "wanderer", "Second title")
        assert [[hit.id for hit in search.search(query).hits] for query in ("lion", "zebra", "kettle", "wanderer")] == [
            [],
            [],
            [ONE],
            [OTHER],
        ]
        assert (search.suggest("first"), search.suggest("second")) == ((), ("Second title", "second"))
        assert TantivySearch(view).count() == 2


READER = """
    import os, sys
    from pathlib import Path
    from goodbot.index import TantivySearch
    os.setgroups([])
    os.setresgid(65534, 65534, 65534)
    os.setresuid(65534, 65534, 65534)
    search = TantivySearch(Path(sys.argv[1]))
    for line in sys.stdin:
        print(*[hit.id for hit in search.search(line).hits], flush=True)
"""


@pytest.fixture
def open_place() -> Iterator[Path]:
    """A folder that every user may enter."""
    with tempfile.TemporaryDirectory(prefix="goodbot-test-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
@pytest.mark.parametrize("mode", [0o755, 0o777], ids=["the folder", "only its lock file"])
def test_another_user_who_may_not_write_follows_each_change(open_place: Path, mode: int) -> None:
    folder, own_folder = open_place / "index", open_place / "temporary"
    own_folder.mkdir()
    own_folder.chmod(0o777)
    write(folder, "lion", "zebra", "Title")
    folder.chmod(mode)
    if mode == 0o755:
        (folder / LOCK_FILE).unlink()
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(READER), str(folder)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(own_folder)},
    ) as reader:
        assert reader.stdin is not None
        assert reader.stdout is not None
        answers = []
        for query in ("lion", "zebra", "kettle", None, "lion", "zebra", "kettle", "wanderer"):
            if query is None:
                write(folder, "kettle", "wanderer", "Title")
                continue
            reader.stdin.write(f"{query}\n")
            reader.stdin.flush()
            answers.append(reader.stdout.readline().strip())
        _, errors = reader.communicate()
    assert (reader.returncode, errors) == (0, "")
    assert answers == [ONE, OTHER, "", "", "", ONE, OTHER]
    assert not [*own_folder.iterdir()]
