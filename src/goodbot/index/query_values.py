"""The values of a parsed query. Words are as typed; `goodbot.index.query_builder` turns them into terms."""

from dataclasses import dataclass
from typing import Literal

Where = Literal["anywhere", "title", "url"]
FilterName = Literal["site", "filetype", "lang", "before", "after", "link"]


@dataclass(frozen=True, slots=True)
class Words:
    """One chunk as typed, without quotes or operators: a word, joined words (`update-rc.d`, `os.path.join`) or, if
    `quoted`, a phrase. `prefix`: it was typed with `*` at its end, which stands for any ending."""

    text: str
    where: Where = "anywhere"
    quoted: bool = False
    prefix: bool = False


@dataclass(frozen=True, slots=True)
class Filter:
    """A property that a document must have. `value` is normalised: `site` a host, or a host and port; `filetype` an
    extension or a media type in lower case; `lang` a language tag in lower case; `before` and `after` a date
    (YYYY-MM-DD), `before` excluding that day; `link` an absolute URL without fragment."""

    name: FilterName
    value: str


@dataclass(frozen=True, slots=True)
class AnyOf:
    """At least one of several choices."""

    choices: "tuple[Node, ...]"


@dataclass(frozen=True, slots=True)
class AllOf:
    """All of `required` and none of `excluded`. A query that asks for nothing has neither."""

    required: "tuple[Node, ...]" = ()
    excluded: "tuple[Node, ...]" = ()


Node = Words | Filter | AnyOf | AllOf


@dataclass(frozen=True, slots=True)
class ParsedQuery:
    """A parsed query. `is_prose`: it is a longer text, so quotes and operators in it are plain text. Each of `notes`
    says in one line what could not be read as typed."""

    root: AllOf
    is_prose: bool = False
    notes: tuple[str, ...] = ()
