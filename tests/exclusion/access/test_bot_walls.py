"""Answers that come from a bot wall, and answers that only look like it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion.access.bot_walls import LOOKED_AT_BYTES, WALLS, wall_of

HTML = ("Content-Type", "text/html; charset=UTF-8")
PADDING = b"<p>" + b"x" * LOOKED_AT_BYTES

# Challenge pages as they are laid out; keys, tokens and texts are made up.
PAGES = {
    "Cloudflare": b"""<!DOCTYPE html><html lang="en-US"><head><title>Just a moment...</title><meta name="robots"
      content="noindex,nofollow"></head><body><noscript>Enable JavaScript</noscript>
      <script>(function(){window._cf_chl_opt={cvId:'3',cType:'managed'};}());</script></body></html>""",
    "SiteGround": b"""<html><head><link rel="icon" href="data:;"><meta http-equiv="refresh"
      content="0;/.well-known/sgcaptcha/?r=%2F&y=ipc:192.0.2.1:1.2"></meta></head></html>""",
    "DataDome": b"""<html lang="en"><head><title>example.org</title></head><body><p id="cmsg">Enable JS</p>
      <script data-cfasync="false">var dd={'rt':'c','cid':'A','hsh':'B','host':'geo.captcha-delivery.com'}</script>
      <script data-cfasync="false" src="https://ct.captcha-delivery.com/c.js"></script></body></html>""",
    "HUMAN": b"""<!DOCTYPE html>
      <html lang="en"><head><meta charset="utf-8"><meta name="description" content="px-captcha">
      <title>Access to this page has been denied</title></head><body><script>
      window._pxVid = ''; window._pxAppId = 'PX1';</script></body></html>""",
    "Imperva": b"""<html style="height:100%"><head><META NAME="ROBOTS" CONTENT="NOINDEX, NOFOLLOW"></head><body>
      <iframe id="main-iframe" src="/_Incapsula_Resource?SWUDNSAI=31&xinfo=1" frameborder=0>Request unsuccessful.
      </iframe></body></html>""",
    "Akamai": b"""<!DOCTYPE html><html lang="en"><body><script type="text/javascript" src="/a/b?v=1&t=2"></script>
      <div id="sec-if-cpt-container" role="main" style="display: none"></div></body></html>""",
    "Sucuri": b"""<html><title>You are being redirected...</title>
      <noscript>Javascript is required.</noscript><script>var s={},w=String.fromCharCode,sucuri_cloudproxy_js='',S='bj';
      </script></html>""",
    "DDoS-Guard": b"""<!doctype html><html><head><title>DDoS-Guard</title><meta charset="utf-8">
      <script defer="defer" src="/.well-known/ddos-guard/js-challenge/index.js"></script></head></html>""",
    "Kasada": b"""<!DOCTYPE html><html><head></head><body><script>window.KPSDK={};KPSDK.now=typeof performance
      !=='undefined'?performance.now.bind(performance):Date.now.bind(Date);</script><script src="/1/ips.js">""",
    "Fastly": b"""<!DOCTYPE html><html lang="en"><head><title>Client Challenge</title>
      <link rel="stylesheet" href="/_fs-ch-1T1wmsGaOgGaSxcX/assets/styles.css"></head></html>""",
    "Anubis": b"""<!doctype html><html lang="en"><head><title>Making sure you&#39;re not a bot!</title>
      <script id="anubis_version" type="application/json">"v1.20.0"</script></head></html>""",
    "go-away": b"""<!DOCTYPE html>

      <html><head><title>Checking you are not a bot</title>
      <link rel="stylesheet" href="/.well-known/.git.gammaspectra.live/git/go-away/cmd/go-away/assets/style.css"/>""",
}

HEADERS = [
    ("Cloudflare", 403, ("cf-mitigated", "challenge")),
    ("Cloudflare", 200, ("CF-Mitigated", " Challenge ")),
    ("Cloudflare pay per crawl", 402, ("crawler-price", "USD 0.01")),
    ("AWS WAF", 202, ("x-amzn-waf-action", "challenge")),
    ("AWS WAF", 405, ("X-Amzn-Waf-Action", "captcha")),
    ("Vercel", 429, ("X-Vercel-Mitigated", "challenge")),
    ("SiteGround", 202, ("sg-captcha", "challenge")),
    ("DataDome", 403, ("X-DD-B", "1")),
]


@pytest.mark.parametrize(("name", "status", "header"), HEADERS)
def test_a_header_identifies_the_wall_whatever_the_body(name: str, status: int, header: tuple[str, str]) -> None:
    for body in (b"", b"User-agent: *\nDisallow:\n", b"\xff\x00"):
        wall = wall_of(status, [("Server", "x"), header], body)
        assert wall is not None
        assert wall.name == name


@pytest.mark.parametrize(("name", "page"), PAGES.items())
def test_marks_identify_the_wall(name: str, page: bytes) -> None:
    statuses = next(wall for wall in WALLS if wall.name == name).statuses or (200, 202, 403, 429, 503)
    for status in statuses:
        for body in (page, b"\xef\xbb\xbf\n " + page.replace(b"\n", b"\r\n"), page + PADDING):
            wall = wall_of(status, [HTML], body)
            assert wall is not None
            assert wall.name == name
        assert wall_of(status, [], page) is wall


def test_the_page_that_cloudflare_sent_until_2022() -> None:
    page = b"""<!DOCTYPE HTML><html><head><title>Just a moment...</title></head><body>
      <form class="challenge-form" id="challenge-form" action="/?__cf_chl_jschl_tk__=1" method="POST">"""
    wall = wall_of(503, [HTML], page)
    assert wall is not None
    assert wall.name == "Cloudflare"


def article(text: bytes) -> bytes:
    return b"<!doctype html><html><head><title>How walls work</title></head><body><article>" + text + b"</article>"


def escaped(page: bytes) -> bytes:
    return page.replace(b"&", b"&amp;").replace(b"<", b"&lt;").replace(b">", b"&gt;")


WIDGETS = {
    "hCaptcha": b'<form><div class="h-captcha" data-sitekey="1"></div></form><script src="https://js.hcaptcha.com/1/api.js">',
    "Turnstile": b"""<form><div class="cf-turnstile" data-sitekey="1"></div></form>
      <script src="https://challenges.cloudflare.com/turnstile/v0/api.js"></script>""",
    "Cloudflare": b"""<html><script>(function(){window.__CF$cv$params={r:'1'};})()</script>
      <script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>""",
    "Imperva": b'<html><p>Hello<script src="/_Incapsula_Resource?SWJIYLWA=1&ns=2"></script>',
    "DataDome": b"<script>window.ddjskey='A'</script><script src='https://js.datadome.co/tags.js'></script>",
    "HUMAN": b"<html><script>window._pxAppId = 'PX1';</script><p>Hello",
}
"""What ordinary pages of protected sites hold."""

NEAR_MISSES = [
    ("an article that shows the code", 200, [HTML], article(b"<pre><code>" + escaped(b"".join(PAGES.values())))),
    ("an article titled so", 200, [HTML], b"<html><title>Just a moment...</title><p>Cloudflare says cf-mitigated"),
    ("a challenge page as a file of text", 200, [("Content-Type", "text/plain")], PAGES["Cloudflare"]),
    ("a challenge page in JSON", 200, [("content-type", "application/json")], PAGES["Anubis"]),
    ("a login page with hCaptcha", 200, [HTML], WIDGETS["hCaptcha"]),
    ("a login page with Turnstile", 200, [HTML], WIDGETS["Turnstile"]),
    ("a page behind Cloudflare", 200, [HTML, ("cf-ray", "8f2b3c4d5e6f7-SJC")], WIDGETS["Cloudflare"]),
    ("a page behind Imperva", 200, [HTML, ("X-CDN", "Imperva"), ("X-Iinfo", "1")], WIDGETS["Imperva"]),
    ("a page behind DataDome", 200, [HTML, ("X-DataDome", "protected")], WIDGETS["DataDome"]),
    ("a page behind HUMAN", 200, [HTML], WIDGETS["HUMAN"]),
    ("a page of a site with Kasada", 200, [HTML, ("x-kpsdk-ct", "0")], b"<html><script src=/1/p.js></script>"),
    ("a page behind Kasada", 200, [HTML], b"<p>Hello".join(PAGES["Kasada"].partition(b"<body>")[::2])),
    ("a page with a price in the header", 200, [HTML, ("crawler-price", "USD 1")], b"<p>Hello"),
    ("refused by a plain server", 403, [HTML], b"<html><head><title>403 Forbidden</title></head><body><hr>nginx"),
    ("refused by Cloudflare", 403, [HTML, ("cf-mitigated", "block")], b"<title>Attention Required! | Cloudflare"),
    ("refused by Akamai", 403, [HTML], b"<HTML><HEAD><TITLE>Access Denied</TITLE></HEAD><BODY>Reference&#32;&#35;18"),
    ("refused by Vercel", 403, [HTML, ("x-vercel-mitigated", "deny")], b"<p>Forbidden"),
    ("a price that is no wall's", 402, [HTML], b"<h1>Payment Required"),
    ("rules", 200, [("Content-Type", "text/plain")], b"# Just a moment...\nUser-agent: *\nDisallow: /cdn-cgi/\n"),
    ("marks far down", 200, [HTML], PADDING + PAGES["Akamai"]),
    ("nothing", 200, [], b""),
]


@pytest.mark.parametrize(
    ("status", "headers", "body"), [row[1:] for row in NEAR_MISSES], ids=[r[0] for r in NEAR_MISSES]
)
def test_near_misses(status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    assert wall_of(status, headers, body) is None


def test_every_record_has_a_source_and_is_tried_here() -> None:
    assert all("." in wall.source for wall in WALLS)
    assert len({wall.name for wall in WALLS}) == len(WALLS)
    assert {wall.name for wall in WALLS} == PAGES.keys() | {name for name, _, _ in HEADERS}
    assert all((name, value) == (name.lower(), value.lower()) for wall in WALLS for name, value in wall.headers)


_NAMES = st.sampled_from([name for wall in WALLS for name, _ in wall.headers]) | st.text(max_size=20)
_VALUES = st.sampled_from(["challenge", "captcha", "CHALLENGE\x00"]) | st.text(max_size=20)


@given(st.integers(), st.lists(st.tuples(_NAMES, _VALUES), max_size=4), st.binary(max_size=200))
def test_never_raises(status: int, headers: list[tuple[str, str]], body: bytes) -> None:
    wall = wall_of(status, headers, body)
    assert wall is None or wall in WALLS
    assert wall_of(status, iter(headers), b"<" + body) in (None, *WALLS)


def test_hostile_answers_are_bounded() -> None:
    assert wall_of(200, [("cf-mitigated", "c" * 10_000_000)], b"<" * 10_000_000) is None
    assert wall_of(200, [("x" * 100, "y")] * 100_000, b" " * 10_000_000) is None
