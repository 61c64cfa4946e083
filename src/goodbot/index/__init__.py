"""Find it again: words and their forms, a Tantivy index, a query language, snippets."""

from goodbot.index.integrity import META_FILE as META_FILE
from goodbot.index.integrity import load_mark as load_mark
from goodbot.index.nothing import NoSearch as NoSearch
from goodbot.index.schema import prepare as prepare
from goodbot.index.schema import remedy as remedy
from goodbot.index.search import SWAP_S as SWAP_S
from goodbot.index.search import TantivySearch as TantivySearch
from goodbot.index.search import results_json as results_json
from goodbot.index.writer import TantivyIndex as TantivyIndex
