"""Find it again: words and their forms, a Tantivy index, a query language, snippets."""

from goodbot.index.nothing import NoSearch as NoSearch
from goodbot.index.schema import prepare as prepare
from goodbot.index.search import TantivySearch as TantivySearch
from goodbot.index.search import results_json as results_json
from goodbot.index.writer import TantivyIndex as TantivyIndex
