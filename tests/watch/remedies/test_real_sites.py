"""Remedies work in configurations that contain more: another remedy, rewriting, redirects, sections of their own."""

import sys
from collections.abc import Iterator
from typing import Final

import pytest

from goodbot.registry import bundled_registry
from goodbot.watch.remedies.choosing import parse_network
from goodbot.watch.remedies.kinds import configuration
from goodbot.watch.remedies.targets import Rate, Remedy, TargetRobot, Targets
from watch.remedies.remedy_servers import status_of
from watch.remedies.remedy_sites import apache_sites, caddy_sites, nginx_sites
from watch.remedies.remedy_targets import known, made_list

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="each request comes from an address of its own")

BROWSER: Final = "Mozilla/5.0 (X11; Linux x86_64; rv:144.0) Gecko/20100101 Firefox/144.0"
CLIENT: Final = "127.0.0.1"

GPTBOT: Final = Targets((TargetRobot(known("GPTBot")),))
CCBOT: Final = Targets((TargetRobot(known("CCBot")),))
BINGBOT: Final = Targets((TargetRobot(known("bingbot")),))
NOT_GOOGLEBOT: Final = Targets((), (TargetRobot(known("Googlebot"), (made_list("127.0.0.64/28"),)),))
NOT_CCBOT: Final = Targets((), (TargetRobot(known("CCBot"), (made_list("127.0.0.80/28"),)),))
ADDRESSES: Final = Targets((), (), (parse_network("::ffff:127.0.9.1"), parse_network("::ffff:127.0.9.64/122")))


def made(kind: str, targets: Targets, rate: Rate | None = None) -> Remedy:
    return configuration(kind, targets, rate, bundled_registry())  # type: ignore[arg-type]


def parts(place: int, *remedies: Remedy) -> str:
    return "\n".join(remedy.parts[place].text for remedy in remedies)


# site, address, User-Agent, path, status
Case = tuple[str, str, str, str, int]


def wrong(port: int, cases: list[Case]) -> list[tuple[Case, int]]:
    """Returns the cases whose request is answered with another status, and that status."""
    answers = [(case, status_of(port, *case[1:4], Host=case[0])) for case in cases]
    return [(case, status) for case, status in answers if status != case[4]]


# ---- nginx ----------------------------------------------------------------------------------------------------------

TWO_BLOCKS: Final = (
    made("nginx", GPTBOT),
    made("nginx", CCBOT),
    made("nginx", NOT_GOOGLEBOT),
    made("nginx", NOT_CCBOT),
)
BLOCK_AND_RATE: Final = (made("nginx", CCBOT), made("nginx", GPTBOT, Rate(1, 60)))
MIXED: Final = made("nginx", Targets(GPTBOT.robots, (), ADDRESSES.networks), Rate(1, 60))


@pytest.fixture(scope="module")
def nginx(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    http = parts(0, *TWO_BLOCKS, BLOCK_AND_RATE[1], MIXED, made("nginx", ADDRESSES))
    blocks = {
        "blocks": parts(1, *TWO_BLOCKS) + "rewrite ^/old$ /robots.txt; try_files $uri /front;",
        "rate": parts(1, *BLOCK_AND_RATE),
        "rewritten": parts(1, BLOCK_AND_RATE[1]) + "rewrite ^ /front break;",
        "mixed": parts(1, MIXED),
        "addresses": parts(1, made("nginx", ADDRESSES)),
    }
    with nginx_sites(tmp_path_factory.mktemp("nginx"), http, blocks) as port:
        yield port


def test_two_remedies_in_one_nginx(nginx: int) -> None:
    cases = [
        ("blocks", CLIENT, BROWSER, "/page", 200),
        ("blocks", CLIENT, "GPTBot/1.3", "/page", 403),
        ("blocks", "127.0.0.81", "CCBot/2.0", "/page", 403),
        ("blocks", "127.0.0.65", "Googlebot/2.1", "/page", 200),
        ("blocks", CLIENT, "Googlebot/2.1", "/page", 403),
        ("blocks", CLIENT, "GPTBot/1.3", "/robots.txt", 200),  # the front controller answers
        ("blocks", CLIENT, "GPTBot/1.3", "/old", 403),
        ("rate", CLIENT, "CCBot/2.0", "/page", 403),
    ]
    assert wrong(nginx, cases) == []
    assert [status_of(nginx, CLIENT, "GPTBot/1.3", Host="rate") for _ in range(8)] == [200] * 6 + [429] * 2
    assert status_of(nginx, CLIENT, "GPTBot/1.3", Host="rewritten") == 429
    assert [status_of(nginx, CLIENT, "GPTBot/1.3", "/robots.txt", Host="rewritten") for _ in range(8)] == [200] * 8


def test_a_robot_has_one_rate_at_all_given_addresses(nginx: int) -> None:
    """And an address one rate under all names."""
    robot = [status_of(nginx, f"127.0.9.{number}", "GPTBot/1.3", Host="mixed") for number in range(64, 74)]
    assert robot == [200] * 6 + [429] * 4
    address = [status_of(nginx, "127.0.9.1", agent, Host="mixed") for agent in ("x", "y", BROWSER) * 3]
    assert address == [200] * 6 + [429] * 3


# ---- Apache ---------------------------------------------------------------------------------------------------------

FRONT: Final = "RewriteEngine On\nRewriteCond %{REQUEST_FILENAME} !-f\nRewriteRule . /front [L]\n"
APACHE: Final = made("apache", GPTBOT).text


@pytest.fixture(scope="module")
def apache() -> Iterator[int]:
    blocks = {
        "front": APACHE,
        "htaccess": "",
        "two": APACHE + parts(0, made("apache", NOT_CCBOT), made("apache", NOT_GOOGLEBOT)),
        "later-if": f'{APACHE}<If "true">\nRequire all granted\n</If>\n',
        "sections": '<If "true">\nRequire all granted\n</If>\n'
        + APACHE
        + "<Location /page>\nRequire all granted\n</Location>\nRedirect /moved /page\n"
        "RewriteEngine On\nRewriteRule ^/old$ /robots.txt [L]\nRewriteRule ^/robots.txt$ - [R=204]\n"
        "<Location /closed>\nRequire all denied\n</Location>\n",
        "addresses": made("apache", ADDRESSES).text,
    }
    htaccess = {"front": FRONT, "htaccess": APACHE + FRONT}
    with apache_sites(made("apache", BINGBOT).text, blocks, htaccess) as port:
        yield port


@pytest.mark.parametrize("site", ["front", "htaccess"])
def test_robots_txt_of_a_front_controller(apache: int, site: str) -> None:
    cases = [
        (site, CLIENT, "GPTBot/1.3", "/robots.txt", 200),
        (site, CLIENT, "GPTBot/1.3", "/robots.txt?x=1", 200),
        (site, CLIENT, "GPTBot/1.3", f"http://{site}/robots.txt", 200),
        (site, CLIENT, "GPTBot/1.3", "/page", 403),
        (site, CLIENT, "GPTBot/1.3", "/", 403),
        (site, CLIENT, "GPTBot/1.3", "/none", 403),
        (site, CLIENT, "GPTBot/1.3", "/robots.txt/none", 403),
        (site, CLIENT, "GPTBot/1.3", "/none?/robots.txt", 403),
        (site, CLIENT, BROWSER, "/none", 200),
    ]
    assert wrong(apache, cases) == []


def test_two_remedies_in_one_virtual_host(apache: int) -> None:
    """And one in the configuration of the server, which is for all its virtual hosts."""
    cases = [
        ("two", "127.0.0.65", "Googlebot/2.1", "/page", 200),
        ("two", "127.0.0.81", "Googlebot/2.1", "/page", 403),
        ("two", "127.0.0.81", "CCBot/2.0", "/page", 200),
        ("two", "127.0.0.65", "CCBot/2.0", "/page", 403),
        ("two", CLIENT, "GPTBot/1.3", "/page", 403),
        ("two", CLIENT, BROWSER, "/page", 200),
        ("two", CLIENT, "bingbot/2.0", "/page", 403),
        ("front", CLIENT, "bingbot/2.0", "/page", 403),
        ("htaccess", CLIENT, "bingbot/2.0", "/page", 403),
        ("htaccess", CLIENT, "bingbot/2.0", "/robots.txt", 200),
    ]
    assert wrong(apache, cases) == []


def test_other_sections_of_apache_cancel_nothing(apache: int) -> None:
    """But for an `<If>` after the remedy, as the comment says."""
    cases = [
        ("later-if", CLIENT, "GPTBot/1.3", "/page", 200),
        ("sections", CLIENT, "GPTBot/1.3", "/page", 403),
        ("sections", CLIENT, "GPTBot/1.3", "/old", 403),
        ("sections", CLIENT, "GPTBot/1.3", "/robots.txt", 204),
        ("sections", CLIENT, "GPTBot/1.3", "/moved", 302),  # and what follows the redirect is refused
        ("sections", CLIENT, BROWSER, "/page", 200),
        ("sections", CLIENT, BROWSER, "/closed", 403),
    ]
    assert wrong(apache, cases) == []


# ---- Caddy ----------------------------------------------------------------------------------------------------------

CADDY: Final = (made("caddy", GPTBOT), made("caddy", CCBOT), made("caddy", NOT_GOOGLEBOT))


@pytest.fixture(scope="module")
def caddy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    site, block = parts(1, *CADDY), parts(2, *CADDY)
    blocks = {
        "alone": f"{site}\nredir /moved /page\nrespond /hello hi\nfile_server",
        "handles": f"{site}\nhandle /a* {{\n{block}\nrespond a\n}}\nhandle_path /b/* {{\n{block}\nrespond b\n}}\n"
        f"handle {{\n{block}\nfile_server\n}}",
        "nested": f"{site}\nhandle /a* {{\n{block}\nroute /a/b* {{\n{block}\nrespond ab\n}}\nrespond a\n}}\n"
        "file_server",
        "route": f"{site}\nroute {{\n{block}\nredir /moved /page\nrewrite * /front\nfile_server\n}}",
        "front": f"{site}\nrewrite /old /robots.txt\ntry_files {{path}} /front\nfile_server",
        "addresses": parts(1, made("caddy", ADDRESSES)) + "file_server",
    }
    common = parts(0, *CADDY, made("caddy", ADDRESSES))
    with caddy_sites(tmp_path_factory.mktemp("caddy"), common, blocks) as port:
        yield port


@pytest.mark.parametrize(
    ("site", "paths"),
    [
        ("alone", {"/page": 200, "/hello": 200, "/none": 404, "/": 200}),
        ("handles", {"/a": 200, "/b/x": 200, "/b/robots.txt": 200, "/page": 200}),
        ("nested", {"/a": 200, "/a/b": 200, "/page": 200}),
        ("route", {"/page": 200, "/moved": 302}),
        ("front", {"/page": 200, "/none": 200}),
    ],
)
def test_each_layout_of_caddy(caddy: int, site: str, paths: dict[str, int]) -> None:
    """`paths`: the status for a browser."""
    cases = [
        case
        for path, status in paths.items()
        for case in (
            (site, CLIENT, BROWSER, path, status),
            (site, "127.0.0.65", "Googlebot/2.1", path, status),
            (site, CLIENT, "GPTBot/1.3", path, 403),
            (site, CLIENT, "CCBot/2.0", path, 403),
            (site, CLIENT, "Googlebot/2.1", path, 403),
            (site, CLIENT, "Googlebot/2.1 like googlebot", path, 403),
        )
    ]
    assert wrong(caddy, cases) == []


def test_caddy_rewrites_and_redirects(caddy: int) -> None:
    cases = [
        ("front", CLIENT, "GPTBot/1.3", "/robots.txt", 200),
        ("front", CLIENT, "GPTBot/1.3", "/old", 403),
        ("route", CLIENT, "GPTBot/1.3", "/robots.txt", 200),
        ("alone", CLIENT, "GPTBot/1.3", "/robots.txt", 404),
        ("alone", CLIENT, "GPTBot/1.3", "/moved", 302),  # and what follows the redirect is refused
    ]
    assert wrong(caddy, cases) == []


# ---- addresses ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("server", ["nginx", "apache", "caddy"])
def test_an_ipv4_address_within_ipv6(server: str, request: pytest.FixtureRequest) -> None:
    """The servers listen on IPv6 too, so they see `::ffff:127.0.9.1` themselves."""
    cases = [
        ("addresses", address, BROWSER, "/page", status)
        for address, status in (("127.0.9.1", 403), ("127.0.9.70", 403), ("127.0.9.2", 200))
    ]
    assert wrong(request.getfixturevalue(server), cases) == []
