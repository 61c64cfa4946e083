"""Settings are checked wherever they come from: the command line, a file or a program."""

import resource
from dataclasses import fields, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
import trustme
from hypothesis import given
from hypothesis.strategies import lists, text

from goodbot.cli import main
from goodbot.config import Settings
from goodbot.crawl_folder import CrawlFolder
from goodbot.errors import InputError, RunError, SettingError
from goodbot.robot.fetch.pinned_addresses import check_proxy
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
def test_invalid_settings_are_refused(given: dict[str, object], wrong: str) -> None:
    with pytest.raises(InputError) as raised:
        Settings(**given)  # type: ignore[arg-type]
    assert str(raised.value) == wrong


def test_valid_settings_are_accepted() -> None:
    assert Settings(depth=None, delay=0, revisit_least=10, revisit_most=10, scope="all").scope == "all"


# environment → the error
MISNAMED: list[tuple[str, str]] = [
    ("GOODBOT_SCOP", "environment: unknown setting GOODBOT_SCOP; did you mean GOODBOT_SCOPE?"),
    ("GOODBOT_COLOUR_OF_THE_SKY", "environment: unknown setting GOODBOT_COLOUR_OF_THE_SKY"),
]


@pytest.mark.parametrize(("name", "wrong"), MISNAMED)
def test_an_unknown_setting_in_the_environment_is_refused(name: str, wrong: str) -> None:
    with pytest.raises(InputError) as raised:
        from_environment(Settings(), {"GOODBOT_DEPTH": "3", name: "host"})
    assert str(raised.value) == wrong


def test_other_environment_variables_are_ignored() -> None:
    others = ("GOODBOT_CHECK_IGNORE", "_GOODBOT_COMPLETE", "GOODBOTS", "PATH")
    of_services = (
        "GOODBOT_SERVICE_HOST",
        "GOODBOT_WEB_SERVICE_PORT_HTTP",
        "GOODBOT_PORT",
        "GOODBOT_PORT_8020_TCP_ADDR",
    )
    environment = dict.fromkeys((*others, *of_services), "x")
    assert from_environment(Settings(), {**environment, "GOODBOT_DEPTH": "3"}) == Settings(depth=3)


def test_saved_settings_survive_a_full_disk(tmp_path: Path) -> None:
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


# setting → an invalid value, as written in goodbot.toml
BAD: dict[str, str] = {
    "seeds": '["example.org"]',
    "scope": '"bogus"',
    "depth": "-1",
    "include": '["docs"]',
    "exclude": '[""]',
    "types": '["html"]',
    "max_size": "0",
    "workers": "0",
    "concurrency": "true",
    "per_host": "0",
    "host_pages": "0",
    "delay": "nan",
    "agent": '"My Bot"',
    "contact": '"nobody"',
    "signature_agent": '"http://example.org/"',
    "signature_agent_form": '"May"',
    "dialect": '"dothraki"',
    "follow_rel": '"nofollow"',
    "clean_urls": "1",
    "duplicates": "1",
    "traps": "1",
    "sitemaps": "1",
    "allow_private": '"yes"',
    "ca_file": "1",
    "resolve": '["foo"]',
    "nameservers": '["dns.example"]',
    "auth": '["example.org"]',
    "cookies": "1",
    "proxy": '"foo"',
    "frontier": '"foo"',
    "archive_to": '"foo"',
    "render": "1",
    "index": "1",
    "archive": "1",
    "crawl_delay_most": "-1",
    "sign": "1",
    "render_executable": "1",
}
OPTIONS = [
    "--scope=bogus",
    "--depth=-1",
    "--include=docs",
    "--exclude=",
    "--type=html",
    "--max-size=0",
    "--workers=0",
    "--concurrency=many",
    "--per-host=0",
    "--host-pages=0",
    "--delay=-1",
    "--agent=My Bot",
    "--contact=nobody",
    "--sign=none",
    "--signature-agent=http://example.org/",
    "--signature-agent-form=May",
    "--dialect=dothraki",
    "--follow-rel=nofollow",
    "--ca-file=none",
    f"--ca-file={__file__}",
    "--resolve=foo",
    "--proxy=foo",
    "--proxy=http://127.0.0.1:99999",
    "--proxy=http://u:p\n@127.0.0.1:1",
    "--crawl-delay-most=-1",
    "--frontier=foo",
    "--archive-to=foo",
    "--archive-to=nonsense://foo",
]


def test_every_setting_refuses_some_value() -> None:
    numbers = {
        item.name for item in fields(Settings) if item.metadata["internal"] and type(item.default) in (int, float)
    }
    optional = {"robots_retry_first", "robots_retry_factor", "response_factor", "backoff_first", "backoff_most"}
    assert {item.name for item in fields(Settings)} - numbers - optional == BAD.keys()
    for name in numbers | optional:
        with pytest.raises(SettingError):
            replace(Settings(), **{name: -1})  # type: ignore[arg-type]


@pytest.mark.parametrize(("name", "value"), BAD.items())
def test_an_invalid_saved_value_is_reported_with_its_line(name: str, value: str, tmp_path: Path) -> None:
    folder = CrawlFolder(tmp_path)
    folder.settings_file.write_text(f"# asked for\nhost_lists = 7\n{name} = {value}\n")
    with pytest.raises(InputError) as raised:
        folder.settings(Settings())
    assert str(raised.value).startswith(f"{folder.settings_file}, line 3: ")
    if name == "proxy":  # a valid option replaces it
        assert folder.settings(Settings(), {"proxy": "http://localhost:3128"}).host_lists == 7


def test_a_missing_saved_file_is_reported_with_its_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "goodbot.toml").write_text('seeds = ["http://127.0.0.1:9/"]\nca_file = "gone"\nallow_private = true\n')
    assert main(["crawl", "--into", str(tmp_path)]) == 2
    message = f"{tmp_path}/goodbot.toml, line 2: there is no file of certificate authorities at {tmp_path}/gone"
    assert capsys.readouterr().err == f"goodbot: {message}; change or remove it there\n"


@pytest.mark.parametrize("option", OPTIONS)
def test_a_bad_option_leaves_nothing_behind(option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seed = ("http://127.0.0.1:9/", "--allow-private")
    given = (option, "--signature-agent=https://example.org/") if option.startswith("--sign=") else (option,)
    assert main(["crawl", *seed, "--into", str(tmp_path / "crawl"), *given]) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1, option
    assert not (tmp_path / "crawl").exists()


# setting → an invalid value in goodbot.toml, and the option that replaces it
REPLACED = [
    ('proxy = "foo"', "--proxy=http://127.0.0.1:1"),
    ('scope = "bogus"', "--scope=host"),
    ('types = ["html"]', "--type=text/html"),
    ("index = 1", "--index"),
    (f'ca_file = "{__file__}"', "--ca-file=ca.pem"),
]


@pytest.mark.parametrize(("kept", "option"), REPLACED)
def test_an_option_replaces_an_invalid_saved_value(
    kept: str, option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    trustme.CA().cert_pem.write_to_path("ca.pem")
    Path("d").mkdir()
    Path("d/goodbot.toml").write_text(f"allow_private = true\nworkers = 1\n{kept}\n")
    Path("left-out.txt").write_text("http://127.0.0.1:9/\n")
    crawl = ["crawl", "--into", "d", "--seeds", "left-out.txt", "--exclude=*"]
    assert main(crawl) == 2
    assert main([*crawl, option, "--dry-run"]) == 0
    assert main([*crawl, option]) == 0
    assert main(crawl) == 0


def test_files_are_kept_with_their_whole_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert Settings(ca_file="ca.pem", sign="key").ca_file == str(tmp_path / "ca.pem")
    (tmp_path / "goodbot.toml").write_text('ca_file = "ca.pem"\n')
    monkeypatch.chdir("/")
    assert load_settings(tmp_path / "goodbot.toml", Settings()).ca_file == str(tmp_path / "ca.pem")
    assert Settings(ca_file="").ca_file == ""


PROXIES = [
    "http://127.0.0.1",
    "https://proxy_1.test:3128/",
    "SOCKS5H://[::1]:1080",
    "socks4://[fe80::1%25lo]:1080",
    "http://user:p%20w:d@proxy.test:65535/path",
    "http://@proxy.test:",
]
NO_PROXIES = [
    "http://127.0.0.1:65536",
    "http://127.0.0.1:abc",
    "http://127.0.0.1:1 ",
    "http://:1",
    "http://user@",
    "http://user:p w@127.0.0.1:1",
    "http://user:p%0Aw@127.0.0.1:1",
    "http://user:p@@127.0.0.1:1",
    "http://[::1",
    "http://[::zz]:1",
    "http://[1.2.3.4]:1",
    "http://a,b:1",
    "http://a%20b:1",
    f"http://127.0.0.1:{'9' * 5000}",
]


def test_valid_proxies() -> None:
    for proxy in PROXIES:
        check_proxy(proxy)
    for proxy in NO_PROXIES:
        with pytest.raises(InputError):
            check_proxy(proxy)


@given(texts=lists(text()))
def test_texts_are_kept_as_they_are(texts: list[str]) -> None:
    try:
        settings = Settings(exclude=tuple(texts))
    except SettingError:  # a lone surrogate
        assert any("\ud800" <= character <= "\udfff" for one in texts for character in one)
        return
    with TemporaryDirectory() as folder:
        save_settings(Path(folder) / "goodbot.toml", settings)
        assert load_settings(Path(folder) / "goodbot.toml", Settings()) == settings
