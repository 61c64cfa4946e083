"""Who is found, and who is accused falsely, in a log in which that is known."""

from collections import Counter

import pytest

from goodbot.registry import find_token
from goodbot.watch.blocks import Block
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.judging import clients, find_groups, judge, site_asset_share, site_referrer_share
from watch.labelled_log import DECLARED, IMPOSTORS, VERIFIABLE, LabelledLog, make_log, names

SEEDS = [1, 2, 3]
ACCUSED = ("certain", "likely")
FOUND = {"naive", "random gaps", "faked referrers", "slow", "distributed"}
"""5 of 6. The sixth, a browser without a window that loads every image, is not told from a person."""


@pytest.fixture(scope="module", params=SEEDS)
def counted(request: pytest.FixtureRequest) -> tuple[LabelledLog, Tally]:
    log, tally = make_log(request.param), Tally()
    tally.add(LineCounter(Identities(), CountingOptions()).count(Block(log.text(), "labelled")))
    return log, tally


def test_no_person_is_accused(counted: tuple[LabelledLog, Tally]) -> None:
    log, tally = counted
    usual = site_asset_share(tally), site_referrer_share(tally)
    verdicts = Counter(
        judge(client, *usual).verdict for client in clients(tally.clients) if client.address in log.people
    )
    assert sum(verdicts.values()) == len(log.people) > 330
    assert not {*verdicts} & {*ACCUSED}
    for group in find_groups(clients(tally.clients), *usual):
        if {*group.members} & log.people:
            assert group.judgement.verdict not in ACCUSED


def test_five_of_six_undeclared_crawlers_are_found(counted: tuple[LabelledLog, Tally]) -> None:
    log, tally = counted
    usual = site_asset_share(tally), site_referrer_share(tally)
    found = {
        log.crawlers.get(client.address)
        for client in clients(tally.clients)
        if judge(client, *usual).verdict in ACCUSED
    }
    for group in find_groups(clients(tally.clients), *usual):
        if group.judgement.verdict in ACCUSED and group.together in ACCUSED:
            found |= {log.crawlers.get(address) for address in group.members}
    assert found == FOUND
    assert len({*names(log)} - FOUND) == 1


def test_the_distributed_crawler_is_one_group(counted: tuple[LabelledLog, Tally]) -> None:
    log, tally = counted
    best = find_groups(clients(tally.clients), site_asset_share(tally), site_referrer_share(tally))[0]
    assert {*best.members} == {address for address, name in log.crawlers.items() if name == "distributed"}
    assert (best.network, best.together) == ("203.0.114.0/24", "certain")


def test_declared_robots_and_impostors(counted: tuple[LabelledLog, Tally]) -> None:
    _, tally = counted
    tiers = {(key.name, key.tier) for key in tally.robots}
    genuine = {(_name(token), "verified" if token in VERIFIABLE else "declared") for token in DECLARED}
    assert tiers == genuine | {(_name(token), "impostor") for token in IMPOSTORS}
    assert len(DECLARED) == 12


def test_the_log_is_the_same_every_time() -> None:
    assert make_log.__wrapped__(1).text() == make_log.__wrapped__(1).text()


def _name(token: str) -> str:
    robot = find_token(token)
    assert robot is not None
    return robot.name
