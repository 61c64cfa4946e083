"""The text of remedies that no server reads: robots.txt, lists of networks, letters; and their notes."""

import json
from dataclasses import replace
from ipaddress import ip_network
from pathlib import Path
from typing import Any
from unicodedata import category

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.errors import InputError, RunError
from goodbot.exclusion import RobotsTxt
from goodbot.registry import bundled_registry, identify
from goodbot.watch.remedies import (
    Facts,
    IncidentNote,
    Kind,
    Rate,
    Remedy,
    Targets,
    add_note,
    check_rate,
    configuration,
    incidents_file,
    letter_remedy,
    parse_report,
    read_notes,
)
from goodbot.watch.remedies.robots_group import robots_remedy
from goodbot.watch.remedies.targets import TargetRobot
from watch.remedies.remedy_targets import NASTY, ON_LOOPBACK, known, made_list, made_robot
from watch.remedies.saved_reports import BROKEN, TEXT, almost_obedient, obedience, robot

TOKENS = [robot.token for robot in bundled_registry().robots if robot.token]


def targets(*tokens: str) -> Targets:
    return Targets(tuple(TargetRobot(known(token)) for token in tokens))


def remedy(kind: Kind, whom: Targets, rate: Rate | None = None) -> Remedy:
    return configuration(kind, whom, rate, bundled_registry())


# ---- robots.txt -----------------------------------------------------------------------------------------------------


def test_a_group_closes_the_site_to_these_robots_and_no_other() -> None:
    rules = RobotsTxt.parse(remedy("robots", targets("GPTBot", "CCBot")).text)
    closed = {token for token in TOKENS if not rules.allows("/x", token)}
    assert closed == {"GPTBot", "CCBot"}


def test_a_group_asks_for_a_delay() -> None:
    made = remedy("robots", targets("bingbot"), Rate(10, 60))
    rules = RobotsTxt.parse(made.text)
    assert (rules.crawl_delay("bingbot"), rules.crawl_delay("other"), rules.allows("/", "bingbot")) == (6, None, True)
    assert any("ignores the group for *" in warning for warning in made.warnings)


def test_who_does_not_obey_is_not_in_the_group() -> None:
    """Nor who has no name there; comments say so."""
    disobedient = next(robot for robot in bundled_registry().robots if robot.obeys == "no" and robot.token)
    nameless = made_robot("Nameless", "Nameless")
    whom = Targets((TargetRobot(known("CCBot")), TargetRobot(disobedient), TargetRobot(nameless)))
    made = remedy("robots", whom)
    assert made.text.count("User-agent:") == 1
    assert f"# Note: {disobedient.name} does not obey robots.txt." in made.text
    assert "# Note: Nameless has no name in robots.txt on record." in made.text
    with pytest.raises(InputError, match=r"does not help: .* does not obey"):
        remedy("robots", Targets((TargetRobot(disobedient),)))
    with pytest.raises(InputError, match=r"without closing out the genuine robot; robots\.txt does not know addresses"):
        remedy("robots", Targets((), ON_LOOPBACK.impostors, ON_LOOPBACK.networks))


def test_one_sentence_lists_all_robots_that_a_group_does_not_help_against() -> None:
    disobedient = [replace(made_robot(name, name), token=name, obeys="no") for name in ("A", "B")]
    nameless = [made_robot(name, name) for name in ("C", "D")]
    named_only = [replace(made_robot(name, name), token=name, obeys="named") for name in ("E", "F")]
    whom = Targets(tuple(map(TargetRobot, (*disobedient, *nameless, *named_only))))
    assert remedy("robots", whom).warnings == (
        "A and B do not obey robots.txt",
        "C and D have no names in robots.txt on record",
        "E and F obey only rules that name them, as here",
    )


def test_a_delay_is_not_for_robots_that_ignore_it() -> None:
    with pytest.raises(InputError, match=r"does not help: Googlebot ignores Crawl-delay; use nginx"):
        remedy("robots", targets("Googlebot"), Rate(1, 1))
    made = remedy("robots", targets("Googlebot", "bingbot"), Rate(1, 1))
    assert "User-agent: bingbot\nDisallow:\nCrawl-delay: 1\n" in made.text
    assert "User-agent: Googlebot" not in made.text
    assert "Googlebot ignores Crawl-delay" in made.warnings
    assert "or it may fetch what they close" in "".join(made.warnings)


def test_robots_that_share_a_group_are_named() -> None:
    images = replace(made_robot("Own-Images", "Own-Images"), token="Own-Images", aliases=("GPTBot",))
    made = robots_remedy(targets("GPTBot"), None, [images])
    assert made.warnings == ("the group also applies to Own-Images, which has no group of its own",)


# ---- lists of networks, and rates -----------------------------------------------------------------------------------


def test_networks_are_joined() -> None:
    lists = (made_list("198.51.100.0/25", "198.51.100.128/25", "2001:db8::/32"),)
    made = remedy("cidr", Targets((TargetRobot(known("GPTBot"), lists),), (), (ip_network("192.0.2.7"),)))
    lines = [line for line in made.text.splitlines() if not line.startswith("#")]
    assert lines == ["192.0.2.7/32", "198.51.100.0/24", "2001:db8::/32"]
    assert "https://example.org/ips.json, as of 2026-11-01" in made.text
    assert made.warnings == ("addresses that your firewall blocks cannot read robots.txt either",)
    assert "# Note: addresses that your firewall blocks cannot read robots.txt either." in made.text
    with pytest.raises(InputError, match="no address list is on record for CCBot"):
        remedy("cidr", Targets((TargetRobot(known("CCBot")),)))


def test_robots_without_addresses_are_listed_once() -> None:
    lists = (made_list("198.51.100.0/25"),)
    whom = Targets((TargetRobot(known("GPTBot"), lists), *targets("CCBot", "Twitterbot").robots))
    made = remedy("cidr", whom)
    assert made.warnings[0] == "no address lists are on record for CCBot and Twitterbot"
    assert "CCBot" not in made.text


@pytest.mark.parametrize("kind", ["cidr", "fail2ban"])
def test_robots_at_the_same_addresses_are_named(kind: Kind) -> None:
    google = replace(made_list("198.51.100.0/25"), name="google-common")
    images = TargetRobot(known("Googlebot-Image"), (google,))
    (warning,) = (one for one in remedy(kind, Targets((images,))).warnings if "same addresses" in one)
    assert warning.startswith("Googlebot, Googlebot-Video, GoogleOther")
    assert warning.endswith("may use the same addresses as Googlebot-Image, and are stopped with them")
    only = Targets((TargetRobot(known("GPTBot"), (replace(google, name="openai-gptbot"),)),))
    assert not any("same addresses" in one for one in remedy(kind, only).warnings)


@pytest.mark.parametrize("kind", ["apache", "caddy", "cidr"])
def test_what_has_no_rate_says_so(kind: Kind) -> None:
    with pytest.raises(InputError, match="choose nginx or fail2ban"):
        check_rate(kind, Rate(1, 1))


def test_fail2ban_does_not_know_ranges_alone() -> None:
    with pytest.raises(InputError, match="not ranges"):
        remedy("fail2ban", Targets((), (), (ip_network("192.0.2.0/24"),)))
    text = remedy("fail2ban", ON_LOOPBACK, Rate(30, 60)).text
    assert "maxretry = 31\nfindtime = 60\n" in text
    assert "ignoreip = 127.0.0.1/8 ::1 127.0.0.64/28 2001:db8::/32\n" in text
    assert "# fail2ban-client set goodbot-robots banip 127.0.5.0/24\n" in text


ADDRESS = ip_network("192.0.2.7")


@pytest.mark.parametrize(
    ("whom", "rate", "said"),
    [
        (
            targets("GPTBot"),
            None,
            [
                "Bans every address for one day at its first request with the name GPTBot in the User-Agent.",
                "Check: fail2ban-client -t Load: fail2ban-client reload Then: fail2ban-client status goodbot-robots",
            ],
        ),
        (
            targets("GPTBot", "CCBot"),
            Rate(30, 60),
            [
                "for one day when it sends more than 30 requests in 60 s with the name GPTBot or CCBot in the",
            ],
        ),
        (
            Targets((), ON_LOOPBACK.impostors),
            None,
            [
                (
                    "Bans every address that the operator does not list for one day at its first request with the "
                    "name Googlebot in the User-Agent."
                ),
                "fail2ban-client status goodbot-impostors",
            ],
        ),
        (Targets((), (), (ADDRESS,)), None, ["Bans the address 192.0.2.7 for one day at its first request."]),
        (
            Targets((), (), (ip_network("192.0.2.6"), ADDRESS)),
            None,
            ["Bans each of the addresses 192.0.2.6 and 192.0.2.7 for one day at its first request."],
        ),
    ],
    ids=["name", "names and a rate", "impostors", "address", "addresses"],
)
def test_fail2ban_says_what_it_bans(whom: Targets, rate: Rate | None, said: list[str]) -> None:
    jails = remedy("fail2ban", whom, rate).parts[-1].text
    words = " ".join(jails.replace("\n# ", " ").split())
    assert [text for text in said if text not in words] == []


# ---- the test in the comment ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["nginx", "apache", "caddy"])
@pytest.mark.parametrize(
    ("whom", "said"),
    [
        (targets("GPTBot", "CCBot"), "# curl -I -A GPTBot https://YOUR-SITE/   (must answer 403)\n"),
        (Targets(ON_LOOPBACK.robots[1:]), "# curl -I -A 'Two Words' https://YOUR-SITE/   (must answer 403)\n"),
        (Targets((), ON_LOOPBACK.impostors), "# curl -I -A Googlebot https://YOUR-SITE/   (must answer 403)\n"),
        (Targets((TargetRobot(made_robot("x", "a' b")),)), "# curl -I -A NAME https://YOUR-SITE/"),
        (Targets((), (), (ADDRESS,)), "# Requests from these addresses must be answered with 403.\n"),
    ],
    ids=["robots", "two words", "impostors", "unusual name", "addresses"],
)
def test_the_comment_has_a_test(kind: Kind, whom: Targets, said: str) -> None:
    assert said in remedy(kind, whom).text


@pytest.mark.parametrize(("rate", "at_once"), [(Rate(30, 60), 6), (Rate(20, 1), 21)])
def test_a_rate_is_tested_by_many_requests(rate: Rate, at_once: int) -> None:
    assert f"(must answer 429 if more than {at_once} come at once)" in remedy("nginx", targets("GPTBot"), rate).text


# ---- letters --------------------------------------------------------------------------------------------------------

NOW = 1_793_300_000.0
NOTE = IncidentNote(NOW, "GPTBot", "verified", 1_793_150_000.0, "Closed /private/ with nginx")


def letter(**facts: object) -> str:
    report = parse_report(TEXT.encode(), "report.json")
    reported = tuple(one for one in report.robots if one.name == "GPTBot")
    return letter_remedy(known("GPTBot"), Facts(**{"reported": reported, **facts})).text  # type: ignore[arg-type]


def test_a_letter_is_complete() -> None:
    text = letter(
        notes=(NOTE,), dated=True, done="We block it now.", site="https://example.org/", sender="Ada", rate=Rate(1, 1)
    )
    words = " ".join(text.split())
    for said in (
        "Subject: GPTBot on https://example.org/",
        "When we noticed it: 2026-10-28 01:13:20 UTC.",
        "1,204 requests, 5.0 MB, from 2026-10-27 11:20:00 UTC to",
        "36 of the 1,204 requests that we could judge (3.0 %; 95 % interval 2.1 to 4.2 %) were for URLs that our",
        "Disallow: /private/ (line 12 of our robots.txt, in the group for GPTBot, in the version of",
        '20.171.206.1 - - [27/Oct/2026] "GET /private/1 HTTP/1.1" 200 5',
        "40 of 100 gaps between two requests were shorter",
        "3 of 10 such periods had more requests",
        "40 of 90 requests came outside it",
        "We compared each request with the version that was in force at its time, and counted only those that every",
        "What we noticed and did: - 2026-10-28",
        "to make GPTBot obey our robots.txt and send no more",
        "addresses: 198.51.100.7 and 7 more",
        "We will gladly send more lines of our log.",
        "never requested our robots.txt",
        "- evidence for GPTBot",
        "Closed /private/ with nginx",
        "- We block it now.",
        "no more than 1 request a second",
        "Kind regards Ada",
    ):
        assert said in words, said
    assert "[FILL IN: URL" not in text
    assert "198.51.100.7" in text
    assert "203.0.113.9" not in text  # an impostor's
    assert "20.171.206.6" not in text  # five lines are evidence enough


def test_what_is_not_known_is_marked() -> None:
    words = " ".join(letter(reported=()).split())
    for said in (
        "replace each [FILL IN: …]",
        "[FILL IN: contact of OpenAI]",
        "[FILL IN: URL of your site]",
        "What we did: [FILL IN: what you did",
        "[FILL IN: your name]",
        "[FILL IN: the requests",
        "When we noticed it: [FILL IN: date].",
        "We ask you [FILL IN: what you ask, such as: to obey our robots.txt], and to answer us",
        "We will gladly send lines of our log.",
    ):
        assert said in words, said
    assert "to make GPTBot send no more than 30 requests a minute, and" in " ".join(
        letter(reported=(), rate=Rate(30, 60)).split()
    )


ACCUSED_OF_NOTHING = "the report shows nothing that GPTBot did wrong; the letter accuses it of nothing"


def letter_about(*robots: dict[str, Any]) -> tuple[str, tuple[str, ...]]:
    """Returns the words and the warnings of a letter to OpenAI."""
    report = parse_report(json.dumps({"robots": robots}).encode(), "report.json")
    made = letter_remedy(known("GPTBot"), Facts(tuple(report.robots)))
    return " ".join(made.text.split()), made.warnings


def test_a_robot_that_broke_nothing_is_not_accused() -> None:
    """The threshold is that of `goodbot watch`."""
    words, warnings = letter_about(robot("GPTBot", obedience=almost_obedient()))
    assert ACCUSED_OF_NOTHING in warnings
    for accusation in ("Crawl-delay", "Request-rate", "Visit-time", "never requested", "We compared", "to make GPTBot"):
        assert accusation not in words
    assert "What was wrong: [FILL IN: what was wrong with these requests]" in words


@pytest.mark.parametrize(
    ("broken", "said"),
    [
        (
            {"crawl_delay": [{"asked_s": 10, "gaps": 2, "short": 1, "share": BROKEN}]},
            ["1 of 2 gaps between two requests was shorter.", "to make GPTBot obey our robots.txt, and"],
        ),
        (
            {"nofollow": {"followed": 1, "log_lines": ["a line"]}},
            ["1 request came from pages that ask robots not", "a line", "to make GPTBot respect nofollow, and"],
        ),
        (
            {"rules": [{"rule": "Disallow: /x", "log_lines": []}], "rules_left_out": 1, "crawl_delay": []},
            ["1,204 of the 1,204 requests that we could judge", "1 more rule was broken.", "We will gladly send lines"],
        ),
    ],
    ids=["one gap", "nofollow", "one more rule"],
)
def test_each_accusation(broken: dict[str, Any], said: list[str]) -> None:
    disallowed = 1204 if "rules" in broken else 0
    words, warnings = letter_about(robot("GPTBot", disallowed=disallowed, obedience={**almost_obedient(), **broken}))
    assert [text for text in said if text not in words] == []
    assert ACCUSED_OF_NOTHING not in warnings


def test_one_request() -> None:
    once = {"first": 1_793_100_000.0, "last": 1_793_100_000.4}
    judged = {**obedience(), "judged": 1, "rules": []}
    made = robot("GPTBot", "declared", 1, requests=1, bytes=5, period=once, obedience=judged)
    words, _ = letter_about(made)
    assert "What happened: 1 request, 5 bytes, at 2026-10-27 11:20:00 UTC, in the name of GPTBot." in words
    assert "We could not verify that your robot sent this request. Please tell us if it did not." in words
    assert "The only request that we could judge was for a URL that our robots.txt disallows." in words


@pytest.mark.parametrize("token", ["curl", "PhantomJS"])
def test_there_is_no_letter_about_a_program_that_anyone_can_run(token: str) -> None:
    with pytest.raises(InputError, match=f"{token} is a program that anyone can run: its maker did not send these"):
        letter_remedy(known(token), Facts())


def test_one_file_is_assumed_not_to_have_changed() -> None:
    words = " ".join(letter().split())
    assert (
        "We judged these requests by our current robots.txt, and assume that it has not changed since the first"
        in words
    )
    assert "at its time" not in words


def test_robots_txt_was_requested_if_any_tier_did() -> None:
    fetched = {**obedience(), "robots_txt": {"fetches": 3}}
    tiers = (robot("GPTBot", "verified", 1, obedience=fetched), robot("GPTBot", "declared", 1, obedience=obedience()))
    assert "never requested" not in letter_about(*tiers)[0]


def test_a_user_triggered_fetcher_need_not_obey() -> None:
    _, warnings = letter_about(robot("GPTBot", disallowed=3, obedience=obedience(user_triggered=True)))
    assert "GPTBot is a user-triggered fetcher, which need not obey robots.txt" in warnings


@pytest.mark.parametrize(
    ("token", "said"),
    [
        ("MJ12bot", "We know no way to verify whether your robot sent these requests. Please tell us if it did not."),
        ("bingbot", "We could not verify that your robot sent these requests. Please tell us if it did not."),
    ],
)
def test_how_to_verify_is_no_evidence(token: str, said: str) -> None:
    """The evidence is what the registry writes."""
    evidence = [*identify(token).evidence]
    report = parse_report(json.dumps({"robots": [robot(token, "declared", evidence=evidence)]}).encode(), "report.json")
    words = " ".join(letter_remedy(known(token), Facts(tuple(report.robots))).text.split())
    assert said in words
    assert "How we recognized it: - the User-Agent contains" in words
    assert "no known way to verify it" not in words
    assert "it can be verified by" not in words


@pytest.mark.parametrize(
    ("listed", "count", "exact", "said"),
    [
        (1, 1, True, "192.0.2.1"),
        (5, 5, True, "192.0.2.4, 192.0.2.5"),
        (6, 6, True, "192.0.2.5 and 1 more"),
        (5, 12, True, "192.0.2.5 and 7 more"),
        (5, 20_005, False, "192.0.2.5 and about 20,000 more"),
        (6, 0, True, "192.0.2.5 and 1 more"),
    ],
)
def test_addresses_that_are_not_listed_are_counted(listed: int, count: int, exact: bool, said: str) -> None:
    busiest = [{"address": f"192.0.2.{number}", "requests": 1} for number in range(1, listed + 1)]
    words, _ = letter_about(robot("GPTBot", busiest_addresses=busiest, addresses={"count": count, "exact": exact}))
    assert f"{said} What we did" in words


@given(text=st.text() | st.sampled_from(NASTY))
def test_a_letter_shows_any_text_harmless(text: str) -> None:
    rule = {"rule": text, "group": [text], "log_lines": [text]}
    made = robot("GPTBot", evidence=[text], obedience={**obedience(), "rules": [rule]}, disallowed=1)
    body = json.dumps({"robots": [made]}, ensure_ascii=True).encode()
    try:
        report = parse_report(body, "x")
    except InputError:  # a lone surrogate
        return
    found = letter(reported=tuple(report.robots), done=text, site=text, sender=text)
    assert all(each.isprintable() or each == "\n" or category(each) == "Zs" for each in found)


# ---- notes ----------------------------------------------------------------------------------------------------------


def test_notes_are_kept_in_order(tmp_path: Path) -> None:
    file = incidents_file(tmp_path / "watch.state")
    assert (file.name, read_notes(file)) == ("watch.state.incidents", ([], 0))
    later = IncidentNote(NOW, "CCBot", None, NOW, "A \u202e\udcff note\n")
    add_note(file, later)
    add_note(file, NOTE)
    notes, damaged = read_notes(file)
    assert ([note.robot for note in notes], damaged) == (["GPTBot", "CCBot"], 0)
    assert notes[0] == NOTE


def test_a_torn_line_costs_itself_only(tmp_path: Path) -> None:
    file = tmp_path / "x.incidents"
    add_note(file, NOTE)
    whole = file.read_bytes()
    file.write_bytes(whole + whole[:20])
    assert read_notes(file) == ([NOTE], 1)
    add_note(file, NOTE)
    assert read_notes(file) == ([NOTE, NOTE], 1)


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("none/x", "note", InputError),
        ("", "note", InputError),
        ("x", " ", InputError),
        ("x", "n" * 2001, InputError),
        ("/dev/full", "note", RunError),
    ],
)
def test_notes_that_cannot_be_written(name: str, text: str, error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        add_note(tmp_path / name, IncidentNote(NOW, "GPTBot", None, NOW, text))


@pytest.mark.parametrize(
    ("field", "value"), [("tier", "NoSuch (king)"), ("noticed_at", 1e300), ("at", -1e300), ("noticed_at", 0)]
)
def test_a_note_with_an_impossible_value_is_damaged(field: str, value: object, tmp_path: Path) -> None:
    file = tmp_path / "x.incidents"
    add_note(file, NOTE)
    with file.open("a") as opened:
        opened.write(json.dumps({**json.loads(file.read_text()), field: value}) + "\n")
    assert read_notes(file) == ([NOTE], 1)


@given(body=st.binary(max_size=200))
def test_any_file_of_notes_is_read(body: bytes, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.getbasetemp() / "any.incidents"
    file.write_bytes(body)
    notes, damaged = read_notes(file)
    assert len(notes) + damaged == sum(1 for line in body.split(b"\n") if line)
