"""What is said about other search services that did not answer."""

from typing import Final

from goodbot.web.pages.translations import translatable

SENTENCES: Final = (
    translatable("it did not answer within %(seconds)s s"),
    translatable("no answer: %(reason)s"),
    translatable("it answers with status %(status)s"),
    translatable("it asks to wait (status %(status)s)"),
    translatable("it redirects to another site: %(url)s"),
    translatable("it redirects too often"),
    translatable("its answer is longer than %(count)s KiB"),
    translatable("its answer ends too early, or is damaged"),
    translatable("its answer has no search results that can be read"),
    translatable("it is no search: it is neither an OpenSearch description nor a page with a link to one"),
    translatable("its description has no results that programs can read: neither goodbot's JSON nor Atom nor RSS"),
    translatable("the template in its description cannot be used: %(fault)s"),
    translatable("its description leads to another site: %(url)s"),
    translatable("it leads to another site: %(url)s"),
    translatable("its description wants queries in an encoding that cannot be used: %(encoding)s"),
    translatable("the query does not fit into its URL"),
    translatable("it gets no more than %(count)s requests a minute"),
    translatable("it is busy: it gets no more than %(count)s requests at a time"),
    translatable("it is not asked for %(count)s s, since it failed: %(reason)s"),
    translatable("it is this service itself"),
    translatable("others must be 1, or left out"),
)
