"""What settings cannot be, whoever makes them: the command, a file or a program."""

import resource
from pathlib import Path

import pytest

from goodbot.config import Settings
from goodbot.errors import InputError, RunError
from goodbot.settings_file import from_environment, load_settings, save_settings

# settings → the error
WRONG: list[tuple[dict[str, object], str]] = [
    ({"scope": "bogus"}, "scope must be one of page, prefix, host, domain, all: 'bogus'"),
    ({"follow_rel": "nofollow"}, "follow-rel must be one of both, ugc, sponsored, none: 'nofollow'"),
    ({"signature_agent_form": "May"}, "signature-agent-form must be one of october, august, string: 'May'"),
    ({"depth": -1}, "depth must be at least 0 and below 1e+12: -1"),
    ({"delay": "1"}, "delay must be a number: '1'"),
    ({"concurrency": None}, "concurrency must be a number: None"),
    ({"revisit_least": 100, "revisit_most": 10}, "revisit-least must not be more than revisit-most: 100 and 10"),
    ({"revisit_most": 3600}, "revisit-least must not be more than revisit-most: 14400 and 3600"),
]


@pytest.mark.parametrize(("given", "wrong"), WRONG)
def test_what_settings_cannot_be(given: dict[str, object], wrong: str) -> None:
    with pytest.raises(InputError) as raised:
        Settings(**given)  # type: ignore[arg-type]
    assert str(raised.value) == wrong


def test_what_settings_can_be() -> None:
    assert Settings(depth=None, delay=0, revisit_least=10, revisit_most=10, scope="all").scope == "all"


# environment → the error
MISNAMED: list[tuple[str, str]] = [
    ("GOODBOT_SCOP", "environment: unknown setting GOODBOT_SCOP; did you mean GOODBOT_SCOPE?"),
    ("GOODBOT_COLOUR_OF_THE_SKY", "environment: unknown setting GOODBOT_COLOUR_OF_THE_SKY"),
]


@pytest.mark.parametrize(("name", "wrong"), MISNAMED)
def test_a_name_in_the_environment_that_is_no_setting(name: str, wrong: str) -> None:
    with pytest.raises(InputError) as raised:
        from_environment(Settings(), {"GOODBOT_DEPTH": "3", name: "host"})
    assert str(raised.value) == wrong


def test_names_in_the_environment_that_are_others() -> None:
    others = ("GOODBOT_CHECK_IGNORE", "_GOODBOT_COMPLETE", "GOODBOTS", "PATH")
    of_services = (
        "GOODBOT_SERVICE_HOST",
        "GOODBOT_WEB_SERVICE_PORT_HTTP",
        "GOODBOT_PORT",
        "GOODBOT_PORT_8020_TCP_ADDR",
    )
    environment = dict.fromkeys((*others, *of_services), "x")
    assert from_environment(Settings(), {**environment, "GOODBOT_DEPTH": "3"}) == Settings(depth=3)


def test_what_was_asked_of_a_crawl_is_kept_where_the_disk_is_full(tmp_path: Path) -> None:
    file, kept = tmp_path / "goodbot.toml", Settings(seeds=("http://example.org/",), depth=3)
    save_settings(file, kept)
    _, hard = before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (20, hard))
    try:
        with pytest.raises(RunError, match="cannot write"):
            save_settings(file, Settings(seeds=("http://example.org/",), depth=4))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert load_settings(file, Settings()) == kept
