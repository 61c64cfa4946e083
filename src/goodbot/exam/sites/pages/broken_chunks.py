"""Chunked responses have wrong chunk sizes, or lack the last chunk."""

from goodbot.exam.exam_values import ExamSite, page
from goodbot.exam.expectations import Fetches
from goodbot.exam.sites.wire import CHUNKED_HEAD, broken_at_first, chunk, ends_early, later_pages

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
    teaches="Lose no more than the page itself when chunk sizes are wrong or the last chunk is missing.",
    source="RFC 9112 7.1, 8; CVE-2013-2028",
    pages={
        "/": page(*BROKEN, "/after/1"),
        **{path: broken_at_first(ends_early(CHUNKED_HEAD, body)) for path, body in BROKEN.items()},
        **later_pages(),
    },
    expects=(Fetches(("/", *BROKEN, *later_pages())),),
)
