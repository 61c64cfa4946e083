"""Defines the fields of an index, and the version file that says which schema it has.

Terms and displayed texts are separate: a searched field holds terms joined by spaces and is not stored (one joined
string costs 130 µs for 520 words, pre-tokenised 468); stored fields are not searched.
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
"""The limit for a document's text; the rest cannot be found."""

MAX_STORED_CHARS = 200_000
"""The limit for the text stored for snippets; a few chapters of a novel."""

MAX_FIELD_CHARS = 10_000
"""The limit for any other field."""

MAX_SITE_TERMS = 16

SEARCHED = ("title", "headings", "body", "address", "summary", "keywords")
"""The fields that are searched for words. `address` has the words of host and path, `summary` the description."""


def build_schema() -> tantivy.Schema:
    """Builds the schema: `key` identifies a document, `site` holds its host and every parent domain; then come
    `SEARCHED` and the displayed texts."""
    builder = tantivy.SchemaBuilder()
    for name in ("key", "site"):
        builder.add_text_field(name, tokenizer_name="raw", index_option="basic")
    for name in SEARCHED:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in ("shown", "text"):
        builder.add_bytes_field(name, stored=True)  # a stored text field would be indexed too
    return builder.build()


def prepare(document: Document) -> PreparedDocument:
    """Prepares a document for the index. Lone surrogates become `?`. This is the costly half of adding a document; any
    process may do it."""
    url = parse_url(document.url)
    sites = [("site", host) for host in _site_terms(url)] if url else []
    texts = _searched_texts(document, _address_words(url) if url else "")
    searched = [(name, analysis.terms(text)) for name, text in texts.items()]
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
    """Converts a prepared document for the engine."""
    made = tantivy.Document()
    for name, text in prepared.texts:
        made.add_text(name, text)
    for name, data in prepared.stored:
        made.add_bytes(name, data)
    return made


def _extracts(document: Document) -> tuple[str, str]:
    """Returns the text and the description that may be displayed; nothing else is stored."""
    if document.snippet_chars is not None and document.snippet_chars <= 0:
        return "", ""
    return document.text if document.shown is None else document.shown, document.description


def from_tantivy(stored: tantivy.Document) -> Document:
    """Returns the displayed parts of a document; `text` is the text that may be displayed.

    Raises ValueError, KeyError or TypeError if the stored fields are not from `prepare`.
    """
    shown = json.loads(bytes(stored.get_first("shown") or b""))
    return Document(text=bytes(stored.get_first("text") or b"").decode(), **shown)


def document_key(document_id: str) -> str:
    """Returns the id, or its digest if it has more than 1,000 characters: the engine limits terms to 65,530 bytes."""
    if len(document_id) <= 1000:
        return _clean(document_id)
    return "blake2:" + blake2b(document_id.encode("utf-8", "replace"), digest_size=32).hexdigest()


def key_pattern(host: str) -> str:
    """Returns a regular expression for the keys of a host's documents (`Url.host_key`), except digests."""
    url = Url(f"http://{authority_of(host)}/")
    bare = _escaped(authority_of(url.host))
    if url.host_key == url.host:
        return f"https?://{bare}(:[0-9]+)?/.*"
    default = {80: f"|http://{bare}/.*", 443: f"|https://{bare}/.*"}.get(url.port, "")
    return f"https?://{bare}:{url.port}/.*{default}"


def _escaped(text: str) -> str:
    return "".join(char if char.isalnum() or char in "-_" else f"\\{char}" for char in text)


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
    """Returns host and path as text, without the extension of a file name."""
    path, _, ending = url.path.rpartition(".")
    return f"{url.host.removeprefix('www.')} {unquote(path if len(ending) <= 5 else url.path, errors='replace')}"


def _site_terms(url: Url) -> list[str]:
    """Returns host and parent domains, and host with port if the URL names one."""
    host = url.host
    labels = [] if host[-1:].isdigit() or ":" in host else host.split(".")
    parents = [".".join(labels[at:]) for at in range(1, len(labels))]
    return [host, *{url.authority} - {host}, *parents[:MAX_SITE_TERMS]]


def _clean(text: str) -> str:
    """Replaces lone surrogates, which no encoding can represent."""
    return text.encode("utf-8", "replace").decode() if not text.isascii() else text


def remedy(folder: Path) -> str:
    """Says how to repair a damaged index in `folder`, which is inside the folder of its crawl."""
    return f"rebuild it with: goodbot index rebuild --in {folder.parent}"


def save_version(folder: Path) -> str:
    """Writes the version file of an index that has none, atomically, and returns the identity of the index."""
    identity = uuid4().hex
    draft = folder / f"{VERSION_FILE}.new"
    draft.write_text(json.dumps({"schema": SCHEMA_VERSION, "identity": identity}) + "\n", encoding="utf-8")
    draft.replace(folder / VERSION_FILE)
    return identity


def check_version(folder: Path) -> str:
    """Returns the identity of the index in `folder`, which is empty for indexes made before identities existed. Raises
    RunError if the index has another schema, DamagedError if its schema is unknown."""
    file = folder / VERSION_FILE
    try:
        content = json.loads(file.read_bytes())
        version, identity = content["schema"], str(content.get("identity", ""))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"{file} cannot be read: {remedy(folder)}") from error
    if version != SCHEMA_VERSION:
        raise RunError(
            f"the index in {folder} has schema {version!r}, this goodbot knows {SCHEMA_VERSION}: "
            f"use a newer goodbot, or {remedy(folder)}"
        )
    return identity
