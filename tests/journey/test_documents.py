"""Documents that are no HTML: a real server, a crawl by the command line, and what becomes of each."""

import zlib
from pathlib import Path

from journey.goodbot_process import goodbot
from page.documents import encrypted_pdf, made_pdf
from webserver import Route, WebServer, answer

MARKDOWN = b"---\ntitle: The heron\n---\nA *heron* stands in the [reeds](/from-markdown).\n"


def site(server: WebServer) -> dict[str, Route]:
    """A document of each kind, each with a link of its own."""
    pdf = made_pdf(["The kingfisher dives."], title="The kingfisher", links=["/from-pdf"], language="en")
    names = ("notes.txt", "readme.md", "bird.pdf", "packed", "secret.pdf", "hidden.pdf", "broken.pdf", "data.csv")
    home = "".join(f'<a href="/{name}">{name}</a>' for name in names)
    found = {f"/from-{kind}": answer(b"<title>Found</title>") for kind in ("text", "markdown", "pdf")}
    return {
        "/": answer(b"<title>Birds</title>" + home.encode()),
        "/notes.txt": typed("text/plain", f"Bitterns boom (see {server.url('/from-text')}).".encode()),
        "/readme.md": typed("text/plain; charset=utf-8", MARKDOWN),
        "/bird.pdf": typed("application/pdf", pdf),
        "/packed": typed(
            "application/octet-stream", zlib.compress(made_pdf(["Dunlin"])), ("Content-Encoding", "deflate")
        ),
        "/secret.pdf": typed("application/pdf", encrypted_pdf()),
        "/hidden.pdf": typed("application/pdf", made_pdf(["Nightjar"]), ("X-Robots-Tag", "noindex")),
        "/broken.pdf": typed("application/pdf", b"%PDF-1.7 and nothing else"),
        "/data.csv": typed("text/csv", b"bird,place\ncorncrake,http://127.0.0.1/nowhere\n"),
        **found,
    }


def typed(kind: str, body: bytes, *headers: tuple[str, str]) -> bytes:
    return answer(body, headers=[("Content-Type", kind), *headers])


async def test_documents_are_read_searched_and_followed(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    async with WebServer({}) as server:
        server.routes.update(site(server))
        crawl = await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private", "--json")
    assert crawl.status == 0, crawl.err
    assert {target for target in server.targets if target.startswith("/from-")} == {
        "/from-text",
        "/from-markdown",
        "/from-pdf",
    }

    found = {}
    for word in ("bitterns", "heron", "kingfisher", "dunlin", "nightjar", "corncrake"):
        result = (await goodbot("search", word, "--in", folder, "--json")).json
        found[word] = [hit["url"].removeprefix(server.origin) for hit in result["hits"]]
    assert found == {
        "bitterns": ["/notes.txt"],
        "heron": ["/readme.md"],
        "kingfisher": ["/bird.pdf"],
        "dunlin": ["/packed"],
        "nightjar": [],
        "corncrake": [],
    }

    pages = {
        page["url"].removeprefix(server.origin): page
        for page in (await goodbot("export", "--in", folder, "--what", "pages")).lines
    }
    assert (pages["/bird.pdf"]["title"], pages["/readme.md"]["title"]) == ("The kingfisher", "The heron")
    assert pages["/bird.pdf"]["text"] == "The kingfisher dives."
    assert (pages["/bird.pdf"]["lang"], pages["/bird.pdf"]["type"]) == ("en", "application/pdf")
    assert pages["/readme.md"]["text"] == "A heron stands in the reeds."
    assert pages["/notes.txt"]["text"].startswith("Bitterns boom")
    assert (pages["/data.csv"]["text"], pages["/data.csv"]["title"]) == ("", "")


async def test_why_says_what_could_not_be_read(tmp_path: Path) -> None:
    folder = tmp_path / "crawl"
    async with WebServer({}) as server:
        server.routes.update(site(server))
        await goodbot("crawl", server.url("/"), "--into", folder, "--allow-private")
    reasons = {}
    for name in ("secret.pdf", "broken.pdf", "hidden.pdf", "data.csv"):
        events = (await goodbot("why", server.url(f"/{name}"), "--in", folder, "--json")).json["events"]
        reasons[name] = next(event["reason"] for event in events if event["step"] == "index")
    assert reasons == {
        "secret.pdf": "no text found in application/pdf; encrypted",
        "broken.pdf": "no text found in application/pdf; damaged",
        "hidden.pdf": "the page asks not to be indexed: noindex in X-Robots-Tag",
        "data.csv": "no text found in text/csv",
    }
