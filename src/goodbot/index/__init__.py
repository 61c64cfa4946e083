"""Indexes pages with Tantivy and searches them: stemming, query language, ranking, snippets."""

from goodbot.index.index_reader import SWAP_WAIT_S as SWAP_WAIT_S
from goodbot.index.index_reader import StoppedError as StoppedError
from goodbot.index.index_writer import TantivyIndex as TantivyIndex
from goodbot.index.integrity import META_FILE as META_FILE
from goodbot.index.integrity import load_mark as load_mark
from goodbot.index.no_index import AwaitedSearch as AwaitedSearch
from goodbot.index.no_index import NoSearch as NoSearch
from goodbot.index.preparation import prepare as prepare
from goodbot.index.query import MAX_QUERY_CHARS as MAX_QUERY_CHARS
from goodbot.index.query import parse_query as parse_query
from goodbot.index.ranking import CONDITIONS as CONDITIONS
from goodbot.index.ranking import PARTS as PARTS
from goodbot.index.ranking import REASONS as REASONS
from goodbot.index.ranking import Ranking as Ranking
from goodbot.index.refresh import Refreshed as Refreshed
from goodbot.index.refresh import needs_refresh as needs_refresh
from goodbot.index.refresh import refresh_links as refresh_links
from goodbot.index.refresh import refresh_together as refresh_together
from goodbot.index.results_json import explanation_json as explanation_json
from goodbot.index.results_json import results_json as results_json
from goodbot.index.searcher import TantivySearch as TantivySearch
from goodbot.index.statistics import IndexStatistics as IndexStatistics
from goodbot.index.statistics import index_statistics as index_statistics
from goodbot.index.synonyms import load_synonyms as load_synonyms
from goodbot.index.version_file import remedy as remedy
