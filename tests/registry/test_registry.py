"""A registry has our records, and before them the user's own."""

import pickle

import pytest

from goodbot.errors import InputError
from goodbot.registry import Records, Registry, bundled_registry, find, find_token, identify, parse_records, robots


def own(text: str, file: str = "mine.toml") -> Records:
    return parse_records(text.encode(), file, 2026)


def robot(name: str, *lines: str, purpose: str = "monitoring") -> str:
    return "\n".join(["[[robot]]", f"name = '{name}'", f"purpose = '{purpose}'", *lines, ""])


@pytest.mark.parametrize(
    ("text", "user_agent", "name", "is_own"),
    [
        (robot("OurProbe"), "OurProbe/1.0", "OurProbe", True),
        (robot("OurProbe"), "Mozilla/5.0 (compatible; Googlebot/2.1)", "Googlebot", False),
        (robot("OurProbe"), "Mozilla/5.0 (compatible; ourprobe)", "OurProbe", True),
        (robot("OurProbe"), "OurProber/1.0", None, False),
        # the same name: ours is replaced
        (robot("Googlebot"), "Googlebot/2.1", "Googlebot", True),
        (robot("baiduspider-news", "patterns = ['Elgoog']"), "Elgoog/1", "baiduspider-news", True),
        (robot("googlebot", "patterns = ['Elgoog']"), "Googlebot/2.1", None, False),
        # the same pattern: theirs comes first
        (robot("Mirror", "patterns = ['Googlebot']"), "Googlebot/2.1", "Mirror", True),
        (robot("Mirror", "patterns = ['Sogou web spider']"), "Sogou web spider/4.0", "Mirror", True),
        (robot("Mirror", "patterns = ['^curl']"), "curl/8.7.1", "Mirror", True),
        (robot("Mirror", "patterns = ['FeedBurner']"), "FeedBurner/1.0", "Mirror", True),
        # a tool counts only if no robot is named
        (robot("Mirror", "patterns = ['Wrapper']", purpose="tool"), "Wrapper Googlebot", "Googlebot", False),
        # a token alone
        (robot("Mirror", "token = 'Googlebot'", "patterns = ['Elgoog']"), "Googlebot", "Googlebot", False),
    ],
    ids=range(13),
)
def test_the_records_of_the_user_come_first(text: str, user_agent: str, name: str | None, is_own: bool) -> None:
    found = Registry(own(text)).find(user_agent)
    assert (found.name if found else None) == name
    assert (found is not None and found.own_file == "mine.toml") == is_own


def test_tokens_of_the_user_come_first() -> None:
    registry = Registry(own(robot("Mirror", "token = 'GoogleBot'", "patterns = ['Elgoog']")))
    found = registry.find_token("googlebot")
    assert found is not None
    assert found.name == "Mirror"
    assert registry.similar_tokens("Gogglebot") == ["GoogleBot"]
    assert registry.similar_tokens("googlebot") == []


def test_the_first_of_several_own_records_counts() -> None:
    one, two = own(robot("Ours", "operator = 'One'"), "one.toml"), own(robot("ours", "operator = 'Two'"), "two.toml")
    for registry, operator in ((Registry(one, two), "One"), (Registry(two, one), "Two")):
        found = registry.find("ours")
        assert found is not None
        assert found.operator == operator
        assert [each.name.lower() for each in registry.robots].count("ours") == 1


def test_lists_of_the_user_come_first() -> None:
    text = (
        "[[list]]\nname = 'bingbot'\nurl = 'https://x.example/'\n[[list]]\nname = 'ours'\nurl = 'https://y.example/'\n"
    )
    registry = Registry(own(text), own(text.replace(".example/", ".test/"), "two.toml"))
    assert registry.lists["bingbot"].url == "https://x.example/"
    assert registry.lists["ours"].url == "https://y.example/"
    assert registry.lists.keys() == {*bundled_registry().lists, "ours"}


def test_a_list_that_does_not_exist_is_an_input_error() -> None:
    text = robot("Ours", "address_lists = ['ours']")
    with pytest.raises(InputError, match=r"mine.toml: robot 'Ours': address_lists names 'ours', which is no list"):
        Registry(own(text))
    Registry(own(text), own("[[list]]\nname = 'ours'\nurl = 'https://y.example/'\n", "two.toml"))


def test_registries_do_not_share_their_caches() -> None:
    registry = Registry(own(robot("Googlebot", "operator = 'Us'")))
    for _ in range(2):
        first, second = registry.find("Googlebot"), find("Googlebot")
        assert first is not None
        assert second is not None
        assert (first.operator, second.operator) == ("Us", "Google")
    assert find_token("Googlebot") is second


def test_without_own_records_nothing_changes() -> None:
    assert Registry().robots == robots() == bundled_registry().robots
    assert bundled_registry() is bundled_registry()
    assert Registry(own("")).robots == robots()


def test_another_process_gets_the_same_registry() -> None:
    registry = Registry(own(robot("Ours")))
    registry.find("Ours")
    copy = pickle.loads(pickle.dumps(registry))
    assert (copy.robots, copy.lists) == (registry.robots, registry.lists)
    assert copy.find("Ours") == registry.find("Ours")


def test_the_evidence_names_the_file_of_an_own_record() -> None:
    identity = identify("Ours/1.0", "192.0.2.1", registry=Registry(own(robot("Ours", "operator = 'Us'"))))
    assert identity.tier == "declared"
    assert identity.evidence[0] == "the User-Agent contains Ours, a robot of Us (your record in mine.toml)"
