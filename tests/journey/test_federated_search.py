"""Federated search over real HTTP: two `goodbot serve`, an nginx with canned OpenSearch answers, and a service that
hangs; on the command line, on the page of results and in the API."""

import asyncio
import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from goodbot.cli.serve_services import ServedServices
from goodbot.federate import Federation
from goodbot.serve_settings import ServeSettings
from journey.goodbot_process import Ended, goodbot
from journey.reverse_proxy import NGINX, nginx
from web.library import Visitor

pytestmark = pytest.mark.skipif(NGINX is None, reason="nginx is not installed")

HEAD = '<?xml version="1.0" encoding="UTF-8"?>'
ENTRIES = [("https://pages.example/both", "Robots in both"), ("https://canned.example/1", "A canned robot &amp; more")]
SUMMARY = "&lt;b&gt;robot&lt;/b&gt;"
FEED = (
    f'{HEAD}<feed xmlns="http://www.w3.org/2005/Atom" xmlns:os="http://a9.com/-/spec/opensearch/1.1/"><id>x</id>'
    "<os:totalResults>2</os:totalResults>"
    + "".join(
        f'<entry><title>{title}</title><link href="{url}"/><summary type="html">{SUMMARY}</summary></entry>'
        for url, title in ENTRIES
    )
    + "</feed>"
)


def description(port: int) -> str:
    template = f"http://127.0.0.1:{port}/answer?q={{searchTerms}}&amp;from={{startIndex?}}"
    return (
        f'{HEAD}<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>Canned</ShortName>'
        f'<Url type="text/html" template="{template}"/><Url type="application/atom+xml" template="{template}"/>'
        "</OpenSearchDescription>"
    )


@contextmanager
def canned(folder: Path) -> Iterator[str]:
    """An nginx with a description and one answer to every query; gives the URL of the description."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        files = folder / "files"
        files.mkdir()
        (files / "os.xml").write_text(description(port))
        (files / "answer").write_text(FEED)
        server = (
            f"server {{ listen 127.0.0.1:{port}; root {files}; gzip on; gzip_types *; gzip_min_length 1;"
            "location /answer { default_type application/atom+xml; } location / { default_type text/xml; } }"
        )
        with nginx(folder / "nginx", listener, server):
            yield f"http://127.0.0.1:{port}/os.xml"


@contextmanager
def served(folder: Path, *options: str) -> Iterator[str]:
    """Runs `goodbot serve` until the block ends; gives its URL."""
    command = [sys.executable, "-W", "error", "-m", "goodbot", "serve", "--in", str(folder), "--port", "0", "--json"]
    with subprocess.Popen([*command, *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None
        line = started.stdout.readline()
        try:
            assert line, started.communicate()[1]
            yield json.loads(line)["url"]
        finally:
            started.terminate()
            _, log = started.communicate(timeout=60)
    assert (started.returncode, "Traceback" in log) == (0, False), log


def library(folder: Path, name: str, *pages: str) -> Path:
    """Imports a page for each name."""
    lines = [
        json.dumps({"url": f"https://pages.example/{page}", "title": f"Robot {page}", "text": f"a robot {page} {name}"})
        for page in pages
    ]
    file = folder / f"{name}.jsonl"
    file.write_text("\n".join(lines))
    ended = asyncio.run(goodbot("index", "import", file, "--into", folder / name))
    assert ended.status == 0, ended.err
    return folder / name


@dataclass(frozen=True)
class World:
    """Two services of ours, of which `here` knows all others; descriptions, templates and folders of the others."""

    here: Visitor
    own: Path
    beta: str
    canned: str
    hanging: str
    refusing: str


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("federated")
    own = library(folder, "own", "both", *(f"own{number}" for number in range(14)))
    other = library(folder, "other", "both", *(f"other{number}" for number in range(14)))
    (folder / "goodbot.toml").write_text("[serve]\nservices_deadline = 1.5\n")
    with ExitStack() as stack:
        hanging = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        closed = stack.enter_context(socket.socket())
        closed.bind(("127.0.0.1", 0))  # and does not listen
        urls = [f"http://127.0.0.1:{each.getsockname()[1]}/?q={{searchTerms}}" for each in (hanging, closed)]
        nginx_url = stack.enter_context(canned(folder))
        beta = stack.enter_context(served(other, "--name", "Beta"))
        options = [option for url in (beta, nginx_url, *urls) for option in ("--with", url)]
        here = stack.enter_context(served(own, "--config", str(folder / "goodbot.toml"), *options))
        yield World(Visitor(here), own, beta, nginx_url, *urls)


def search(world: World, *arguments: str | Path) -> Ended:
    services = (world.beta, world.canned, world.hanging, world.refusing)
    options = [option for url in services for option in ("--with", url)]
    return asyncio.run(goodbot("search", "robot", *options, "--deadline", "1.5", *arguments))


def host(url: str) -> str:
    return url.split("/")[2]


def test_the_command_line(world: World) -> None:
    ended = search(world, "--in", world.own, "--top", "30")
    assert ended.status == 0, ended.err
    services = (world.beta, world.canned, world.hanging, world.refusing)
    assert " ".join(ended.err.split()) == f"sending the query to {', '.join(map(host, services))}"
    first, *rest = ended.out.splitlines()
    assert first.startswith("results of 3 sources for: robot (")
    assert f"left out: {host(world.hanging)}: it did not answer within 1.5 s" in rest
    assert [line for line in rest if line.startswith(f"left out: {host(world.refusing)}: no answer: ")]
    hits = ended.out.partition(" 1. ")[2]
    assert hits.startswith("Robot both\n    https://pages.example/both\n"), "three sources list it"
    assert "    from: this index, Beta, Canned\n" in hits
    assert ended.out.count("https://pages.example/both") == 1
    assert "A canned robot & more\n    https://canned.example/1\n    robot\n    from: Canned\n" in hits


def test_as_json(world: World) -> None:
    ended = search(world, "--in", world.own, "--top", "100", "--json")
    found = ended.json
    assert [(each["name"], each["state"]) for each in found["sources"]] == [
        ("this index", "answered"),
        ("Beta", "answered"),
        ("Canned", "answered"),
        (host(world.hanging), "late"),
        (host(world.refusing), "failed"),
    ]
    assert [each["url"] for each in found["sources"]] == [
        str(world.own),
        world.beta,
        world.canned,
        world.hanging,
        world.refusing,
    ]
    assert all(each["took_ms"] > 0 for each in found["sources"])
    assert found["sources"][3]["took_ms"] >= 1400
    assert [each["hits"] for each in found["sources"]] == [15, 15, 2, 0, 0]
    assert len(found["hits"]) == len({hit["url"] for hit in found["hits"]}) == 30
    assert found["hits"][0]["sources"][0].keys() == {"name", "rank"}
    scores = [hit["score"] for hit in found["hits"]]
    assert scores[0] == max(scores)


def test_without_an_index(world: World) -> None:
    ended = asyncio.run(goodbot("search", "robot", "--with", world.canned, "--json"))
    assert (ended.status, [hit["url"] for hit in ended.json["hits"]]) == (0, [url for url, _ in ENTRIES])


def test_nobody_gets_the_query_if_a_service_is_none(world: World) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        good = f"http://127.0.0.1:{listener.getsockname()[1]}/?q={{searchTerms}}"
        ended = asyncio.run(goodbot("search", "robot", "--with", good, "--with", f"{world.beta}healthz"))
        listener.setblocking(False)
        with pytest.raises(BlockingIOError):
            listener.accept()
    assert (ended.status, "sending" in ended.err) == (2, False)
    assert ended.complaint.startswith(f"goodbot: --with {world.beta}healthz: it is no search")


def test_services_of_one_host(world: World) -> None:
    named = [f"{world.canned.removesuffix('os.xml')}answer?{name}={{searchTerms}}" for name in "ab"]
    ended = asyncio.run(goodbot("search", "robot", "--with", named[0], "--with", named[1], "--with", world.canned))
    assert ended.err == f"sending the query to {host(world.canned)}\n"
    place = f"{host(world.canned)}/answer"
    assert f"from: {place} (1), {place} (2), Canned\n" in ended.out


def test_a_description_does_not_lead_to_another_port(world: World, tmp_path: Path) -> None:
    with canned(tmp_path) as url:
        (tmp_path / "files" / "os.xml").write_text(description(int(host(world.canned).partition(":")[2])))
        ended = asyncio.run(goodbot("search", "robot", "--with", url))
    assert (ended.status, "its description leads to another site" in ended.complaint) == (2, True)


def test_serve_says_which_services_it_leaves_out(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    async def served() -> Federation:
        settings = ServeSettings(search_services=(f"{world.beta}healthz", world.refusing.partition("?")[0], world.beta))
        services = ServedServices(settings, has_search=True)
        services.start("http://127.0.0.1:1/", None)
        services.stop()
        await asyncio.gather(*(asyncio.all_tasks() - {asyncio.current_task()}))
        assert services.federation is not None
        return services.federation

    federation = asyncio.run(served())
    said = " ".join(capsys.readouterr().err.split())
    assert "nor a page with a link to one; it is left out until the next start" in said
    assert said.endswith("; searches try again")
    assert [place.name for place in federation.places()] == [host(world.refusing), "Beta"]


def test_if_no_source_has_a_page(world: World) -> None:
    """A service that finds nothing, and an index that finds nothing."""
    ended = asyncio.run(goodbot("search", "zeppelin", "--in", world.own, "--with", world.beta, "-q"))
    assert (ended.status, ended.out.partition(" (")[0]) == (0, "no pages found for: zeppelin; 2 sources answered")


def test_a_correction_holds_for_the_index_alone(world: World) -> None:
    ended = asyncio.run(goodbot("search", "robott", "--in", world.own, "--with", world.canned, "-q"))
    first, second, *_ = ended.out.split("\n\n")[0].replace("\n  ", " ").splitlines()
    assert first.startswith("results of 2 sources for: robott (")
    assert second == (
        "not every word of robott is on a page of this index; its results are for: robot; services got the query as "
        "typed"
    )


def test_json_if_nobody_answers(world: World) -> None:
    ended = asyncio.run(goodbot("search", "robot", "--with", world.refusing, "--json", "-q"))
    (source,) = ended.json["sources"]
    assert (ended.status, ended.json["hits"], source["state"]) == (3, [], "failed")
    assert source["why"].startswith("no answer: ")
    assert ended.complaint.startswith("goodbot: no service answered: ")


def test_if_nobody_answers(world: World) -> None:
    ended = asyncio.run(goodbot("search", "robot", "--with", world.refusing, "-q"))
    assert (ended.status, ended.complaint.partition(": no answer")[0]) == (
        3,
        f"goodbot: no service answered: {host(world.refusing)}",
    )


# arguments → what is said, with exit status 2; {canned} and {beta} are services
REFUSED = [
    ("robot", "give the folder of a crawl or of imported documents with --in DIR"),
    ("robot --with example.org", "is not an http or https URL"),
    ("robot --with javascript:{{searchTerms}}", "it must begin with http:// or https:// and a host"),
    ("robot --with https://x.example/?q={{terms}}", "it lacks {searchTerms}"),
    ("robot --with {beta}healthz", "it is no search"),
    ("--run q.jsonl --with {beta}", "the queries of --run are not sent to other services"),
    ("robot --with {beta} --deadline nan", "--deadline must be a number of seconds"),
    ("robot --with {beta} --deadline inf", "inf is not in the range"),
    ("robot --with {beta} --without anchors", "--without needs --in DIR"),
    ("robot --in x --deadline 3", "--deadline needs --with URL"),
    ("robot --with http://me:secret@x.example/", "--with: remove user name and password"),
]


@pytest.mark.parametrize(("arguments", "message"), REFUSED)
def test_what_is_refused(world: World, arguments: str, message: str) -> None:
    ended = asyncio.run(goodbot("search", *arguments.format(beta=world.beta).split(), "-q"))
    assert (ended.status, message in ended.complaint) == (2, True), ended.err


# options of `goodbot serve` → what is said, with exit status 2
NOT_SERVED = [
    ("--with https://x.example/", "--with needs --in DIR"),
    ("--in {own} --with x.example", "--with must be http or https URLs"),
    ("--in {own} --with https://x.example/?q={{terms}}", "it lacks {searchTerms}"),
    ("--in {own} --with https://me:secret@x.example/", "--with: remove user name and password"),
]


@pytest.mark.parametrize(("options", "message"), NOT_SERVED)
def test_what_is_not_served(world: World, options: str, message: str) -> None:
    ended = asyncio.run(goodbot("serve", "--port", "0", *options.format(own=world.own).split()))
    assert (ended.status, message in ended.complaint) == (2, True), ended.err


def test_the_page_of_results(world: World) -> None:
    page = world.here.ask("/search?q=robot").text
    assert "You can include other search services:" in page
    merged = world.here.ask("/search?q=robot&others=1").text
    assert re.search(rf"Left out: <bdi>{host(world.hanging)}</bdi>\.\s*<span>It did not answer within 1\.5 s\.", merged)
    assert f"Left out: <bdi>{host(world.refusing)}</bdi>" in merged
    assert "Found by: <bdi>this index</bdi>, <bdi>Beta</bdi>, <bdi>Canned</bdi>" in merged
    russian = world.here.ask("/search?q=robot&others=1&hl=ru").text
    assert "Нашли: <bdi>этот индекс</bdi>, <bdi>Beta</bdi>, <bdi>Canned</bdi>" in russian


def test_the_api(world: World) -> None:
    pages = [json.loads(world.here.ask(f"/api/search?q=robot&others=1&page={page}").text) for page in (1, 2, 3)]
    urls = [hit["url"] for page in pages for hit in page["hits"]]
    assert len(urls) == len(set(urls)) == 30
    assert pages[2]["pages"] == 3
