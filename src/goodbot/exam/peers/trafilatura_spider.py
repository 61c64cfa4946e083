"""Runs the spider of trafilatura for the exam, as in its documentation: one site after another in each of 8 processes.

python trafilatura_spider.py SEED_FILE
"""

import sys
from copy import deepcopy
from multiprocessing import Pool
from pathlib import Path

from trafilatura.settings import DEFAULT_CONFIG
from trafilatura.spider import focused_crawler

PROCESSES = 8
PAGES = 100  # of one site; by default 10

SETTINGS = deepcopy(DEFAULT_CONFIG)
SETTINGS.read_dict(
    {
        "DEFAULT": {
            "USER_AGENTS": "ExamBot/1.0 (+mailto:exam@example.org)",
            "SLEEP_TIME": "0.2",
            "SSRF_PROTECTION": "off",  # the exam is on this machine
            "INSECURE_SSL_FALLBACK": "off",
        }
    }
)


def crawl(seed: str) -> None:
    focused_crawler(seed, max_seen_urls=PAGES, config=SETTINGS)


if __name__ == "__main__":
    with Pool(PROCESSES, maxtasksperchild=1) as pool:
        pool.map(crawl, Path(sys.argv[1]).read_text(encoding="ascii").split(), chunksize=1)
