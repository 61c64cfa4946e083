"""The JSON of hits: facts that are unknown are left out."""

import json

import pytest

from goodbot.index import results_json
from goodbot.search_values import Hit, Results

ALWAYS = {"url", "title", "snippet", "score", "highlights"}
HIT = Hit("https://a.example/", "https://a.example/", "Title", "Snippet", 1.5)
FACTS = Hit(
    "https://a.example/",
    "https://a.example/",
    "Title",
    "Snippet",
    1.5,
    language="de",
    fetched_at=20.0,
    modified_at=0.0,
    size_bytes=42,
    media_type="text/html",
    has_copy=True,
)


@pytest.mark.parametrize(
    ("hit", "facts"),
    [
        (HIT, {}),
        (
            FACTS,
            {
                "language": "de",
                "fetched_at": 20.0,
                "modified_at": 0.0,
                "size_bytes": 42,
                "type": "text/html",
                "has_copy": True,
            },
        ),
    ],
    ids=["unknown", "known"],
)
def test_the_facts_of_a_hit(hit: Hit, facts: dict[str, object]) -> None:
    (value,) = json.loads(json.dumps(results_json(Results("robot", 1, 0.5, (hit,)))))["hits"]
    assert {name: value[name] for name in value if name not in ALWAYS} == facts
