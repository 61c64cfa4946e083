"""Tests which links belong to a crawl."""

import ipaddress
import pickle
from collections.abc import Sequence

import pytest

from goodbot.config import Settings
from goodbot.errors import InputError
from goodbot.robot.fetch.guard import AddressGuard
from goodbot.robot.scope.scope import Scope
from goodbot.url import Url, parse_url

SEEDS = ["https://www.example.co.uk/docs/start.html", "http://127.0.0.1:8000/"]

# scope, URL, depth → a word of the reason, None if it belongs
CASES = [
    ("page", "https://www.example.co.uk/docs/start.html", 0, None),
    ("page", "https://www.example.co.uk/docs/other.html", 1, "--scope page"),
    ("prefix", "https://www.example.co.uk/docs/a/b", 1, None),
    ("prefix", "https://www.example.co.uk/document", 1, "--scope prefix"),
    ("prefix", "http://www.example.co.uk/docs/a", 1, "--scope prefix"),
    ("prefix", "https://www.example.co.uk/docs/", 1, None),
    ("prefix", "http://127.0.0.1:8000/any/where", 1, None),
    ("host", "http://www.example.co.uk:8080/x", 1, None),
    ("host", "https://example.co.uk/", 1, "--scope host"),
    ("domain", "https://shop.example.co.uk/", 1, None),
    ("domain", "https://other.co.uk/", 1, "--scope domain"),
    ("all", "https://elsewhere.example/", 1, None),
    ("all", "https://elsewhere.example/", 3, "--depth 2"),
    ("all", "http://127.5.5.5/", 1, None),
    ("all", "http://10.0.0.1/", 1, "private"),
    ("all", "http://localhost/", 1, None),
    ("all", "http://[::1]/", 1, "private"),
    ("all", "http://169.254.169.254/latest", 1, "private"),
]


@pytest.mark.parametrize(("kind", "text", "depth", "word"), CASES)
def test_scope(kind: str, text: str, depth: int, word: str | None) -> None:
    seeds = [url for url in map(parse_url, SEEDS) if url]
    guard = AddressGuard([ipaddress.ip_network("127.0.0.0/8")])
    scope = Scope(Settings(scope=kind, depth=2), seeds, guard)  # type: ignore[arg-type]
    url = parse_url(text)
    assert url is not None
    reason = scope.refuse(url, depth)
    assert reason is None if word is None else reason is not None and word in reason


# include, exclude, URL → the reason, None if it belongs
RULES: list[tuple[Sequence[str], Sequence[str], str, str | None]] = [
    (["http://127.0.0.*:8800/*"], [], "http://127.0.0.12:8800/a", None),
    (["http://127.0.0.*:8800/*"], [], "https://e.example/", "matches none of --include http://127.0.0.*:8800/*"),
    (["*/a", "*/b"], [], "https://e.example/c", "matches none of --include */a and 1 more"),
    ([], ["*.pdf", "*/x/*"], "https://e.example/x/y.pdf", "excluded by --exclude *.pdf"),
    ([], ["*.pdf", "*/x/*"], "https://e.example/x/y", "excluded by --exclude */x/*"),
    ([], ["*.pdf", "*/x/*"], "https://e.example/y", None),
    (["*/x/*"], ["*.pdf"], "https://e.example/x/y.pdf", "excluded by --exclude *.pdf"),
    (["http://10.*"], [], "http://10.0.0.1/", "10.0.0.1 is a private address; --allow-private opens only the ranges"),
]


@pytest.mark.parametrize(("include", "exclude", "text", "reason"), RULES)
def test_globs_are_named(include: Sequence[str], exclude: Sequence[str], text: str, reason: str | None) -> None:
    guard = AddressGuard([ipaddress.ip_network("127.0.0.0/8")])
    scope = Scope(Settings(scope="all", include=tuple(include), exclude=tuple(exclude)), (), guard)
    url = parse_url(text)
    assert url is not None
    refused = scope.refuse(url, 1)
    assert refused == reason or (reason is not None and str(refused).startswith(reason))


@pytest.mark.parametrize("kind", ["Host", "site", "", None])
def test_a_scope_nobody_knows_is_an_error(kind: str) -> None:
    with pytest.raises(InputError, match=r"^scope must be one of page, prefix, host, domain, all: "):
        Settings(scope=kind)  # type: ignore[arg-type]
    settings = Settings()
    object.__setattr__(settings, "scope", kind)  # as a Settings that does not look
    with pytest.raises(InputError, match="there is no scope"):
        Scope(settings, (), AddressGuard())


def test_globs_are_judged_before_the_kind() -> None:
    seed, other = parse_url("https://e.example/"), parse_url("https://f.example/a.pdf")
    assert seed is not None
    assert other is not None
    scope = Scope(Settings(exclude=("*.pdf",)), [seed], AddressGuard([]))
    assert scope.refuse(other, 1) == "excluded by --exclude *.pdf"


def test_a_seed_the_user_excluded() -> None:
    seed = parse_url("https://e.example/a.pdf")
    assert seed is not None
    with pytest.raises(InputError, match=r"the seed https://e.example/a.pdf is out of scope: excluded by --exclude"):
        Scope(Settings(exclude=("*.pdf",)), [seed], AddressGuard([])).check_seed(seed)
    Scope(Settings(depth=0), [], AddressGuard([])).check_seed(seed)


# types, size, media type, bytes → the reason
ANSWERS: list[tuple[Sequence[str], int | None, str, int, str | None]] = [
    ([], None, "image/png", 10**9, None),
    (["text/html", "image/*"], None, "text/html", 1, None),
    (["text/html", "image/*"], None, "image/png", 1, None),
    (["text/html", "image/*"], None, "text/plain", 1, "text/plain does not match --type text/html image/*"),
    (["text/html"], None, "", 1, "an answer without a media type does not match --type text/html"),
    ([], 1000, "", 1000, None),
    ([], 1000, "", 1001, "longer than --max-size 1000 bytes"),
]


@pytest.mark.parametrize(("types", "size", "media_type", "length", "reason"), ANSWERS)
def test_answers(types: Sequence[str], size: int | None, media_type: str, length: int, reason: str | None) -> None:
    scope = Scope(Settings(types=tuple(types), max_size=size), (), AddressGuard([]))
    assert scope.refuse_answer(media_type, length) == reason


def test_what_shows_that_an_answer_is_too_long_is_fetched() -> None:
    """And a robots.txt, which is always fetched to its end, has its 500 KiB."""
    assert Settings().answer_limit == Settings().body_limit
    assert Settings(max_size=1000).answer_limit == 512 * 1024
    assert Settings(max_size=50_000_000).answer_limit == 50_000_001


def test_folders_within_folders() -> None:
    texts = ["https://e.example/a/b/", "https://e.example/a/", "https://e.example/ab/c/", "https://f.example/x/y"]
    scope = Scope(Settings(scope="prefix"), [url for url in map(parse_url, texts) if url], AddressGuard([]))
    inside = ["a/b/c", "a/z", "a/", "ab/c/d"]
    outside = ["a", "ab/d", "", "b/", "zz"]
    assert [path for path in inside + outside if not _refused(scope, f"https://e.example/{path}")] == inside
    assert not _refused(scope, "https://f.example/x/z")


def _refused(scope: Scope, text: str) -> str | None:
    url = parse_url(text)
    assert url is not None
    return scope.refuse(url, 1)


def test_the_same_in_another_process() -> None:
    settings = Settings(scope="prefix", include=("https://*/p?",), types=("text/*",), max_size=5)
    seeds = [url for url in map(parse_url, SEEDS) if url]
    scope = Scope(settings, seeds, AddressGuard([ipaddress.ip_network("127.0.0.0/8")]))
    copy = pickle.loads(pickle.dumps(scope))
    for text in ("https://www.example.co.uk/docs/p1", "https://www.example.co.uk/p1", "http://127.0.0.1/", SEEDS[0]):
        assert _refused(copy, text) == _refused(scope, text)
    assert copy.refuse_answer("image/png", 9) == scope.refuse_answer("image/png", 9)


@pytest.mark.parametrize("host", ["8.8.4.4", "[2606:4700::1111]", "0x08080404"])
def test_without_a_contact_public_addresses_are_out_of_scope(host: str) -> None:
    guard, url = AddressGuard([ipaddress.ip_network("127.0.0.0/8")], public=False), parse_url(f"http://{host}/")
    assert url is not None
    scope = Scope(Settings(scope="all"), (), guard)
    assert (scope.refuse(url, 1) or "").startswith(f"{url.host} is public, and no contact is set: say who you are")
    assert scope.refuse(Url("http://127.0.0.1/"), 1) is None
    assert scope.refuse(Url("http://wiki.example/"), 1) is None  # the guard decides once its address is known


def test_a_host_whose_name_is_longer_than_names_may_be_is_out_of_scope() -> None:
    settings = Settings(scope="all")
    scope = Scope(settings, (), AddressGuard())
    assert scope.refuse(Url("http://" + "a." * 127 + "b/"), 0) is None
    assert "255" in (scope.refuse(Url("http://" + "a." * 127 + "bc/"), 0) or "")
