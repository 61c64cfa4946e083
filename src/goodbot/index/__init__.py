"""Finds pages again: words and their forms, a Tantivy index, a query language, snippets."""

from goodbot.index.fields import prepare as prepare
from goodbot.index.fields import remedy as remedy
from goodbot.index.index_writer import TantivyIndex as TantivyIndex
from goodbot.index.integrity import META_FILE as META_FILE
from goodbot.index.integrity import load_mark as load_mark
from goodbot.index.no_index import NoSearch as NoSearch
from goodbot.index.query import parse_query as parse_query
from goodbot.index.searcher import SWAP_WAIT_S as SWAP_WAIT_S
from goodbot.index.searcher import TantivySearch as TantivySearch
from goodbot.index.searcher import results_json as results_json
