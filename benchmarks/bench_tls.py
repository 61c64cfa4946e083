"""Compares goodbot, Scrapy, wget and wget2 as on the Web: over TLS 1.3, on pages of 240 kB.

    make bench-tls LOCALWEB=http://127.0.0.10:8800/ [MEAN=240000] [HTTP="1.1 2"] [SITES=…] [RUNS=5] [PROGRAMS=…]

This is `bench_crawl` over TLS: first with a server that offers HTTP/1.1, then with one that also offers HTTP/2, which
wget and Scrapy do not choose. Pages are padded with the content of other pages to MEAN bytes on average; MEAN=0 leaves
them as they are. The benchmark makes its own certificate authority; goodbot, wget and wget2 verify the certificates.
"""

import os

from crawl_comparison import compare

if __name__ == "__main__":
    raise SystemExit(compare("tls", os.environ.get("HTTP", "1.1 2").split(), int(os.environ.get("MEAN", "240000"))))
