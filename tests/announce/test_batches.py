"""Pages in requests: each once, within the limits, as a service reads them."""

from itertools import groupby

from hypothesis import given
from hypothesis import strategies as st

from goodbot.announce.announce_values import Batch, Change
from goodbot.announce.batches import MAX_BODY_BYTES, MAX_URLS, batches, body_of
from goodbot.url import Url, parse_url
from goodbot.web.visitors.indexnow import IndexNowRequest, parse_indexnow

THE_KEY = "0123456789abcdef"


def location_of(host: str) -> Url:
    return Url(f"https://{host}/{THE_KEY}.txt")


def changes_of(*texts: str) -> list[Change]:
    return [Change(url) for text in texts if (url := parse_url(text)) is not None]


def batched(changes: list[Change]) -> list[Batch]:
    return list(batches(changes, THE_KEY, location_of))


PATHS = st.from_regex(r"/[a-z]{0,3}(\?[a-z\\'%]{1,3})?", fullmatch=True)
PLACES = st.tuples(st.sampled_from(["https://a.example", "http://a.example", "https://b.example:8443"]), PATHS)


@given(st.lists(PLACES, max_size=30))
def test_batches_lose_and_double_nothing(places: list[tuple[str, str]]) -> None:
    changes = changes_of(*(origin + path for origin, path in places))
    found = batched(changes)
    assert [change for batch in found for change in batch.changes] == changes
    assert [batch.host for batch in found] == [host for host, _ in groupby(changes, lambda each: each.url.authority)]
    for batch in found:
        read = parse_indexnow(body_of(batch))
        assert isinstance(read, IndexNowRequest)
        assert (read.host, read.key, read.key_location) == (batch.host, THE_KEY, location_of(batch.host))
        assert read.urls == tuple(dict.fromkeys(change.url for change in batch.changes))


def test_a_batch_has_at_most_so_many_urls() -> None:
    found = batched([Change(Url(f"https://a.example/{number}")) for number in range(MAX_URLS * 2 + 1)])
    assert [len(batch.changes) for batch in found] == [MAX_URLS, MAX_URLS, 1]


def test_a_batch_has_at_most_so_many_bytes() -> None:
    changes = [Change(Url(f"https://a.example/?{number}{chr(92) * 8_000}")) for number in range(600)]
    found = batched(changes)
    sizes = [len(body_of(batch)) for batch in found]
    assert [change for batch in found for change in batch.changes] == changes
    assert max(sizes) <= MAX_BODY_BYTES
    assert min(sizes[:-1]) > MAX_BODY_BYTES - 17_000


def test_nothing_makes_no_batch() -> None:
    assert batched([]) == []
