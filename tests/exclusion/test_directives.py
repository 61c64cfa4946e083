"""META robots and X-Robots-Tag: Google's page on both is the source; it says which reading of a conflict counts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.exclusion import Directives, Source

Pairs = list[tuple[str, str]]

HEADERS = [
    # X-Robots-Tag values, what is taken away
    ([], ""),
    (["noindex"], "index"),
    (["NOINDEX , NoFollow"], "index follow"),
    (["none"], "index follow"),
    (["all"], ""),
    (["index, follow"], ""),
    (["noarchive"], "archive"),
    (["nocache"], "archive"),
    (["nosnippet"], "snippet"),
    (["max-snippet:0"], "snippet"),
    (["max-snippet: 0"], "snippet"),
    (["max-snippet:00"], "snippet"),
    (["max-snippet:-1"], ""),
    (["max-snippet:50"], ""),
    (["max-snippet:"], ""),
    (["max-image-preview:none, max-video-preview:0"], ""),
    (["notranslate, noimageindex, unknown"], ""),
    (["noindex", "nofollow"], "index follow"),
    (["noindex; nofollow"], "index follow"),
    (["noindex nofollow"], "index follow"),
    (["noindex, index"], "index"),
    (["all, none"], "index follow"),
    (["mybot: noindex"], "index"),
    (["MyBot : noindex"], "index"),
    (["mybot/2.0: noindex"], "index"),
    (["otherbot: noindex"], ""),
    (["otherbot: noindex, nofollow"], ""),
    (["otherbot: noindex, mybot: nofollow, noarchive"], "follow archive"),
    (["otherbot: noindex", "nofollow"], "follow"),
    (["noarchive, otherbot: noindex"], "archive"),
    (["otherbot: noindex, *: nofollow"], "follow"),
    (["otherbot: noindex, robots: nofollow"], "follow"),
    (["otherbot:, noindex"], ""),
    (["otherbot: max-snippet:0, noindex"], ""),
    (["mybot: max-snippet:0, noindex"], "snippet index"),
    (["360bot: noindex"], ""),
    (["unavailable_after: 25 Jun 2010 15:00:00 PST"], ""),
    (["unavailable_after: 25 Jun 2010 15:00:00 PST, noindex"], "index"),
    (["unavailable_after: Sunday, 01-Sep-24 12:34:56 GMT, noindex"], "index"),
    (["unavailable_after: Sun, 01 Sep 2024 12:34:56 GMT, noindex"], "index"),
    (["unavailable_after: 2024-09-01T12:34:56+00:00, noindex"], "index"),
    (["unavailable_after: Sunday, 01-Sep-24T12:34:56, noindex"], "index"),
    (["otherbot: unavailable_after: Sunday, 01-Sep-24 12:34:56 GMT, noindex"], ""),
    (["mybot: unavailable_after: Sunday, 01-Sep-24 12:34:56 GMT, noindex"], "index"),
    (["max-future: 3, noindex"], "index"),
    (["noindex: 1"], "index"),
    ([": noindex"], "index"),
    ([",,;,"], ""),
    (["noindexer"], ""),
]


def lost(directives: Directives) -> set[str]:
    return {power for power in ("index", "follow", "archive", "snippet") if not getattr(directives, power)}


@pytest.mark.parametrize(("values", "taken"), HEADERS)
def test_header(values: list[str], taken: str) -> None:
    directives = Directives.parse([], [("X-Robots-Tag", value) for value in values], "MyBot/1.0 (+https://example.org)")
    assert lost(directives) == set(taken.split())


METAS: list[tuple[Pairs, str]] = [
    ([("robots", "noindex,nofollow")], "index follow"),
    ([("ROBOTS", "NONE")], "index follow"),
    ([(" robots ", " noindex ")], "index"),
    ([("mybot", "noindex")], "index"),
    ([("MYBOT", "nosnippet")], "snippet"),
    ([("otherbot", "noindex")], ""),
    ([("description", "noindex")], ""),
    ([("", "noindex")], ""),
    ([("robots", "noindex nofollow")], "index follow"),
    ([("robots", "max-snippet:0 noarchive")], ""),
    ([("robots", "noarchive max-snippet:0")], "archive snippet"),
    ([("robots", "otherbot: noindex")], "index"),
    ([("robots", "nofollow"), ("mybot", "noindex")], "index follow"),
    ([("robots", "noindex"), ("mybot", "index")], "index"),
    ([("robots", "")], ""),
]


@pytest.mark.parametrize(("metas", "taken"), METAS)
def test_meta(metas: Pairs, taken: str) -> None:
    assert lost(Directives.parse(metas, [], "mybot")) == set(taken.split())


def test_meta_and_header_add_up_and_sources_say_where() -> None:
    directives = Directives.parse(
        [("Robots", "NoFollow, follow"), ("MyBot", "max-snippet:0"), ("robots", "nofollow")],
        [("x-robots-tag", "noindex"), ("Content-Type", "noarchive")],
        "mybot",
    )
    assert lost(directives) == {"index", "follow", "snippet"}
    assert directives.sources == (
        Source("nofollow", "META robots"),
        Source("follow", "META robots"),
        Source("max-snippet:0", "META mybot"),
        Source("noindex", "X-Robots-Tag"),
    )


def test_without_directives_everything_is_permitted() -> None:
    assert Directives.parse([], [], "mybot") == Directives()
    assert Directives.parse([], [], "") == Directives()


def test_an_unknown_dialect_is_an_input_error() -> None:
    with pytest.raises(InputError, match="'ancient'"):
        Directives.parse([], [], "mybot", dialect="ancient")


def test_many_tags_and_a_long_header() -> None:
    directives = Directives.parse(
        [("robots", "noindex")] * 10_000,
        [
            ("X-Robots-Tag", value)
            for value in ("a" * 1_000_000, "a:" * 300_000, "1." * 500_000 + ":", "a/" * 500_000 + " :")
        ],
        "mybot",
    )
    assert directives.sources == (Source("noindex", "META robots"),)
    assert not directives.index


WORDS = st.sampled_from(
    [
        "noindex",
        "nofollow",
        "mybot",
        "otherbot",
        ":",
        ",",
        ";",
        " ",
        "max-snippet:0",
        "unavailable_after:",
        "12:00",
        "*",
    ]
)
TEXTS = st.one_of(st.text(max_size=30), st.lists(WORDS, max_size=8).map("".join))


@given(
    st.lists(st.tuples(st.one_of(st.just("robots"), TEXTS), TEXTS), max_size=4),
    st.lists(st.tuples(st.one_of(st.just("X-Robots-Tag"), TEXTS), TEXTS), max_size=4),
    TEXTS,
)
def test_never_raises_and_only_takes_away(metas: Pairs, headers: Pairs, token: str) -> None:
    directives = Directives.parse(metas, headers, token)
    more = Directives.parse([*metas, ("robots", "noindex")], headers, token)
    assert lost(more) == lost(directives) | {"index"}
