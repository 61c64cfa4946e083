"""Which plans are plans, and what each phase says."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.watch.study.example import example_plan
from goodbot.watch.study.plan import MAX_BYTES, parse_plan
from watch.study.study_plans import HEAD, PHASES, START, plan_of, read

TWO = '[[phase]]\nname = "a"\n[[phase]]\nname = "b"\n'

BAD = [
    ("not-toml", "start =", "plan.toml is not TOML: "),
    ("nested", "a = " + "[" * 5000, "plan.toml is not TOML: "),
    ("long-number", "a = " + "1" * 5000, "plan.toml is not TOML: "),
    ("too-long", "#" * (MAX_BYTES + 1), "too long for a plan"),
    ("empty", "", "a plan has 2 to 50 phases"),
    ("no-start", 'url = "https://a.example"\n' + TWO, "start is missing; it must be a date"),
    ("start-in-quotes", 'start = "2026-12-07"\n' + TWO, "start must be a date such as 2026-12-07, without quotes"),
    ("start-is-an-hour", "start = 07:30:00\n" + TWO, "start must be a date"),
    ("start-too-early", "start = 1969-12-31\n" + TWO, "start must be a date"),
    ("start-too-late", "start = 9999-12-31\n" + TWO, "start must be a date"),
    ("no-url", "start = 2026-12-07\n" + TWO, "url is missing; it must be the URL of the site"),
    ("url-of-ftp", 'start = 2026-12-07\nurl = "ftp://a.example"\n' + TWO, "url must be the URL of the site"),
    ("unknown-key", HEAD + "repeats = true\n" + TWO, "unknown key 'repeats'; did you mean repeat?"),
    ("far-from-any-key", HEAD + "xyz = 1\n" + TWO, "unknown key 'xyz'; allowed are start, url, base"),
    ("repeat", HEAD + "repeat = 1\n" + TWO, "repeat must be true or false, not 1"),
    ("shuffle", HEAD + "shuffle = true\n" + TWO, "shuffle must be a whole number, the seed of the order, not True"),
    ("control", HEAD + 'control = "c"\n' + TWO, "control must be the name of a phase: a, b, not 'c'"),
    ("base-missing", HEAD + 'base = "none.txt"\n' + TWO, "cannot read none.txt"),
    ("base-not-utf8", HEAD + 'base = "latin.txt"\n' + TWO, "base: latin.txt is not UTF-8"),
    ("base-is-no-name", HEAD + "base = 7\n" + TWO, "base must be the name of a robots.txt file"),
    ("one-phase", HEAD + '[[phase]]\nname = "a"\n', "a plan has 2 to 50 phases, each headed [[phase]], not 1"),
    ("51-phases", HEAD + '[[phase]]\nname = "a"\n' * 51, "not 51"),
    ("phase-and-week", HEAD + TWO + '[[week]]\nname = "c"\n', "a plan has [[phase]] or [[week]], not both"),
    ("phase-is-a-text", HEAD + 'phase = "a"\n', "phase must be tables, each headed [[phase]]"),
    ("no-name", HEAD + TWO + "[[phase]]\n", "plan.toml: phase 3: name is missing"),
    ("empty-name", HEAD + TWO + '[[phase]]\nname = " "\n', "phase 3: name must be one line of text"),
    ("name-of-two-lines", HEAD + TWO + '[[phase]]\nname = "a\\nb"\n', "phase 3: name must be one line of text"),
    ("name-twice", HEAD + TWO + '[[phase]]\nname = "a"\n', "name 'a' is that of two phases"),
    ("unknown-key-of-phase", HEAD + TWO + "robot = 'x'\n", "phase 2: unknown key 'robot'; did you mean robots?"),
    ("days-0", HEAD + TWO + "days = 0\n", "phase 2: days must be a whole number from 2 to 366"),
    ("days-1", HEAD + TWO + "days = 1\n", "since the first 24 hours of a phase do not count, not 1"),
    ("days-half", HEAD + TWO + "days = 2.5\n", "phase 2: days must be a whole number"),
    ("days-true", HEAD + TWO + "days = true\n", "phase 2: days must be a whole number"),
    ("two-ways", HEAD + TWO + 'robots = ""\ncrawl_delay = 1\n', "robots and crawl_delay cannot be combined"),
    ("robots-is-a-list", HEAD + TWO + "robots = []\n", "phase 2: robots must be the text of a robots.txt"),
    ("robots-is-html", HEAD + TWO + 'robots = "<html><p>x"\n', "phase 2: robots is an HTML page, not a robots.txt"),
    ("file-is-html", HEAD + TWO + 'robots_file = "page.html"\n', "phase 2: robots_file: page.html is an HTML page"),
    ("base-is-html", HEAD + 'base = "page.html"\n' + TWO, "base: page.html is an HTML page, not a robots.txt"),
    ("robots-too-long", HEAD + TWO + f'robots = "{"#" * 512_000}"\n', "phase 2: its robots.txt must have at most 500"),
    ("robots-file", HEAD + TWO + 'robots_file = "none.txt"\n', "cannot read none.txt"),
    ("delay-0", HEAD + TWO + "crawl_delay = 0\n", "phase 2: crawl_delay must be a number of seconds above 0"),
    ("delay-nan", HEAD + TWO + "crawl_delay = nan\n", "phase 2: crawl_delay must be a number of seconds above 0"),
    ("delay-in-quotes", HEAD + TWO + 'crawl_delay = "10"\n', "phase 2: crawl_delay must be a number"),
    ("disallow-is-a-text", HEAD + TWO + 'disallow = "/a"\n', "phase 2: disallow must be a list of paths"),
    ("disallow-without-slash", HEAD + TWO + 'disallow = ["a"]\n', "disallow must be a list of paths that begin with /"),
    ("disallow-of-two-lines", HEAD + TWO + 'disallow = ["/a\\nAllow: /"]\n', "disallow must be a list of paths"),
    ("agents-empty", HEAD + TWO + 'agents = []\ndisallow = ["/"]\n', "phase 2: agents must be a list of names"),
    ("agent-with-space", HEAD + TWO + 'agents = ["a b"]\n', "phase 2: agents must be a list of names of robots"),
    ("agents-alone", HEAD + TWO + 'agents = ["a"]\n', "agents needs disallow or crawl_delay"),
]


@pytest.mark.parametrize(("text", "words"), [case[1:] for case in BAD], ids=[case[0] for case in BAD])
def test_what_is_no_plan_is_refused_in_one_line(text: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        plan_of(text)
    message = str(caught.value)
    assert words in message
    assert message.startswith(("plan.toml", "cannot read none.txt"))
    assert "\n" not in message


def test_a_plan() -> None:
    plan = plan_of(HEAD + "repeat = true\nshuffle = 7\ncontrol = 'delay'\n" + PHASES)
    assert (plan.start, plan.url.text, plan.control) == (START, "https://www.example.org/robots.txt", 1)
    assert (plan.repeat, plan.shuffle, plan.base) == (True, 7, None)
    assert [(phase.name, phase.days) for phase in plan.phases] == [("open", 7), ("delay", 7), ("closed", 7)]
    assert plan.phases[2].body == b"# goodbot study: closed\nUser-agent: *\nDisallow: /folder/\n"
    weeks = plan_of(HEAD + PHASES.replace("phase", "week"))
    assert weeks.phases == plan.phases
    later = plan_of(HEAD.replace("2026-09-07", "2026-09-07T02:00:00+02:00") + PHASES)
    assert later.start == START


def test_whole_files_and_a_base() -> None:
    plan = plan_of(
        HEAD + 'base = "own.txt"\n' + '[[phase]]\nname = "a"\n[[phase]]\nname = "b"\nrobots_file = "own.txt"\n'
        '[[phase]]\nname = "c"\nrobots = """\nUser-agent: x\nDisallow: /\n"""\n'
    )
    assert plan.base == read("own.txt")
    assert [phase.body.split(b"\n", 1)[1] for phase in plan.phases] == [
        read("own.txt"),
        read("own.txt"),
        b"User-agent: x\nDisallow: /\n",
    ]


def test_the_example_is_a_plan() -> None:
    plan = plan_of(example_plan(START + 3600))
    assert plan.start == START + 7 * 86_400
    assert [phase.name for phase in plan.phases] == ["open", "delay", "closed folder", "named robots"]
    named = plan.phases[3].access().rules
    assert [named.allows("/folder/x", agent) for agent in ("GPTBot", "bingbot", "CCBot")] == [False, False, True]


VALUES = st.recursive(
    st.one_of(st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.just("2026-12-07"), st.none()),
    lambda inner: st.lists(inner, max_size=3),
    max_leaves=4,
)
KEYS = ["start", "url", "base", "control", "repeat", "shuffle", "phase", "name", "days", "robots", "agents", "x"]


@given(st.one_of(st.binary(), st.text().map(str.encode)))
def test_any_bytes_are_a_plan_or_refused(text: bytes) -> None:
    _try(text)


@given(st.dictionaries(st.sampled_from([*KEYS, "disallow", "crawl_delay", "robots_file"]), VALUES), st.booleans())
def test_any_values_are_a_plan_or_refused(values: dict[str, object], has_head: bool) -> None:
    lines = "\n".join(f"{key} = {_toml(value)}" for key, value in values.items())
    _try(f"{HEAD if has_head else ''}{PHASES if has_head else ''}{lines}".encode())
    _try(f"{lines}\n{PHASES}".encode())


def _toml(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if value == "2026-12-07" or not isinstance(value, str):
        return str(value)
    return "'" + value.replace("'", "") + "'"


def _try(text: bytes) -> None:
    with suppress(InputError):
        assert len(parse_plan(text, "plan.toml", read).phases) >= 2
