"""Points and verdicts, rule by rule."""

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.watch.blocks import Block
from goodbot.watch.counting.clients import AGENT_PLACES, PAGE_PLACES
from goodbot.watch.counting.counting_options import CountingOptions
from goodbot.watch.counting.identities import Identities
from goodbot.watch.counting.line_counter import LineCounter
from goodbot.watch.counting.tally import Tally
from goodbot.watch.judging import (
    VERDICTS,
    Client,
    clients,
    find_groups,
    judge,
    site_asset_share,
    site_referrer_share,
)
from goodbot.watch.judging.behaviour import LEAST_POINTS
from goodbot.watch.judging.client import joined
from goodbot.watch.judging.rules import RULES, Site

ROOT = Path(__file__).parents[3]
DAY = 86_400
SITE = Site(1.0, 1.0)
BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
FIGURES = [field.name for field in fields(Client) if field.name not in ("address", "agent", "addresses")]


def client(address: str = "192.0.2.1", agent: str = BROWSER, **figures: Any) -> Client:
    """Makes a client; figures that are not given follow from the others or are 0."""
    values = dict.fromkeys(FIGURES, 0) | {
        "requests": sum(figures.get(name, 0) for name in ("pages", "assets", "robots_txt"))
    }
    values |= {"sessions": 1, "agent_bits": 1, "hour_bits": 1, "peak_run": 1}
    return Client(address, agent, **(values | figures))


def bits(count: int) -> int:
    """Returns a set of so many different pages."""
    return (1 << count) - 1


def gaps(count: int, seconds: int, spread: int = 0) -> dict[str, int]:
    """Returns the figures of so many gaps around a time."""
    each = [seconds + (spread if place % 2 else -spread) for place in range(count)]
    return {"gaps": count, "gap_sum_s": sum(each), "gap_squares": sum(gap * gap for gap in each)}


READS: dict[str, Any] = {"pages": 50, "page_bits": bits(35), "unreferred": 50}
READS_RULES = {"no assets for many pages", "no referrer", "breadth"}
POLLS: dict[str, Any] = {"pages": 500, "page_bits": bits(PAGE_PLACES)} | gaps(499, 10)
BROWSES: dict[str, Any] = {"pages": 30, "assets": 200, "page_bits": bits(20), "referred": 25, "unreferred": 5}

CASES: list[tuple[str, dict[str, Any], str, set[str]]] = [
    ("nothing", {}, "no evidence", set()),
    ("one page", {"pages": 1, "unreferred": 1}, "no evidence", set()),
    ("robots.txt once", {"robots_txt": 1}, "possible", {"robots.txt"}),
    ("robots.txt and one page", {"robots_txt": 9, "pages": 1}, "possible", {"robots.txt"}),
    ("pages without assets", READS, "likely", READS_RULES),
    (
        "and robots.txt",
        READS | {"robots_txt": 1},
        "certain",
        READS_RULES | {"robots.txt"},
    ),
    (
        "like clockwork",
        READS | gaps(49, 10),
        "certain",
        READS_RULES | {"regular gaps"},
    ),
    (
        "nearly like clockwork",
        READS | gaps(49, 10, 3),
        "likely",
        READS_RULES | {"rather regular gaps"},
    ),
    (
        "polling one page",
        {"pages": 500, "page_bits": 1, "unreferred": 500} | gaps(499, 10),
        "no evidence",
        set(),
    ),
    (
        "polling new URLs with a Referer",
        POLLS | {"referred": 500},
        "possible",
        {"no assets for many pages", "breadth", "referrers of many pages"},
    ),
    ("polling new URLs for small answers", POLLS | {"bytes": 100_000}, "no evidence", {"breadth"}),
    (
        "a page a second",
        READS | gaps(49, 1),
        "certain",
        READS_RULES | {"regular gaps", "fast"},
    ),
    ("many probes", {"probes": 5, "requests": 5, "client_errors": 5}, "certain", {"many probes"}),
    ("one probe", {"probes": 1, "requests": 1, "client_errors": 1}, "possible", {"probes"}),
    ("its own login page", {"probes": 1, "requests": 1}, "no evidence", set()),
    ("often its own settings", {"probes": 30, "requests": 30, "sessions": 9}, "possible", {"probes"}),
    (
        "its own login page, loading images",
        {"probes": 9, "requests": 40, "pages": 9, "assets": 22},
        "no evidence",
        {"assets"},
    ),
    ("a hundred logins in one visit", {"probes": 100, "requests": 100}, "likely", {"rapid probes"}),
    (
        "a robot not on record",
        READS | {"agent": "Mozilla/5.0 (compatible; NewBot/1.0)"},
        "certain",
        READS_RULES | {"robot's name"},
    ),
    ("the contact address of a robot", {"agent": "fetch (+http://example.com)"}, "possible", {"robot's name"}),
    ("a telephone called Cubot", {"agent": "Mozilla/5.0 (Linux; Android 14; CUBOT X90)"}, "no evidence", set()),
    ("an app", READS | {"agent": "Shop/3 CFNetwork/1490 Darwin/23"}, "no evidence", {"breadth"}),
    (
        "twelve feeds",
        {"agent": "LiferellaX/1.2", "pages": 500, "page_bits": bits(12), "unreferred": 500} | gaps(499, 1700),
        "possible",
        {"no referrer", "regular gaps"},
    ),
    ("files to download", READS | {"bytes": 50_000_000}, "no evidence", {"no referrer", "breadth"}),
    ("nothing but errors", READS | {"client_errors": 45}, "possible", {"no referrer", "breadth", "errors"}),
    ("mostly in the pool", READS | {"missing": 40}, "no evidence", {"breadth"}),
    (
        "restored tabs",
        {"pages": 50, "page_bits": bits(35), "referred": 50, "peak_run": 15} | gaps(49, 0) | {"gap_sum_s": 4},
        "possible",
        {"no assets for many pages", "breadth", "referrers"},
    ),
    (
        "several visits",
        READS | {"sessions": 6, "last_at": 4 * DAY} | gaps(40, 40, 39),
        "possible",
        READS_RULES | {"visits", "irregular gaps"},
    ),
    ("no name", {"requests": 9, "pages": 9, "unnamed": 9}, "no evidence", {"no name"}),
    ("HEAD only", {"requests": 9, "pages": 9, "heads": 9}, "no evidence", {"HEAD"}),
    (
        "robots.txt, errors, round the clock",
        {"robots_txt": 2, "pages": 40, "page_bits": 7, "client_errors": 30, "hour_bits": bits(24), "last_at": 2 * DAY},
        "likely",
        {"robots.txt", "errors", "round the clock"},
    ),
    (
        "many names",
        {"pages": 20, "page_bits": bits(15), "agent_bits": bits(12), "unreferred": 20},
        "likely",
        {"no assets", "no referrer", "many names"},
    ),
    (
        "a browser",
        {"pages": 30, "assets": 200, "page_bits": bits(20), "referred": 25, "unreferred": 5},
        "no evidence",
        {"assets", "referrers"},
    ),
    (
        "a browser that reads robots.txt",
        BROWSES | {"robots_txt": 1},
        "no evidence",
        {"assets", "referrers", "robots.txt"},
    ),
    (
        "an office",
        {"pages": 300, "assets": 2000, "page_bits": bits(60), "unreferred": 300, "agent_bits": bits(12)}
        | gaps(2000, 3),
        "no evidence",
        {"no referrer", "assets", "several people"},
    ),
    ("few assets", {"pages": 200, "assets": 3, "page_bits": bits(60)}, "no evidence", {"few assets", "breadth"}),
    ("some assets", {"pages": 20, "assets": 8, "page_bits": bits(10)}, "no evidence", {"some assets"}),
    (
        "bursts of pages",
        READS | {"peak_run": 30},
        "likely",
        READS_RULES | {"bursts"},
    ),
]


@pytest.mark.parametrize(("figures", "verdict", "rules"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_the_verdict(figures: dict[str, Any], verdict: str, rules: set[str]) -> None:
    one = client(**figures)
    assert {rule.name for rule in RULES if rule.says(one, SITE)} == rules
    assert judge(one).verdict == verdict


def test_the_how_to_names_the_points_of_each_verdict() -> None:
    page = (ROOT / "docs" / "how-to" / "watch-robots.md").read_text(encoding="utf-8")
    named = {verdict: int(points) for verdict, points in re.findall(r"- \*(\w+)\*: (\d+) points", page)}
    assert named == LEAST_POINTS


def test_every_rule_has_a_case() -> None:
    covered = {name for *_, rules in CASES for name in rules}
    assert covered | {"rather fast"} == {rule.name for rule in RULES}
    assert any(rule.says(client(**(READS | gaps(49, 3, 2))), SITE) for rule in RULES if rule.name == "rather fast")


def test_a_site_without_assets_gives_no_evidence_by_them() -> None:
    one = client(**READS)
    assert judge(one, 0.1).points < judge(one, 0.5).points
    assert not any("images" in sentence for sentence in judge(one, 0.1).evidence)


def test_a_site_whose_readers_send_no_referrer_gives_no_evidence_by_it() -> None:
    one = client(**READS)
    assert judge(one, 1.0, 0.1).points == judge(one, 1.0, 1.0).points - 15


def test_one_robot_does_not_hide_what_is_usual_on_a_site() -> None:
    lines = [line(number, "/", asset) for number in range(20) for asset in range(4)]
    lines += [line(200, f"/page/{number}", 0, "-") for number in range(5000)]
    tally = counted_log("".join(lines))
    assert site_asset_share(tally) == pytest.approx(20 * 3 / (20 * 4 + 100))
    assert site_referrer_share(tally) == 1.0
    assert (site_asset_share(Tally()), site_referrer_share(Tally())) == (0.0, 0.0)


def test_the_figures_of_clients() -> None:
    """Two visits: three pages 10 s apart, then one page with its image an hour later."""
    lines = [line(1, f"/{page}", 0, at=10 * page) for page in range(3)]
    lines += [line(1, "/last", 0, at=3620), line(1, "/last", 1, at=3620)]
    (one,) = clients(counted_log("".join(lines)).clients)
    assert (one.pages, one.assets, one.requests, one.sessions, one.addresses) == (4, 1, 5, 2, 1)
    assert (one.gaps, one.mean_gap_s, one.peak_run, one.hours) == (3, 20 / 3, 2, 2)
    assert one.different_pages == 4
    assert one.gap_variation == pytest.approx(0.707, abs=0.001)
    assert one.pages_per_minute == 12


def line(host: int, page: str, asset: int, referrer: str = "https://example.org/", at: int = 0) -> str:
    """Makes a line of a log: a page, or one of its images."""
    path = f"/image{asset}.png" if asset else page
    time = f"15/Sep/2026:{10 + at // 3600}:{at // 60 % 60:02}:{at % 60:02} +0000"
    return f'192.0.2.{host} - - [{time}] "GET {path} HTTP/1.1" 200 5000 "{referrer}" "{BROWSER}"\n'


def counted_log(text: str) -> Tally:
    """Counts a log."""
    tally = Tally()
    tally.add(LineCounter(Identities(), CountingOptions()).count(Block(text.encode(), "log")))
    return tally


def test_what_the_log_does_not_say_is_no_evidence() -> None:
    """The common format has neither Referer nor User-Agent."""
    one = client(pages=50, page_bits=bits(35))
    assert {rule.name for rule in RULES if rule.says(one, SITE)} == {"no assets for many pages", "breadth"}


def test_the_evidence_has_the_points() -> None:
    judgement = judge(client(**READS))
    assert judgement.points == sum(int(sentence.rpartition("(")[2].rstrip(")")) for sentence in judgement.evidence)


whole = st.integers(0, 1 << 40) | st.integers(0, 100)
any_figures = st.fixed_dictionaries(
    dict.fromkeys(FIGURES, whole)
    | {
        "agent_bits": st.integers(0, (1 << AGENT_PLACES) - 1),
        "page_bits": st.integers(0, (1 << PAGE_PLACES) - 1),
        "hour_bits": st.integers(0, (1 << 24) - 1),
    }
)
any_client = st.builds(
    lambda agent, figures: Client("192.0.2.1", agent, **figures),
    st.text(st.characters(max_codepoint=255)) | st.just(BROWSER),
    any_figures,
)


@given(any_client, st.floats(0, 1), st.floats(0, 1))
def test_any_figures_give_a_judgement(one: Client, assets: float, referrers: float) -> None:
    judgement = judge(one, assets, referrers)
    assert 0 <= judgement.points <= 100
    assert judgement.verdict in VERDICTS
    assert bool(judgement.evidence) == (judgement.verdict != "no evidence")


@given(st.lists(any_client, min_size=1, max_size=5))
def test_clients_are_added_up(several: list[Client]) -> None:
    one = joined(several, "192.0.2.0/24")
    assert one.requests == sum(each.requests for each in several)
    assert one.page_bits >= max(each.page_bits for each in several)
    assert (one.first_at, one.last_at) == (
        min(each.first_at for each in several),
        max(each.last_at for each in several),
    )


# ---- groups ---------------------------------------------------------------------------------------------------------


def crawl(number: int, **figures: Any) -> Client:
    """One of several addresses that share a crawl."""
    part = {"pages": 6, "page_bits": bits(6) << 6 * number % 57, "unreferred": 6} | gaps(5, 100)
    return client(**{"address": f"192.0.2.{number}"} | part | figures)


GROUPS: list[tuple[str, list[Client], list[str]]] = [
    ("ten addresses of one network", [crawl(number) for number in range(10)], ["192.0.2.0/24"]),
    ("two are too few", [crawl(number, pages=40) for number in range(2)], []),
    ("few pages in all", [crawl(number, pages=1, page_bits=1) for number in range(10)], []),
    ("those that load images are left out", [crawl(number, assets=9) for number in range(10)], []),
    (
        "two networks",
        [crawl(number) for number in range(10)] + [client(f"198.51.100.{number}", **READS) for number in range(4)],
        ["192.0.2.0/24", "198.51.100.0/24"],
    ),
    ("IPv6", [client(f"2001:db8:1:{number}::1", **READS) for number in range(3)], ["2001:db8:1::/48"]),
    (
        "people's browser: others load images with it",
        [crawl(number) for number in range(10)] + [crawl(number, assets=9) for number in range(20, 24)],
        [],
    ),
    (
        "a wide network",
        [crawl(number, address=f"192.0.{number}.1") for number in range(10)],
        ["192.0.0.0/16"],
    ),
    ("a wide network, too few", [crawl(number, address=f"192.0.{number}.1", pages=9) for number in range(4)], []),
    (
        "a wide network, nothing alike",
        [client(f"192.0.{number}.1", pages=1, page_bits=1 << number, unreferred=1) for number in range(30)],
        [],
    ),
    (
        "robots.txt is read from everywhere",
        [client(f"192.0.2.{number}", robots_txt=1) for number in range(20)],
        ["192.0.2.0/24"],
    ),
    ("names are in no network", [client(f"host{number}.example", **READS) for number in range(5)], []),
    ("other User-Agents", [client(f"192.0.2.{number}", f"agent {number}", **READS) for number in range(5)], []),
]


@pytest.mark.parametrize(("members", "networks"), [case[1:] for case in GROUPS], ids=[case[0] for case in GROUPS])
def test_groups(members: list[Client], networks: list[str]) -> None:
    assert sorted(group.network for group in find_groups(members)) == networks


def test_one_page_each_does_not_show_that_they_are_one() -> None:
    members = [client(f"192.0.2.{number}", pages=1, page_bits=1 << number, unreferred=1) for number in range(30)]
    (group,) = find_groups(members)
    assert group.together == "possible"
