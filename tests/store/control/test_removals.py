"""The removals that a crawl keeps: bounded, shared by several processes, never half written."""

import json
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from goodbot.errors import DamagedError, InputError, RunError
from goodbot.search_values import Hidden
from goodbot.store.control import removals
from goodbot.store.control.removals import RemovalFile
from goodbot.url import Url
from goodbot.visitor_values import Removal

PAGE = Removal("1", 100.0, "page", "status 404", url=Url("https://example.org/a"))
RULED = Removal("2", 101.5, "robots.txt", "line 2 «x»", url=Url("https://example.org/b"))
SITE = Removal("3", 102.0, "token file", "a file\nwith two lines", site="example.net:8443")


def test_a_crawl_without_removals(tmp_path: Path) -> None:
    file = RemovalFile(tmp_path)
    assert (file.removals(), file.hidden(), file.drop({"1"})) == ((), Hidden(), [])
    assert not (tmp_path / "removals.jsonl").exists()


def test_what_is_kept(tmp_path: Path) -> None:
    file, reader = RemovalFile(tmp_path), RemovalFile(tmp_path)
    assert reader.hidden() == Hidden()
    for removal in (PAGE, RULED, SITE):
        file.add(removal)
    assert reader.removals() == (PAGE, RULED, SITE) == RemovalFile(tmp_path).removals()
    pages = frozenset({"https://example.org/a", "https://example.org/b"})
    assert reader.hidden() == Hidden(pages, frozenset({"example.net:8443"}))
    assert reader.hidden() is reader.hidden()
    assert reader.drop({"1", "9"}) == [PAGE]
    assert file.removals() == (RULED, SITE)


def test_a_page_is_listed_once(tmp_path: Path) -> None:
    file = RemovalFile(tmp_path)
    file.add(PAGE)
    file.add(SITE)
    again = replace(PAGE, id="7", proof="token file")
    file.add(again)
    assert file.removals() == (SITE, again)


OF_HOSTS = [
    ("example.org", {"1", "2"}),
    ("www.example.org", {"5"}),
    ("example.net", {"3"}),
    ("example.info", set()),
    ("93.184.216.34", {"7"}),
    ("127.0.0.1:8020", {"8"}),
    ("2606:4700::1111", {"9"}),
    ("elsewhere.example", set()),
]


@pytest.mark.parametrize(("host", "ids"), OF_HOSTS)
def test_what_is_forgotten_with_a_host(tmp_path: Path, host: str, ids: set[str]) -> None:
    """A site with subdomains stays."""
    file = RemovalFile(tmp_path)
    known = [
        *(PAGE, RULED, SITE),
        replace(SITE, id="4", site="example.org"),
        replace(PAGE, id="5", url=Url("https://www.example.org/a")),
        replace(SITE, id="6", site="example.info"),
        replace(SITE, id="7", site="93.184.216.34"),
        replace(SITE, id="8", site="127.0.0.1:8020"),
        replace(SITE, id="9", site="[2606:4700::1111]"),
    ]
    for removal in known:
        file.add(removal)
    assert {removal.id for removal in file.forget(host)} == ids
    assert file.removals() == tuple(removal for removal in known if removal.id not in ids)


def test_nothing_is_written_if_nothing_is_forgotten(tmp_path: Path) -> None:
    assert RemovalFile(tmp_path).forget("example.org") == []
    assert list(tmp_path.iterdir()) == []


def test_the_number_is_limited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(removals, "MAX_OF_HOST", 2)
    monkeypatch.setattr(removals, "MAX_REMOVALS", 4)
    file = RemovalFile(tmp_path)
    file.add(PAGE)
    file.add(RULED)
    with pytest.raises(InputError, match=r"more than 2 pages of example\.org"):
        file.add(replace(PAGE, id="4", url=Url("https://example.org/c")))
    file.add(replace(PAGE, id="5"))
    file.add(SITE)
    file.add(replace(SITE, id="6", site="example.com"))
    with pytest.raises(InputError, match="too many removals"):
        file.add(replace(SITE, id="7", site="example.info"))
    assert len(file.removals()) == 4


def test_several_threads(tmp_path: Path) -> None:
    """None loses what another has written."""

    def add(number: int) -> None:
        RemovalFile(tmp_path).add(replace(SITE, id=str(number), site=f"s{number}.example"))

    threads = [threading.Thread(target=add, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(RemovalFile(tmp_path).removals()) == 20


DAMAGED = [
    "nonsense",
    "[]",
    "5",
    "{}",
    '{"id": "1", "at": 1, "proof": "page", "reason": "x"}',
    '{"id": "1", "at": 1, "proof": "a wish", "reason": "x", "site": "example.org"}',
    '{"id": 1, "at": 1, "proof": "page", "reason": "x", "site": "example.org"}',
    '{"id": "1", "at": "soon", "proof": "page", "reason": "x", "site": "example.org"}',
    '{"id": "1", "at": 1, "proof": "page", "reason": "x", "url": "file:///etc/passwd"}',
    '{"id": "1", "at": 1, "proof": ["page"], "reason": "x", "site": "example.org"}',
    "[" * 100_000,
]


@pytest.mark.parametrize("line", DAMAGED)
def test_a_damaged_file_hides_nothing_silently(tmp_path: Path, line: str) -> None:
    file = RemovalFile(tmp_path)
    file.add(PAGE)
    with (tmp_path / "removals.jsonl").open("a") as opened:
        opened.write(f"\n{line}\n")
    for read in (file.removals, file.hidden):
        with pytest.raises(DamagedError, match="damaged in line 3"):
            read()
    with pytest.raises(DamagedError):
        file.add(SITE)
    (tmp_path / "removals.jsonl").unlink()
    assert file.hidden() == Hidden()


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "removals.jsonl").mkdir()
    with pytest.raises(RunError, match="cannot read"):
        RemovalFile(tmp_path).hidden()
    with pytest.raises(RunError, match="cannot write"):
        RemovalFile(tmp_path / "nowhere").add(PAGE)


def test_tokens(tmp_path: Path) -> None:
    one, same = RemovalFile(tmp_path), RemovalFile(tmp_path)
    tokens = [one.token_for(subject) for subject in ("https://a.example a.example", "https://a.example", "b")]
    assert len(set(tokens)) == 3
    assert all(len(token) == 32 and int(token, 16) for token in tokens)
    assert same.token_for("b") == tokens[2]
    assert (tmp_path / "removal-secret").stat().st_mode & 0o777 == 0o600
    other = tmp_path / "other"
    other.mkdir()
    assert RemovalFile(other).token_for("b") != tokens[2]


@pytest.mark.parametrize("secret", [b"", b"abcd", b"not hexadecimal", b"\xff\xff", b"\xe2\x98\x83"])
def test_a_weak_secret_is_not_used(tmp_path: Path, secret: bytes) -> None:
    (tmp_path / "removal-secret").write_bytes(secret)
    with pytest.raises(DamagedError, match="remove it; it is made anew then"):
        RemovalFile(tmp_path).token_for("b")


def test_each_line_is_one_removal(tmp_path: Path) -> None:
    file = RemovalFile(tmp_path)
    file.add(RULED)
    file.add(SITE)
    lines = (tmp_path / "removals.jsonl").read_text("ascii").splitlines()
    assert [json.loads(line).get("site") for line in lines] == [None, "example.net:8443"]
