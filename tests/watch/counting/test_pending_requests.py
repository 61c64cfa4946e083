"""Counting in pieces, while copies of robots.txt are added, gives what counting at once gives with all copies."""

from dataclasses import replace

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import Access
from goodbot.watch.blocks import Block
from goodbot.watch.counting import pending_requests
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.pending_requests import settle_tally, settled, settled_addresses
from goodbot.watch.counting.tally import Tally
from goodbot.watch.counting.tally_state import SavedTally, restored, saved
from goodbot.watch.obedience import counts
from goodbot.watch.obedience.counts import ObedienceCounts
from goodbot.watch.obedience.rules_in_force import RulesInForce
from goodbot.watch.robot_reading import RobotReading
from watch.counting.log_lines import TEN
from watch.counting.tallies import IDENTITIES, OPTIONS
from watch.counting.test_obedience import line

H = 3600
READING = RobotReading(("GPTBot",))
CLOSED, OPEN = b"User-agent: *\nDisallow: /a", b"User-agent: *\nDisallow:"
OTHER = b"User-agent: *\nDisallow: /b\nCrawl-delay: 7200\nVisit-time: 0000-0100"
RATED = b"User-agent: *\nCrawl-delay: 3600\nRequest-rate: 2/1d\nVisit-time: 0500-0700"

Copies = list[tuple[int, bytes]]


def rules_of(copies: Copies) -> RulesInForce:
    return RulesInForce.of_copies([Access.from_response(200, (), body, TEN + hour * H) for hour, body in copies])


def counted_on(tally: Tally, log: bytes, rules: RulesInForce) -> Tally:
    """Counts a piece of a log, as `goodbot watch --state` does."""
    state = msgspec.msgpack.decode(msgspec.msgpack.encode(saved(tally)), type=SavedTally)
    tally = restored(state)
    settle_tally(tally, rules, IDENTITIES)
    tally.add(LineCounter(IDENTITIES, replace(OPTIONS, rules=rules, is_counted_on=True)).count(Block(log, "x")))
    return tally


def result(tally: Tally, rules: RulesInForce) -> tuple[int, int, int, int]:
    """Returns judged, disallowed, in grace and not known of GPTBot."""
    found = next((totals.obedience for totals in tally.robots.values()), ObedienceCounts())
    whole = settled(found, rules, READING)
    grace = sum(version.in_grace for version in whole.versions.values())
    return whole.judged, whole.disallowed, grace, whole.not_known


def everything(tally: Tally, rules: RulesInForce) -> object:
    """Returns all figures and evidence."""
    found = next((totals.obedience for totals in tally.robots.values()), ObedienceCounts())
    whole = settled(found, rules, READING)
    versions = {
        since: (
            version.requests,
            version.disallowed,
            version.in_grace,
            version.rules,
            version.visits,
            sorted((pace.limit, pace.closed().judged, pace.closed().broken) for pace in version.paces),
        )
        for since, version in whole.versions.items()
    }
    others = settled_addresses(tally.disallowed, rules)
    return versions, whole.not_known, others.requests.counts, others.evidence


def test_a_change_that_is_noticed_later_takes_blame_back() -> None:
    before, after = rules_of([(0, CLOSED)]), rules_of([(0, CLOSED), (6, OPEN)])
    tally = counted_on(Tally(), line("/a", at=TEN + 3 * H), before)
    assert result(tally, before) == (1, 1, 0, 0)
    tally = counted_on(tally, line("/x", at=TEN + 7 * H), after)
    assert result(tally, after) == (2, 0, 1, 0)


def test_a_copy_without_a_change_confirms_it() -> None:
    before, after = rules_of([(0, CLOSED)]), rules_of([(0, CLOSED), (6, CLOSED)])
    tally = counted_on(Tally(), line("/a", at=TEN + 3 * H), before)
    tally = counted_on(tally, b"", after)
    (totals,) = tally.robots.values()
    assert not totals.obedience.pending
    assert totals.obedience.disallowed == 1
    assert [one.text for one in totals.obedience.versions[float(TEN)].rules[2].lines] == [
        line("/a", at=TEN + 3 * H).decode()
    ]


def test_pending_requests_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(counts, "MOST_PENDING", 3)
    rules = rules_of([(0, CLOSED)])
    log = b"\n".join(line(f"/a/{number}", at=TEN + 3 * H) for number in range(5))
    tally = counted_on(Tally(), log, rules)
    (totals,) = tally.robots.values()
    assert (len(totals.obedience.pending), totals.obedience.disallowed) == (3, 2)
    assert result(tally, rules)[1] == 5


def test_settling_for_a_report_changes_nothing() -> None:
    rules = rules_of([(0, CLOSED)])
    tally = counted_on(Tally(), b"\n".join([line("/a", at=TEN + 3 * H)] * 2), rules)
    before = msgspec.msgpack.encode(saved(tally))
    assert result(tally, rules) == result(tally, rules)
    assert msgspec.msgpack.encode(saved(tally)) == before
    assert pending_requests.settled(ObedienceCounts(), rules, READING) == ObedienceCounts()


@given(
    st.lists(st.tuples(st.integers(0, 60), st.sampled_from([CLOSED, OPEN, OTHER, RATED])), max_size=5),
    st.lists(
        st.tuples(st.integers(-5, 70), st.sampled_from(["/a", "/b", "/c"]), st.sampled_from(["GPTBot/1.2", "rude/1"])),
        min_size=1,
        max_size=8,
    ),
    st.lists(st.integers(0, 75), max_size=4),
)
def test_pieces_give_the_same_as_the_whole(copies: Copies, visits: list[tuple[int, str, str]], runs: list[int]) -> None:
    """Each run sees the copies and requests until then, and comes right after a copy."""
    copies.sort(key=lambda copy: copy[0])
    visits.sort(key=lambda visit: visit[0])
    logged = [(hour, line(path, agent, at=TEN + hour * H + 1)) for hour, path, agent in visits]
    known, tally, done = rules_of(copies), Tally(), -10
    for run in sorted({*runs, 1000}):
        piece = b"\n".join(text for hour, text in logged if done <= hour < run)
        tally = counted_on(tally, piece, rules_of([copy for copy in copies if copy[0] <= run]))
        done = run
    whole = counted_on(Tally(), b"\n".join(text for _, text in logged), known)
    assert everything(tally, known) == everything(whole, known)
