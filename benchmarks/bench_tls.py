"""Compares goodbot, Scrapy, spider-rs, wget and wget2 as on the Web: over TLS 1.3, on pages of 240 kB.

    make bench-tls LOCALWEB=http://127.0.0.10:8800/ MEAN=100000 HTTP=2

This is `bench_crawl` over TLS: first with a server that offers HTTP/1.1, then with one that also offers HTTP/2, which
wget and Scrapy do not choose. Pages are padded with the content of other pages to MEAN bytes on average; MEAN=0 leaves
them as they are. The benchmark makes its own certificate authority; goodbot, spider-rs, wget and
wget2 verify the certificates.
"""

from crawl_comparison import SETTINGS, compare
from crawl_web import LARGEST
from settings import choice, start, whole

MEAN = whole("MEAN", 240_000, "the mean size of a page in bytes, 0 as it is", 0, LARGEST)
HTTP = choice("HTTP", "1.1 2", "the versions of HTTP that the servers offer", ("1.1", "2"))

if __name__ == "__main__":
    settings = (*SETTINGS, MEAN, HTTP)
    raise SystemExit(start(__file__, __doc__, settings, lambda: compare("tls", HTTP.value(), MEAN.value())))
