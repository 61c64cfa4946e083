"""A search page as one writes it first: Starlette, Jinja2, and Tantivy with its own query parser, ranking and snippets.

    tantivy_site.py index FOLDER < documents    one JSON line per document: url, title, text
    tantivy_site.py serve FOLDER                prints its URL, then serves GET /search?q=&page=

Titles count three times as much as texts. Both are analysed as English.
"""

import json
import socket
import sys
from contextlib import suppress
from urllib.parse import urlencode

import tantivy
import uvicorn
from jinja2 import Environment
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse
from starlette.routing import Route

PAGE = Environment(autoescape=True).from_string("""<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><title>{{ query }}</title>
<form action="/search"><input type="search" name="q" value="{{ query }}"><button>Search</button></form>
<h1>{{ total }} pages found</h1>
<ol start="{{ first }}">
{% for url, title, snippet in hits %}
<li><h2><a href="{{ url }}" rel="noreferrer">{{ title }}</a></h2><p>{{ url }}</p><p>{{ snippet | safe }}</p></li>
{% endfor %}
</ol>
{% if next %}<a href="/search?{{ next }}" rel="next">Next page</a>{% endif %}
</html>""")


def build(folder: str) -> None:
    schema = tantivy.SchemaBuilder().add_text_field("url", stored=True, tokenizer_name="raw", index_option="basic")
    for name in ("title", "text"):
        schema.add_text_field(name, stored=True, tokenizer_name="en_stem")
    writer = tantivy.Index(schema.build(), path=folder).writer(128_000_000, num_threads=1)
    for line in sys.stdin:
        writer.add_document(tantivy.Document(**json.loads(line)))
    writer.commit()
    writer.wait_merging_threads()


def application(folder: str) -> Starlette:
    index = tantivy.Index.open(folder)

    def results(request: Request) -> HTMLResponse:
        typed, page = request.query_params.get("q", ""), int(request.query_params.get("page", "1"))
        searcher, offset = index.searcher(), 10 * (page - 1)
        query, _ = index.parse_query_lenient(typed, ["title", "text"], field_boosts={"title": 3.0})
        found = searcher.search(query, 10, offset=offset)
        snippets = tantivy.SnippetGenerator.create(searcher, query, index.schema, "text")
        documents = [searcher.doc(address) for _, address in found.hits]
        hits = [(one["url"][0], one["title"][0], snippets.snippet_from_doc(one).to_html()) for one in documents]
        following = urlencode({"q": typed, "page": page + 1}) if offset + 10 < found.count else ""
        values = {"query": typed, "total": found.count, "first": offset + 1, "hits": hits, "next": following}
        return HTMLResponse(PAGE.render(values))

    return Starlette(routes=[Route("/search", results)])


if __name__ == "__main__":
    if sys.argv[1] == "index":
        build(sys.argv[2])
    else:
        listener = socket.create_server(("127.0.0.1", 0))
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
        options = {"loop": "asyncio", "http": "h11", "lifespan": "off", "access_log": False, "log_level": "warning"}
        with suppress(KeyboardInterrupt):
            uvicorn.Server(uvicorn.Config(application(sys.argv[2]), **options)).run(sockets=[listener])
