"""What gate.toml may contain, and what is said about one that is wrong."""

import re
from dataclasses import dataclass

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from goodbot.errors import InputError
from goodbot.gate.policy import MOST_BYTES, Browsers, Impostors, Limited, Policy, Undeclared, parse_policy
from goodbot.watch.addresses import AddressRanges, packed_address

EVERYTHING = b"""\
mode = "observe"
contact = "webmaster@example.org"
unknown_rules = "refuse"
proxies = ["10.1.0.0/16", "[::1]", "::ffff:192.0.2.1", "192.0.2.77/24"]
reverse_dns = false
keys = ["keys.json", "shop=shop.json"]
addresses = 5000

[impostors]
action = "allow"

[unverified]
action = "refuse"
per_minute = 30
burst = 5

[undeclared]
action = "allow"
per_minute = 0.5
burst = 6
network_per_minute = 70.5
network_burst = 8
rules = "all"

[browsers]
action = "limit"
per_minute = 900
burst = 1000

[robots]
GPTBot = "refuse"
"archive.org_bot" = "allow"
Googlebot = "rules"

[sites]
"example.org" = "/srv/robots.txt"
"b.test" = "https://b.test/robots.txt"
"""


def test_every_setting_is_read() -> None:
    policy = parse_policy(EVERYTHING)
    assert policy == Policy(
        mode="observe",
        contact="webmaster@example.org",
        unknown_rules="refuse",
        proxies=("10.1.0.0/16", "[::1]", "::ffff:192.0.2.1", "192.0.2.77/24"),
        reverse_dns=False,
        keys=("keys.json", "shop=shop.json"),
        addresses=5000,
        impostors=Impostors("allow"),
        unverified=Limited("refuse", 30, 5),
        undeclared=Undeclared("allow", 0.5, 6, 70.5, 8, "all"),
        browsers=Browsers("limit", 900, 1000),
        robots={"GPTBot": "refuse", "archive.org_bot": "allow", "Googlebot": "rules"},
        sites={"example.org": "/srv/robots.txt", "b.test": "https://b.test/robots.txt"},
    )
    default = Policy()
    assert [name for name in policy.__struct_fields__ if getattr(policy, name) == getattr(default, name)] == []


def test_the_networks_of_proxies() -> None:
    ranges = AddressRanges(parse_policy(EVERYTHING).networks())
    inside = ["10.1.2.3", "::1", "192.0.2.1", "192.0.2.200", "::ffff:10.1.0.0"]
    outside = ["10.2.0.0", "::2", "192.0.3.1", "127.0.0.1"]
    assert [address for address in [*inside, *outside] if (packed_address(address) or b"") in ranges] == inside


def test_without_a_file_the_defaults_count() -> None:
    assert parse_policy(b"") == parse_policy(b"# nothing\n") == Policy()
    policy = Policy()
    assert (policy.mode, policy.unknown_rules, policy.impostors.action) == ("enforce", "allow", "refuse")
    assert (policy.unverified.action, policy.undeclared.action, policy.browsers.action) == ("limit", "limit", "allow")
    assert [str(network) for network in policy.networks()] == ["127.0.0.0/8", "::1/128"]


def test_a_table_may_have_some_of_its_settings() -> None:
    assert parse_policy(b"[unverified]\nburst = 7\n").unverified == Limited(burst=7)


@dataclass(frozen=True, slots=True)
class Wrong:
    """A file, and the message after its name."""

    text: bytes
    message: str


WRONG = [
    Wrong(b"moode = 1", ": there is no setting 'moode'; docs/how-to/gate.md lists the settings"),
    Wrong(b"[robot]\n", ": there is no setting 'robot'; docs/how-to/gate.md lists the settings"),
    Wrong(b"[browsers]\nrate = 1", ": [browsers] has no setting 'rate'; docs/how-to/gate.md lists the settings"),
    Wrong(b"[impostors]\nburst = 1", ": [impostors] has no setting 'burst'; docs/how-to/gate.md lists the settings"),
    Wrong(
        b"[unverified]\nrules = 'all'", ": [unverified] has no setting 'rules'; docs/how-to/gate.md lists the settings"
    ),
    Wrong(b"mode = 'watch'", ": mode must be observe or enforce"),
    Wrong(b"mode = '''a\nb'''", ": mode must be observe or enforce"),
    Wrong(b"mode = 1", ": mode must be observe or enforce"),
    Wrong(b"unknown_rules = 'limit'", ": unknown_rules must be allow or refuse"),
    Wrong(b"[impostors]\naction = 'limit'", ": impostors.action must be allow or refuse"),
    Wrong(b"[unverified]\naction = 'rules'", ": unverified.action must be allow, limit or refuse"),
    Wrong(b"[undeclared]\naction = ''", ": undeclared.action must be allow, limit or refuse"),
    Wrong(b"[undeclared]\nrules = 'some'", ": undeclared.rules must be named or all"),
    Wrong(b"[browsers]\naction = 'refuse'", ": browsers.action must be allow or limit"),
    Wrong(b"[robots]\nA = 'allow'\nB = 'limit'", ": robots: 'B' must be allow, rules or refuse"),
    Wrong(b"[robots]\n'a.b' = 1", ": robots: 'a.b' must be allow, rules or refuse"),
    Wrong(b"[robots]\na.b = 'allow'", ": robots: 'a' must be allow, rules or refuse"),
    Wrong(b"[sites]\n'a.test' = 'x'\n'b.test' = 1", ": sites: 'b.test': expected string, got integer"),
    Wrong(b"[sites]\na.test = 'x'", ": sites: 'a': expected string, got table"),
    Wrong(b"[sites]\n'' = 'x'", ": sites: '' is not the name of a host, such as example.org"),
    Wrong(
        b"[sites]\n'https://a.test' = 'x'", ": sites: 'https://a.test' is not the name of a host, such as example.org"
    ),
    Wrong(b"[sites]\n' a.test' = 'x'", ": sites: ' a.test' is not the name of a host, such as example.org"),
    Wrong(b"[sites]\n'a.test' = ''", ": sites: the place of the robots.txt of 'a.test' is empty"),
    Wrong(b"contact = 1", ": contact: expected string, got integer"),
    Wrong(b"reverse_dns = 'yes'", ": reverse_dns: expected boolean, got string"),
    Wrong(b"proxies = '::1'", ": proxies: expected array, got string"),
    Wrong(b"proxies = ['::1', 7]", ": proxies[1]: expected string, got integer"),
    Wrong(b"proxies = ['::1', 'nginx']", ": proxies: 'nginx' is neither an address nor a range"),
    Wrong(b"proxies = ['::/0']", ": proxies: '::/0' would let every client name any address as its own"),
    Wrong(b"[sites]\n'*.a.test' = 'x'", ": sites: '*.a.test': there are no wildcards; --robots is for all other hosts"),
    Wrong(b"proxies = ['10.0.0.0/33']", ": proxies: '10.0.0.0/33' is neither an address nor a range"),
    Wrong(b"keys = [false]", ": keys[0]: expected string, got boolean"),
    Wrong(b"addresses = 99", ": addresses: expected integer >= 100"),
    Wrong(b"addresses = 10_000_001", ": addresses: expected integer <= 10000000"),
    Wrong(b"addresses = 1e3", ": addresses: expected integer, got number"),
    Wrong(b"unverified = 'limit'", ": unverified: expected table, got string"),
    Wrong(b"[unverified]\nper_minute = 0", ": unverified.per_minute: expected number > 0.0"),
    Wrong(b"[unverified]\nper_minute = -5", ": unverified.per_minute: expected number > 0.0"),
    Wrong(b"[unverified]\nper_minute = nan", ": unverified.per_minute: expected number > 0.0"),
    Wrong(b"[unverified]\nper_minute = inf", ": unverified.per_minute: expected number <= 1000000.0"),
    Wrong(b"[unverified]\nper_minute = '60'", ": unverified.per_minute: expected number, got string"),
    Wrong(b"[undeclared]\nnetwork_per_minute = 0", ": undeclared.network_per_minute: expected number > 0.0"),
    Wrong(b"[undeclared]\nnetwork_burst = 0", ": undeclared.network_burst: expected integer >= 1"),
    Wrong(b"[browsers]\nburst = 1_000_001", ": browsers.burst: expected integer <= 1000000"),
    Wrong(b"[browsers]\nburst = 1.5", ": browsers.burst: expected integer, got number"),
    Wrong(b"mode", " is not valid TOML: Expected '=' after a key in a key/value pair (at end of document)"),
    Wrong(b"mode = 'a\nb'", r" is not valid TOML: Found invalid character '\n' (at line 1, column 10)"),
    Wrong(b"mode = 'observe'\nmode = 'observe'", " is not valid TOML: Cannot overwrite a value (at end of document)"),
    Wrong(b"# ok\n# \xff\n", " is not valid TOML: line 2 is not UTF-8"),
    Wrong(b"a = " + b"[" * 100_000, " is not valid TOML: it is nested too deeply"),
    Wrong(b"addresses = " + b"9" * 5000, " is not valid TOML: a number has thousands of digits"),
    Wrong(b"#" * (MOST_BYTES + 1), " has more than 4,194,304 bytes, which is too long for a policy"),
]


@pytest.mark.parametrize("wrong", WRONG, ids=range(len(WRONG)))
def test_a_wrong_file_is_named_with_its_setting(wrong: Wrong) -> None:
    with pytest.raises(InputError, match=f"^{re.escape(f'my gate.toml{wrong.message}')}$"):
        parse_policy(wrong.text, "my gate.toml")


def test_a_file_as_long_as_it_may_be() -> None:
    assert parse_policy(b"#" * MOST_BYTES) == Policy()


def test_a_long_value_is_cut() -> None:
    for text in (b"proxies = ['%b']", b"[sites]\n'%b/' = 'x'", b"%b = 1", b"[robots]\n'%b' = 1", b"mode = '%b'"):
        with pytest.raises(InputError) as raised:
            parse_policy(text % (b"x" * 100_000))
        assert len(str(raised.value)) < 400


names = st.sampled_from(
    [
        "mode",
        "contact",
        "proxies",
        "keys",
        "robots",
        "sites",
        "unverified",
        "browsers",
        "burst",
        "action",
        "'a\\nb'",
        "x",
    ]
)
values = st.sampled_from(
    [
        "1",
        "-1",
        "1.5",
        "nan",
        "true",
        "'allow'",
        '"a\\nb"',
        "'''\n'''",
        "[]",
        "['a\\n']",
        "{a=1}",
        "{'a`b'=1}",
        "07:32:00",
    ]
)
settings_ = st.tuples(names, values).map(" = ".join)
tables = st.tuples(names, st.lists(settings_, max_size=2)).map(lambda table: "\n".join([f"[{table[0]}]", *table[1]]))


@given(st.lists(settings_, max_size=3), st.lists(tables, max_size=3))
def test_whatever_a_file_sets_it_is_a_policy_or_one_line_says_why_not(settings: list[str], more: list[str]) -> None:
    check("\n".join([*settings, *more]).encode())


@given(st.binary(max_size=200) | st.text(max_size=200).map(str.encode))
@example(b"'a ` - at `$.b' = 1")
@example(b"[unverified]\n'a` - at `$.x[...]' = 1")
@example(b"\xef\xbb\xbf")
@example(b"d = 2026-02-30")
def test_whatever_a_file_contains_it_is_a_policy_or_one_line_says_why_not(text: bytes) -> None:
    check(text)


def check(text: bytes) -> None:
    said = ""
    try:
        parse_policy(text, "gate.toml").networks()
    except InputError as error:
        said = str(error)
    assert said == "" or (said.startswith("gate.toml") and said.isprintable())
