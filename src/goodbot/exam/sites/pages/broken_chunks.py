"""Chunked answers that are not what they should be."""

from goodbot.exam.exam_values import ExamSite, page
from goodbot.exam.expectations import Finds
from goodbot.exam.sites.wire import CHUNKED_HEAD, afterwards, at_first, chunk, ends_early

GOOD = chunk(b"<!doctype html><title>Chunks</title><p>The first is good.")
BROKEN = {
    "/size-no-number": GOOD + b"zz\r\n<p>What is that?\r\n0\r\n\r\n",
    "/size-negative": GOOD + b"-10\r\n<p>Backwards.\r\n0\r\n\r\n",
    "/size-over-64-bits": GOOD + b"1000000000000000a\r\n<p>Too much\r\n0\r\n\r\n",
    "/size-too-small": GOOD + b"3\r\n<p>More than three.\r\n0\r\n\r\n",
    "/no-last-chunk": GOOD,
}

SITE = ExamSite(
    name="broken-chunks",
    teaches="Chunks with a wrong size, or without the last one, spoil one page and not the crawl.",
    source="RFC 9112 7.1, 8; CVE-2013-2028",
    pages={
        "/": page(*BROKEN, "/after/1"),
        **{path: at_first(ends_early(CHUNKED_HEAD, body)) for path, body in BROKEN.items()},
        **afterwards(),
    },
    expects=(Finds(("/", *BROKEN, *afterwards())),),
)
