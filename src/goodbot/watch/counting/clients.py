"""What each address did in requests that name no known robot: the columns of a table with one row for each address."""

from typing import Final

SESSION_GAP_S: Final = 1800
"""A longer time without a request begins a new session."""

SUMS: Final = (
    "requests",
    "bytes",
    "pages",
    "assets",
    "robots_txt",
    "probes",
    "invalid",
    "heads",
    "referred",
    "unreferred",
    "unnamed",
    "client_errors",
    "server_errors",
    "gaps",
    "gap_sum_s",
    "gap_squares",
    "sessions",
)
"""Columns that add up. `heads`: HEAD requests; `referred` and `unreferred`: requests for pages with and without a
Referer; `unnamed`: without a User-Agent; `gaps`: times between requests within a session, with their sum and the sum of
their squares."""

BITS: Final = ("agent_bits", "page_bits", "hour_bits")
"""Columns of sets: of User-Agents (32 places), pages (63 places) and hours (24 places)."""

AGENT_PLACES: Final = 32
PAGE_PLACES: Final = 63

EDGES: Final = ("first_at", "last_at", "head_run", "tail_run", "peak_run")
"""Columns that depend on the order of lines: times of the first and last line, and how many lines in a row have the
same second: at the beginning, at the end, at most."""

BLOCK_COLUMNS: Final = (*SUMS, *BITS, *EDGES)

TABLE_COLUMNS: Final = (*BLOCK_COLUMNS, "missing", "hash")
"""`missing`: requests that were pooled before the address came back, at most."""
