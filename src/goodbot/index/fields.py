"""The fields of an index, and the record beside it that says which schema it was made with.

Terms and what is shown are apart: a searched field holds terms joined by blanks and is not stored (one joined string
costs 130 µs for 520 words, pre-tokenised 468); stored fields are not searched.
"""

import json
from hashlib import blake2b
from pathlib import Path
from urllib.parse import unquote
from uuid import uuid4

import tantivy

from goodbot.errors import DamagedError, RunError
from goodbot.index import analysis
from goodbot.search_values import Document, PreparedDocument
from goodbot.url import Url, authority_of, parse_url

SCHEMA_VERSION = 1

VERSION_FILE = "goodbot.json"

MAX_INDEXED_CHARS = 1_000_000
"""Of a document's text; what follows cannot be found."""

MAX_STORED_CHARS = 200_000
"""Of a document's text kept for snippets; two novels' chapters."""

MAX_FIELD_CHARS = 10_000
"""Of any other field."""

MAX_SITE_TERMS = 16

SEARCHED = ("title", "headings", "body", "address", "summary", "keywords")
"""Where words are looked for. `address`: words of host and path; `summary`: the description."""


def build_schema() -> tantivy.Schema:
    """`key` identifies a document, `site` holds its host and every parent domain; then `SEARCHED` and what is shown."""
    builder = tantivy.SchemaBuilder()
    for name in ("key", "site"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in SEARCHED:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in ("shown", "text"):
        builder.add_bytes_field(name, stored=True)  # a stored text field would be indexed as well
    return builder.build()


def prepare(document: Document) -> PreparedDocument:
    """What is written of a document. Lone surrogates become `?`. The costly half of taking it in; any process may do
    it."""
    url = parse_url(document.url)
    sites = [("site", host) for host in _site_terms(url)] if url else []
    texts = _searched_texts(document, _address_words(url) if url else "")
    searched = [(name, _clean(analysis.terms(text))) for name, text in texts.items()]
    text, description = _extracts(document)
    shown = {
        "id": document.id,
        "url": document.url,
        "title": document.title[:MAX_FIELD_CHARS],
        "description": description[:MAX_FIELD_CHARS],
        "language": document.language,
        "fetched_at": document.fetched_at,
    }
    if document.snippet_chars is not None:
        shown["snippet_chars"] = document.snippet_chars
    stored = [("shown", json.dumps(shown).encode()), ("text", text[:MAX_STORED_CHARS].encode("utf-8", "replace"))]
    return PreparedDocument(document.id, (("key", document_key(document.id)), *sites, *searched), tuple(stored))


def to_tantivy(prepared: PreparedDocument) -> tantivy.Document:
    """The same as the engine has it."""
    made = tantivy.Document()
    for name, text in prepared.texts:
        made.add_text(name, text)
    for name, data in prepared.stored:
        made.add_bytes(name, data)
    return made


def _extracts(document: Document) -> tuple[str, str]:
    """The text and the description that may be shown; what may not be shown is not stored."""
    if document.snippet_chars is not None and document.snippet_chars <= 0:
        return "", ""
    return document.text if document.shown is None else document.shown, document.description


def from_tantivy(stored: tantivy.Document) -> Document:
    """What is shown of a document; `text` is what may be shown.

    Raises ValueError, KeyError or TypeError if that is not what `prepare` made.
    """
    shown = json.loads(bytes(stored.get_first("shown") or b""))
    return Document(text=bytes(stored.get_first("text") or b"").decode(), **shown)


def document_key(document_id: str) -> str:
    """The id, or its digest if it is longer than a term may be (65,530 bytes)."""
    if len(document_id) <= 1000:
        return _clean(document_id)
    return "blake2:" + blake2b(document_id.encode("utf-8", "replace"), digest_size=32).hexdigest()


def key_pattern(host: str) -> str:
    """A regular expression for the keys of documents of a host (`Url.host_key`) that are not digests."""
    url = Url(f"http://{authority_of(host)}/")
    bare = _escaped(authority_of(url.host))
    if url.host_key == url.host:
        return f"https?://{bare}(:[0-9]+)?/.*"
    default = {80: f"|http://{bare}/.*", 443: f"|https://{bare}/.*"}.get(url.port, "")
    return f"https?://{bare}:{url.port}/.*{default}"


def _escaped(text: str) -> str:
    return "".join(sign if sign.isalnum() or sign in "-_" else f"\\{sign}" for sign in text)


def _searched_texts(document: Document, address: str) -> dict[str, str]:
    return {
        "title": document.title[:MAX_FIELD_CHARS],
        "headings": document.headings[:MAX_FIELD_CHARS],
        "body": document.text[:MAX_INDEXED_CHARS],
        "address": address,
        "summary": document.description[:MAX_FIELD_CHARS],
        "keywords": document.keywords[:MAX_FIELD_CHARS],
    }


def _address_words(url: Url) -> str:
    """Host and path; the ending of a file name is no word of it."""
    path, _, ending = url.path.rpartition(".")
    return f"{url.host.removeprefix('www.')} {unquote(path if len(ending) <= 5 else url.path, errors='replace')}"


def _site_terms(url: Url) -> list[str]:
    """Host and parent domains, and, if the URL names a port, the host with it."""
    host = url.host
    labels = [] if host[-1:].isdigit() or ":" in host else host.split(".")
    parents = [".".join(labels[at:]) for at in range(1, len(labels))]
    return [host, *{url.authority} - {host}, *parents[:MAX_SITE_TERMS]]


def _clean(text: str) -> str:
    """Without lone surrogates, which are in no encoding."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def remedy(folder: Path) -> str:
    """What to do about a damaged index in `folder`, which lies in the folder of its crawl."""
    return f"rebuild it with: goodbot index rebuild --in {folder.parent}"


def save_version(folder: Path) -> str:
    """Writes the version file of an index that has none, whole or not at all; gives the identity of the index."""
    identity = uuid4().hex
    draft = folder / f"{VERSION_FILE}.new"
    draft.write_text(json.dumps({"schema": SCHEMA_VERSION, "identity": identity}) + "\n", encoding="utf-8")
    draft.replace(folder / VERSION_FILE)
    return identity


def check_version(folder: Path) -> str:
    """The identity of the index in `folder`; one made before indexes had an identity has an empty one. Raises RunError
    if another schema made it, DamagedError if nothing says which did."""
    file = folder / VERSION_FILE
    try:
        said = json.loads(file.read_bytes())
        version, identity = said["schema"], str(said.get("identity", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{file} cannot be read: {remedy(folder)}") from error
    if version != SCHEMA_VERSION:
        raise RunError(
            f"the index in {folder} has schema {version!r}, this goodbot knows {SCHEMA_VERSION}: "
            f"use a newer goodbot, or {remedy(folder)}"
        )
    return identity
