"""Each site of the exam: a good driver passes it, a bad one fails it for the reason stated."""

import pytest

from exam.scripted import examine
from exam.scripts import SCRIPTS
from goodbot.exam.exam_values import ExamSite
from goodbot.exam.rules import RULES
from goodbot.exam.sites import all_sites

SITES = {site.name: site for site in all_sites()}


def test_every_site_has_a_script() -> None:
    assert sorted(SITES) == sorted(SCRIPTS)
    assert len(SITES) == len(all_sites())


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
async def test_a_good_driver_passes(site: ExamSite) -> None:
    card = await examine(site, SCRIPTS[site.name].good)
    assert (card.passed, card.points) == (True, card.max_points), card.observed


@pytest.mark.parametrize(
    "site",
    [
        pytest.param(site, id=name, marks=[pytest.mark.long] * (name.startswith("trap-") and name != "trap-labyrinth"))
        for name, site in SITES.items()
    ],
)
async def test_a_bad_driver_fails_for_the_reason_stated(site: ExamSite) -> None:
    card = await examine(site, SCRIPTS[site.name].bad)
    assert card.passed is False
    assert SCRIPTS[site.name].reason in card.observed
    assert card.points < card.max_points


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
async def test_nobody_came(site: ExamSite) -> None:
    card = await examine(site, [])
    assert (card.passed, card.points, card.observed.split("; ")[0]) == (False, 0, "sent no request")


@pytest.mark.parametrize("site", SITES.values(), ids=SITES)
def test_a_site_says_what_it_is(site: ExamSite) -> None:
    assert site.teaches.endswith(".")
    assert site.source
    assert {expectation.rule for expectation in site.expects} <= set(RULES)
    assert site.expects
