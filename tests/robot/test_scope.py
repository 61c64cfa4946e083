"""Which links belong to a crawl."""

import ipaddress

import pytest

from goodbot.robot.guard import AddressGuard
from goodbot.robot.scope import Scope
from goodbot.url import parse_url

SEEDS = ["https://www.example.co.uk/docs/start.html", "http://127.0.0.1:8000/"]

# scope, URL, depth → a word of the reason, None if it belongs
CASES = [
    ("page", "https://www.example.co.uk/docs/start.html", 0, None),
    ("page", "https://www.example.co.uk/docs/other.html", 1, "--scope page"),
    ("prefix", "https://www.example.co.uk/docs/a/b", 1, None),
    ("prefix", "https://www.example.co.uk/document", 1, "--scope prefix"),
    ("prefix", "http://www.example.co.uk/docs/a", 1, "--scope prefix"),
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
    scope = Scope(kind, seeds, 2, guard)  # type: ignore[arg-type]
    url = parse_url(text)
    assert url is not None
    reason = scope.refuse(url, depth)
    assert reason is None if word is None else reason is not None and word in reason
