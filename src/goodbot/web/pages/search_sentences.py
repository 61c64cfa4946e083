"""What the search says about queries and pages."""

from typing import Final

from goodbot.web.pages.translations import translatable

SENTENCES: Final = (
    translatable("the query was cut after %(count)s characters"),
    translatable('in a query of more than %(count)s words, quotes, "-" and OR have no special meaning'),
    translatable("%(field)s: needs a word, such as %(example)s"),
    translatable("%(field)s: needs a host, such as %(example)s"),
    translatable("%(field)s: needs a type, such as %(example)s"),
    translatable("%(field)s: needs a language, such as %(example)s"),
    translatable("%(field)s: needs a date, such as %(example)s"),
    translatable("%(field)s: needs a URL, such as %(example)s"),
    translatable("only the first %(count)s words count"),
    translatable("only the first %(count)s phrases and joined words count"),
    translatable("* counts only in the first %(count)s words that have it"),
    translatable("* needs %(count)s letters or digits before it, such as cr*"),
    translatable("parentheses more than %(count)s deep were ignored"),
    translatable("the query has neither a word nor a filter"),
    translatable("the query is empty: type a word to search for"),
    translatable("the page must be a whole number from 1 to %(count)s"),
    translatable("the period must be day, week, month or year"),
    translatable("give the URL of a page as well"),
    translatable("the spelling was corrected: %(query)s"),
    translatable("the page has none of the words"),
    translatable("the page is not among the first %(count)s results"),
    translatable("the page is a translation or copy of %(url)s, which is shown as the result"),
    translatable("the page does not meet a condition: %(condition)s"),
    translatable("the query excludes pages that match: %(condition)s"),
)
CONDITIONS: Final = (
    translatable("on %(value)s"),
    translatable("of type %(value)s"),
    translatable("in the language %(value)s"),
    translatable("dated before %(value)s"),
    translatable("dated %(value)s or later"),
    translatable("linking to %(value)s"),
    translatable("%(value)s in the title"),
    translatable("%(value)s in the URL"),
)
"""How the search calls conditions that a page must meet."""
