"""The key: its file, and what a site serves in its place."""

import os
import stat
from pathlib import Path

import pytest

from goodbot.announce.key import KEY, check_key, create_key_file, only_key, read_key
from goodbot.announce.key_checking import check_keys
from goodbot.announce.services import KNOWN, service_named
from goodbot.announce.typed_urls import whole_url
from goodbot.errors import InputError
from goodbot.one_shot import service_request
from goodbot.testing import FakeClock, FakeWeb
from goodbot.url import Url
from goodbot.values import Capture, Failure, Response

THE_KEY = "0123456789abcdef"
URL = Url(f"https://a.example/{THE_KEY}.txt")


def test_a_new_key(tmp_path: Path) -> None:
    key, file = create_key_file(tmp_path)
    assert KEY.fullmatch(key)
    assert (file.name, file.read_text()) == (f"{key}.txt", key)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(file.stat().st_mode) == 0o666 & ~mask
    assert only_key(tmp_path, "--key") == read_key(str(file)) == key
    with pytest.raises(InputError, match="there is a key already"):
        create_key_file(tmp_path)
    with pytest.raises(InputError, match="no such folder"):
        create_key_file(tmp_path / "none")


def test_other_files_are_no_keys(tmp_path: Path) -> None:
    (tmp_path / "changelog.txt").write_text("all that changed")
    (tmp_path / "not-a-key.txt").write_bytes(b"x" * 2000)
    (tmp_path / "folder-1234.txt").mkdir()
    with pytest.raises(InputError, match="make one with goodbot key indexnow, or name yours: --key FILE"):
        only_key(tmp_path, "--key")
    (tmp_path / f"{THE_KEY}.txt").write_text(f"\ufeff{THE_KEY}\n", encoding="utf-8")
    assert only_key(tmp_path, "--key") == THE_KEY
    (tmp_path / "other-key.txt").write_text("other-key")
    with pytest.raises(InputError, match=r"2 key files in the working folder; choose one: --key 0123456789abcdef\.txt"):
        only_key(tmp_path, "--key")


@pytest.mark.parametrize(
    "text", ["short", "a" * 129, "with space", "ключ-ключ", "a/b/c/d/e", "", "x" * 5000, "a\0bcdefgh"]
)
def test_bad_keys(text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        InputError, match=r"neither a key nor a file.*8 to 128 characters: letters from a to z or A to Z"
    ):
        read_key(text)
    (tmp_path / "file").write_text(text, "utf-16-be")
    with pytest.raises(InputError, match=r"there is no key in the file|is text in UTF-16 or UTF-32; save it as UTF-8"):
        read_key("file")
    (tmp_path / "file").write_text(text)
    with pytest.raises(InputError, match="there is no key in the file"):
        read_key("file")


def answer(status: int, body: bytes = b"", *headers: tuple[str, str]) -> Response:
    return Response(status, headers, body)


SERVED = [
    ("the key", answer(200, THE_KEY.encode()), "the key"),
    ("with a line break", answer(200, b"\xef\xbb\xbf" + THE_KEY.encode() + b"\r\n"), "the key"),
    ("missing", answer(404, b"<!doctype html>"), "status 404"),
    ("the key, with an error", answer(404, THE_KEY.encode()), "status 404"),
    ("a page", answer(200, b"<!DOCTYPE html><p>x"), "an HTML page"),
    ("another key", answer(200, b"another-key"), "another key: another-key"),
    ("another text", answer(200, b"Hello\x1b\n world"), r"another text: Hello\x1b world"),
    ("nothing", answer(200), "an empty file"),
    (
        "a redirect",
        answer(301, b"", ("Location", "https://b.example/")),
        "a redirect to https://b.example/ (status 301)",
    ),
    (
        "the key in a long file",
        answer(200, THE_KEY.encode() + b" " * 2000),
        "a file that begins with the key, but is longer than 1,000 bytes",
    ),
    ("a long text", answer(200, b"x" * 2000), f"another text: {'x' * 60}…"),
    (
        "the key, cut off",
        Response(200, (), THE_KEY.encode(), truncated="disconnect"),
        "a body that ends too early: it has fewer bytes than it states",
    ),
    (
        "a page, cut off",
        Response(200, (), b"<!doctype html><p>x", truncated="disconnect"),
        "an HTML page",
    ),
    (
        "the key, said to be gzip",
        answer(200, THE_KEY.encode(), ("Content-Encoding", "gzip")),
        "a body that cannot be decoded (gzip: this is not gzip data)",
    ),
    ("a space without a break", answer(200, f"{THE_KEY}\xa0\u3000".encode()), rf"another text: {THE_KEY}\xa0\u3000"),
    ("UTF-16", answer(200, THE_KEY.encode("utf-16")), "text in UTF-16 or UTF-32: save the file as UTF-8"),
    (
        "UTF-16 without a mark",
        answer(200, THE_KEY.encode("utf-16-be")),
        "text in UTF-16 or UTF-32: save the file as UTF-8",
    ),
    ("a NUL", answer(200, THE_KEY.encode() + b"\0"), rf"another text: {THE_KEY}\x00"),
    ("not modified", answer(304, b"", ("Location", "/x")), "status 304"),
    ("no answer", Failure("dns", "the name has no address"), "no answer: the name has no address"),
]


@pytest.mark.parametrize(("result", "found"), [case[1:] for case in SERVED], ids=[case[0] for case in SERVED])
def test_what_a_site_serves(result: Response | Failure, found: str) -> None:
    check = check_key(URL, THE_KEY, Capture(service_request(URL), result, 0.0, 0.1))
    assert (check.found, check.is_right) == (found, found == "the key")
    status = result.status if isinstance(result, Response) else None
    problems = {None: f"cannot check {URL}: {found}", 200: f"{URL} has {found}"}
    assert check.problem == problems.get(status, f"{URL} answers with {found}")


async def test_the_keys_of_several_sites() -> None:
    clock = FakeClock()
    other = Url("https://b.example/key.txt")
    web = FakeWeb({URL.text: answer(200, THE_KEY.encode())}, clock)
    first, second = await check_keys([URL, other], THE_KEY, web, service_request)
    assert (first.is_right, second.is_right, second.status) == (True, False, 404)


SERVICES = [
    ("bing", "https://www.bing.com/indexnow"),
    ("https://search.example", "https://search.example/indexnow"),
    ("http://127.0.0.1:8020/", "http://127.0.0.1:8020/indexnow"),
    ("https://search.example/all/", "https://search.example/all/indexnow"),
    ("https://search.example/IndexNow", "https://search.example/IndexNow"),
    ("https://search.example/?to=/", "https://search.example/?to=/"),
    ("HTTPS://Search.Example:443/x/../%69ndex%6Eow?#x", "https://search.example/indexnow"),
    ("https://search.example/?", "https://search.example/indexnow"),
    ("https://search.example/a%2Fb%20%C3%A9?", "https://search.example/a%2Fb%20%C3%A9"),
    ("https:///search.example/", None),
    ("Bing", None),
    ("search.example", None),
    ("", None),
]


@pytest.mark.parametrize(("text", "url"), SERVICES)
def test_services(text: str, url: str | None) -> None:
    service = service_named(text)
    assert (service and service.url.text) == url


@pytest.mark.parametrize(
    "text",
    [
        "https://me:secret@search.example/x",
        " HTTPS://me@search.example/x",
        "https:me:secret@search.example/x",
        "https:\\\\me:se:c@ret@search.example/x",
    ],
)
def test_a_password_is_refused(text: str) -> None:
    for read in (service_named, whole_url):
        with pytest.raises(InputError, match=r"a user name or a password .*: write https://search\.example/x$"):
            read(text)


def test_other_places_of_an_at_sign() -> None:
    for text in ("https://a.example/@me", "https://a.example?q=me@a.example", "https://a.example#@"):
        assert whole_url(text).host == "a.example"


@pytest.mark.parametrize("text", ["http:///a.example/", "http:a.example", "HTTP:/a.example", "https://", " ", "/a"])
def test_a_url_without_host_is_no_whole_url(text: str) -> None:
    with pytest.raises(InputError, match="not a whole http or https URL"):
        whole_url(text)


def test_known_services_have_urls_and_names_that_are_none() -> None:
    assert all(service_named(name) is not None and service_named(url) is not None for name, url in KNOWN.items())
