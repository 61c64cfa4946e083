"""Defines the fields of an index, and the weights of the searched ones.

Terms and displayed texts are separate: a searched field holds terms joined by spaces and is not stored (one joined
string costs 130 µs for 520 words, pre-tokenised 468); what is displayed is stored in one compressed field.
"""

from types import MappingProxyType
from typing import Final

import tantivy

SCHEMA_VERSION: Final = 6

WEIGHTS: Final = MappingProxyType(
    {
        "title": 1.25,
        "headings": 1.0,
        "terms": 1.25,
        "body": 1.0,
        "summary": 0.6,
        "address": 0.3,
        "alternatives": 0.4,
        "keywords": 0.2,
    }
)
"""The weight of a word by the part of the page that has it: TITLE; H1 to H3; DT; text; META description; words of host
and path; ALT of images; META keywords. `docs/relevance.md` has what each part gains."""

LABELS: Final = ("key", "site", "kind", "language", "names", "targets")
"""Fields of exact values. `key` identifies the document; `site` has its host and every parent domain, `kind` the
extension of its file name and its media type, `language` its language with and without region, `names` the joined words
of title, headings and definition terms as a whole, `targets` the `hash_of` each URL it links to, in hexadecimal
digits."""

NUMBERS: Final = ("number", "host", "group", "twin", "tongue", "depth", "list", "date", "until")
"""Fields that searches read for the best documents. `number` is the `hash_of` the key; `host` that of the host;
`group` is the same for the translations of a page, `twin` for pages with the same text. `tongue` is the language
(`tongue_of`), that of the URL if it names one, `depth` the number of directories in the path, `list` is 1 for a
list of links, `date` is the time of the last change in Unix seconds, or of the fetch if the page states none. `until`
is the time from which on the document must not be found; few documents have one."""

STORED: Final = ("shown", "links")


def build_schema() -> tantivy.Schema:
    """Builds the schema."""
    builder = tantivy.SchemaBuilder()
    for name in LABELS:
        builder.add_text_field(
            name, tokenizer_name="whitespace" if name in ("names", "targets") else "raw", index_option="basic"
        )
    for name in WEIGHTS:
        builder.add_text_field(name, tokenizer_name="whitespace", index_option="position")
    for name in NUMBERS:
        builder.add_unsigned_field(name, indexed=name in ("number", "group", "twin", "date"), fast=True)
    for name in STORED:
        builder.add_bytes_field(name, stored=True)  # a stored text field would be indexed too
    return builder.build()
