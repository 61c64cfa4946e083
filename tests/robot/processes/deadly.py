"""Pages that kill the process which reads them: named in a `Setup`, so that a worker finds this by its
module."""

import os
import signal

from goodbot.index import prepare
from goodbot.search_values import Document, PreparedDocument


def prepare_or_die(document: Document) -> PreparedDocument:
    """Dies of a page that says so."""
    if "deadly" in document.title:
        os.kill(os.getpid(), signal.SIGKILL)
    return prepare(document)
