"""All documents of a host leave an index, and no others."""

from pathlib import Path

import pytest

from goodbot.index import TantivyIndex, TantivySearch
from goodbot.search_values import Document
from goodbot.url import Url

IDS = [
    "http://a-b.example/",
    "https://a-b.example/x?y=z",
    "https://a-b.example:8443/x",
    "http://www.a-b.example/",
    "http://a-bxexample/",
    "http://other.example/http://a-b.example/",
    "http://127.0.0.1/",
    "http://127.0.0.1:8000/",
    "https://127.0.0.1/",
    "http://127.0.0.11/",
    "http://[::1]:8000/",
    "http://[::1]/",
    "http://[2606:4700::1111]/x",
    "given at import",
]


@pytest.mark.parametrize(
    "host",
    [
        "a-b.example",
        "www.a-b.example",
        "127.0.0.1:80",
        "127.0.0.1:443",
        "127.0.0.1:8000",
        "127.0.0.11:80",
        "[::1]:8000",
        "[::1]:80",
        "2606:4700::1111",
        "nobody.example",
    ],
)
def test_of_a_host(tmp_path: Path, host: str) -> None:
    index = TantivyIndex(tmp_path)
    for name in IDS:
        index.add(Document(name, name if "://" in name else "", "t", "zebra", fetched_at=0.0))
    index.commit()
    index.remove_host(host)
    index.commit()
    index.close()
    found = {hit.id for hit in TantivySearch(tmp_path).search("zebra", limit=99).hits}
    assert found == {name for name in IDS if "://" not in name or Url(name).host_key != host}
    assert len(found) < len(IDS) or host == "nobody.example"
