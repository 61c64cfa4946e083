"""`goodbot index import`, `search` and `serve` of documents from elsewhere."""

import json
from pathlib import Path

import pytest

from goodbot.index import PARTS
from journey.goodbot_process import Ended, goodbot

LINES = [
    {"id": "1", "url": "https://example.org/robots", "title": "Robots", "text": "A robot reads robots.txt. " * 3},
    {"id": "2", "title": "Crawlers", "text": "Crawlers follow links."},
    {
        "id": "3",
        "url": "https://example.org/de/faq.html",
        "title": "Fragen",
        "language": "de",
        "text": "Ein Automat fragt, und der Mensch ist nicht da.",
    },
]


async def imported(folder: Path, lines: str | None = None) -> Ended:
    file = folder.with_suffix(".jsonl")
    file.write_text(lines if lines is not None else "\n".join(map(json.dumps, LINES)), encoding="utf-8")
    return await goodbot("index", "import", file, "--into", folder)


@pytest.fixture
async def folder(tmp_path: Path) -> Path:
    ended = await imported(tmp_path / "imported")
    assert (ended.status, ended.out) == (0, "3 documents imported; the index now has 3 documents\n"), ended.err
    return tmp_path / "imported"


async def test_a_search_says_what_it_corrected(folder: Path) -> None:
    ended = await goodbot("search", "robts", "--in", folder)
    assert ended.status == 0
    lines = ended.out.splitlines()
    assert lines[0].startswith("1 page found for: robots (")
    assert lines[1] == "not every word of robts is on a page; these are the results for: robots"
    assert lines[3:5] == [" 1. Robots", "    https://example.org/robots"]
    answer = json.loads((await goodbot("search", "robts", "--in", folder, "--json")).out)
    assert (answer["query"], answer["corrected"], answer["total"]) == ("robts", "robots", 1)


async def test_a_hit_lists_one_other_page_of_each_language(tmp_path: Path) -> None:
    site, texts = (
        "https://example.org",
        {
            "en": "A robot reads robots.txt before it reads the page. ",
            "fr": "Un robot lit robots.txt avant de lire la page. ",
            "de": "Ein Robot liest robots.txt, bevor er die Seite liest. ",
        },
    )
    pages = [
        {"id": path, "url": f"{site}/{path}", "title": "Robots", "text": texts[path[:2]] * 8, "language": path[:2]}
        for path in ("en/a", "en/b", "en/c", "fr/a", "en/d", "de/a", "fr/b")
    ]
    assert (await imported(tmp_path / "copies", "\n".join(map(json.dumps, pages)))).status == 0
    ended = await goodbot("search", "robot", "--in", tmp_path / "copies", settings={"LC_ALL": "en_GB.UTF-8"})
    *languages, copy, more = [line.strip() for line in ended.out.splitlines()[-4:]]
    assert {line[:5] + line[-5:-1] for line in languages} == {"in fr/fr/", "in de/de/"}
    assert copy.startswith(f"copy: {site}/en/")
    assert more == "3 more translations or copies"


async def test_synonyms_beside_the_index(folder: Path) -> None:
    (folder / "synonyms.txt").write_text("robot, crawler\n", encoding="utf-8")
    answer = json.loads((await goodbot("search", "robots", "--in", folder, "--json")).out)
    assert {hit["id"] for hit in answer["hits"]} == {"1", "2"}
    (folder / "synonyms.txt").write_text("robot\n", encoding="utf-8")
    ended = await goodbot("search", "robots", "--in", folder)
    assert ended.status == 2
    assert ended.err.count("\n") == 1
    assert "synonyms.txt, line 1: needs two words" in ended.err


async def test_a_hit_is_opened_in_the_browser(folder: Path, tmp_path: Path) -> None:
    script, opened = tmp_path / "browser", tmp_path / "opened"
    script.write_text(f"#!/bin/sh\nprintf %s \"$1\" > '{opened}'\n", encoding="utf-8")
    script.chmod(0o755)
    ended = await goodbot("search", "robot", "--in", folder, "--open", "1", settings={"BROWSER": str(script)})
    assert (ended.status, ended.out) == (0, "")
    assert "opening https://example.org/robots" in ended.err
    assert opened.read_text() == "https://example.org/robots"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["robot", "--open", "9"], "there is no hit 9: 1 page found"),
        (["follow", "--open", "1"], "hit 1 has no http or https URL; its id is 2"),
        (["robot", "--open", "1", "--json"], "--open needs a QUERY and cannot be used with --json"),
        (["robot", "--without", "magic"], "'magic' is not one of"),
    ],
)
async def test_what_cannot_be_done(folder: Path, arguments: list[str], message: str) -> None:
    ended = await goodbot("search", *arguments, "--in", folder)
    assert ended.status == 2
    assert message in " ".join(ended.err.split())


async def test_pages_in_the_readers_language_come_first(tmp_path: Path) -> None:
    lines = [
        {"id": language, "title": "GNU Emacs", "text": f"{text} GNU Emacs", "language": language}
        for language, text in (
            ("de", "Das ist nicht der Editor, mit dem wir arbeiten."),
            ("fr", "Ce n’est pas le texte que nous avons pour vous."),
        )
    ]
    folder = tmp_path / "two"
    await imported(folder, "\n".join(map(json.dumps, lines)))
    for locale in ("de_DE.UTF-8", "fr_FR.UTF-8"):
        ended = await goodbot("search", "emacs", "--in", folder, "--json", settings={"LANG": locale})
        assert next(hit["language"] for hit in ended.json["hits"]) == locale[:2]


async def test_every_part_can_be_switched_off(folder: Path) -> None:
    switches = [text for part in PARTS for text in ("--without", part)]
    answer = json.loads((await goodbot("search", "robot", "--in", folder, "--json", *switches)).out)
    assert [hit["id"] for hit in answer["hits"]] == ["1"]


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ('{"id": "9", "text": "x"}\n{"id": "10", "text"', "line 2: not valid JSON"),
        ('["a"]', "line 1: not a JSON object"),
        ('{"id": "9"}', "line 1: text is missing; each line must be like"),
        ('{"text": "x"}', "line 1: id must be a number, or a string that is not empty"),
        ('{"id": "9", "text": 5}', "text is not a string"),
        ("[" * 100_000, "line 1: not valid JSON"),
    ],
)
async def test_lines_that_cannot_be_imported(folder: Path, lines: str, message: str) -> None:
    ended = await imported(folder, lines)
    assert ended.status == 2
    assert message in ended.err
    assert "nothing was imported" in ended.err
    assert ended.err.count("\n") == 1
    answer = json.loads((await goodbot("index", "stats", "--in", folder, "--json")).out)
    assert answer["documents"] == len(LINES)


async def test_an_import_again_replaces(folder: Path) -> None:
    ended = await imported(folder, '{"id": "2", "title": "Kettles", "text": "Kettles whistle."}')
    assert ended.out == "1 document imported; the index now has 3 documents\n"
    assert json.loads((await goodbot("search", "crawlers", "--in", folder, "--json")).out)["total"] == 0


@pytest.mark.parametrize(
    "query",
    [
        "robot " * 1700,
        "(" * 3000 + "robot" + ")" * 3000,
        "site:",
        "\U0001f916",
        "OR AND NOT | - + ( )",
        '"robot "x" \'',
        "\u202erobot\x07",
        " ".join(f"{chr(97 + number % 26)}o*" for number in range(50)),
        "日本語の文章を検索する機能についての説明文書と設定方法を記載したものですから注意して読んで",
    ],
    ids=["10 kB", "parentheses", "site alone", "emoji", "operators", "quotes", "control", "wildcards", "Japanese"],
)
async def test_any_query_is_answered(folder: Path, query: str) -> None:
    ended = await goodbot("search", "--in", folder, "--json", "--", query)
    assert ended.status == 0, ended.err
    assert isinstance(json.loads(ended.out)["total"], int)


async def test_a_crawl_into_imported_documents_is_refused(folder: Path) -> None:
    refused = await goodbot("crawl", "http://127.0.0.1:9/", "--into", folder, "--allow-private")
    assert (refused.status, refused.out) == (2, "")
    assert refused.complaint == f"goodbot: {folder} has imported documents: use another folder"
    for command in (("index", "rebuild"), ("status",)):
        refused = await goodbot(*command, "--in", folder)
        assert (refused.status, refused.complaint) == (2, f"goodbot: {folder} has imported documents, not a crawl")
    assert json.loads((await goodbot("search", "robots", "--in", folder, "--json")).out)["total"] == 1


async def test_synonyms_that_cannot_be_read_end_serve(folder: Path) -> None:
    (folder / "synonyms.txt").write_text("robot\n", encoding="utf-8")
    ended = await goodbot("serve", "--in", folder, "--port", "0")
    assert (ended.status, "synonyms.txt, line 1: needs two words" in ended.complaint) == (2, True)


async def test_the_scores_of_a_run_fall(tmp_path: Path) -> None:
    """Hits of one host make way for others, so the scores of hits do not fall everywhere."""
    pages = [
        {"id": f"page {number}", "url": f"https://{host}.example/{number}", "title": "", "text": "robots " * length}
        for number, (host, length) in enumerate([("a", 9)] * 6 + [("b", 1)])
    ]
    for page in pages[:6]:
        page["text"] += page["id"]
    assert (await imported(tmp_path / "run", "\n".join(map(json.dumps, pages)))).status == 0
    file = tmp_path / "queries.jsonl"
    file.write_text('{"id": "q 1", "text": "robots"}\n', encoding="utf-8")
    ended = await goodbot("search", "--run", file, "--in", tmp_path / "run")
    rows = [line.split() for line in ended.out.splitlines()]
    assert [row[:2] + row[3:4] + row[5:] for row in rows] == [["q%201", "Q0", f"{at}", "goodbot"] for at in range(1, 8)]
    assert [row[2] for row in rows].index("page%206") == 3
    scores = [float(row[4]) for row in rows]
    assert scores == sorted(set(scores), reverse=True)
