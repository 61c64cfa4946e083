"""Whatever a hostile page tries in a real Chromium, its requests go through the robot's transport or fail."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from playwright.async_api import async_playwright

from goodbot.values import Capture
from nameserver import one_port
from robot.render.rendering_rig import (
    CHROMIUM,
    NAME,
    NEEDS_CHROMIUM,
    OPEN_TO_ALL,
    SCRIPT,
    rig,
    scripted,
    story,
)
from webserver import Route, WebServer, answer

pytestmark = [NEEDS_CHROMIUM, pytest.mark.long]


class Canary(asyncio.DatagramProtocol):
    """Sockets that note whoever comes: TCP and UDP at one port."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.sings = asyncio.Event()
        self.port = 0

    def hear(self, what: str) -> None:
        self.heard.append(what)
        self.sings.set()

    def datagram_received(self, data: bytes, addr: tuple[str | int, ...]) -> None:
        self.hear(f"UDP from {addr}: {data[:80]!r}")

    async def accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.hear("TCP, and nothing said")
        place = len(self.heard) - 1
        self.heard[place] = f"TCP: {(await reader.read(200))!r}"
        writer.close()
        await writer.wait_closed()


@asynccontextmanager
async def canary() -> AsyncIterator[Canary]:
    bird = Canary()
    tcp, udp = one_port()
    bird.port = tcp.getsockname()[1]
    async with await asyncio.start_server(bird.accepted, sock=tcp):
        transport, _ = await asyncio.get_running_loop().create_datagram_endpoint(lambda: bird, sock=udp)
        try:
            yield bird
        finally:
            transport.close()


ESCAPES = {
    "image": "new Image().src = `${H}/image`",
    "fetch": "fetch(`${H}/fetch`, {mode: 'no-cors'}).catch(() => 0)",
    "keepalive": "fetch(`${H}/keepalive`, {keepalive: true, mode: 'no-cors', method: 'POST'}).catch(() => 0)",
    "preflight": "fetch(`${H}/preflight`, {method: 'PUT', headers: {'X-A': 'b'}}).catch(() => 0)",
    "xhr": "{ const x = new XMLHttpRequest(); x.open('GET', `${H}/xhr`); x.send() }",
    "beacon": "navigator.sendBeacon(`${H}/beacon`, 'x')",
    "socket": "new WebSocket(`ws://${A}/socket`)",
    "stream": "new WebSocketStream(`ws://${A}/stream`)",
    "events": "new EventSource(`${H}/events`)",
    "transport": "new WebTransport(`https://${A}/transport`)",
    "rtc": "{ const c = new RTCPeerConnection({iceServers: [{urls: `stun:${A}`}, {urls: `turn:${A}?transport=tcp`, "
    "username: 'u', credential: 'c'}]}); c.createDataChannel('x'); c.createOffer().then(o => c.setLocalDescription(o)) "
    "}",
    "rtc of a frame": "{ const f = document.createElement('iframe'); document.body.append(f); const c = new "
    "f.contentWindow.RTCPeerConnection({iceServers: [{urls: `stun:${A}`}]}); c.createDataChannel('x'); "
    "c.createOffer().then(o => c.setLocalDescription(o)) }",
    "hints": "for (const rel of ['prefetch', 'preload', 'modulepreload', 'preconnect', 'dns-prefetch', 'icon', "
    "'manifest', 'stylesheet', 'prerender']) document.head.insertAdjacentHTML('beforeend', "
    "`<link rel=${rel} as=script href='${H}/${rel}'>`)",
    "frame": "document.body.insertAdjacentHTML('beforeend', `<iframe src='${H}/frame'></iframe>`)",
    "object": "document.body.insertAdjacentHTML('beforeend', `<object data='${H}/object'></object><embed "
    "src='${H}/embed'>`)",
    "media": "document.body.insertAdjacentHTML('beforeend', `<video src='${H}/video' autoplay></video><audio "
    "src='${H}/audio' autoplay></audio><track src='${H}/track'>`)",
    "style": "document.head.insertAdjacentHTML('beforeend', `<style>@import '${H}/import'; body { background: "
    "url(${H}/background) } @font-face { font-family: f; src: url(${H}/font) } body { font-family: f }</style>`)",
    "svg": "document.body.insertAdjacentHTML('beforeend', `<svg><image href='${H}/svg'/><use href='${H}/use#a'/>"
    "</svg>`)",
    "worker": "new Worker(URL.createObjectURL(new Blob([`fetch('${H}/worker').catch(() => 0); "
    "new WebSocket('ws://${A}/worker-socket'); importScripts('${H}/imported')`])))",
    "worker of a worker": "new Worker(URL.createObjectURL(new Blob([`new Worker(URL.createObjectURL(new Blob(["
    "\"fetch('${H}/inner').catch(() => 0)\"])))`])))",
    "shared worker": "new SharedWorker('data:text/javascript,' + encodeURIComponent(`fetch('${H}/shared')`))",
    "service worker": "navigator.serviceWorker.register('/worker.js').catch(() => 0)",
    "worklet": "CSS.paintWorklet && CSS.paintWorklet.addModule(`${H}/worklet`).catch(() => 0)",
    "speculation": "document.head.append(Object.assign(document.createElement('script'), {type: 'speculationrules', "
    "textContent: JSON.stringify({prefetch: [{urls: [`${H}/speculation`], eagerness: 'immediate'}], prerender: "
    "[{urls: ['/prerender'], eagerness: 'immediate'}]})}))",
    "window": "window.open(`${H}/window`); window.open(`${H}/noopener`, '_blank', 'noopener')",
    "click": "document.body.insertAdjacentHTML('beforeend', `<a id=a target=_blank href='${H}/click' "
    "ping='${H}/ping'>x</a>`); document.getElementById('a').click()",
    "download": "document.body.insertAdjacentHTML('beforeend', `<a id=d download href='${H}/download'>x</a>`); "
    "document.getElementById('d').click()",
    "form": "document.body.insertAdjacentHTML('beforeend', `<form id=f target=n action='${H}/form'></form><form id=g "
    "method=post action='${H}/post'></form><iframe name=n></iframe>`); f.submit(); g.submit()",
    "data frame": "document.body.insertAdjacentHTML('beforeend', `<iframe src=\"data:text/html,<img src=${H}/data>"
    "<script>fetch('${H}/data-fetch')</script>\"></iframe>`)",
    "blob frame": "document.body.append(Object.assign(document.createElement('iframe'), {src: URL.createObjectURL("
    "new Blob([`<img src=${H}/blob><script>fetch('${H}/blob-fetch')</script>`], {type: 'text/html'}))}))",
    "srcdoc": "document.body.append(Object.assign(document.createElement('iframe'), {srcdoc: `<meta "
    "http-equiv=refresh content='0;${H}/refresh-in-frame'><img src=${H}/srcdoc>`}))",
    "file": "fetch('file:///etc/passwd').catch(() => 0); document.body.insertAdjacentHTML('beforeend', `<iframe "
    "src='file:///etc/passwd'></iframe>`); try { location = 'file:///etc/passwd' } catch (e) {}",
    "inside": "fetch('chrome://version').catch(() => 0); try { location = 'chrome://version' } catch (e) {}; try { "
    "location = 'view-source:' + H } catch (e) {}; try { location = 'ftp://' + A } catch (e) {}",
    "refresh": "document.head.insertAdjacentHTML('beforeend', `<meta http-equiv=refresh "
    "content='0;url=${H}/refresh'>`)",
    "redirect": "fetch('/redirect', {mode: 'no-cors'}).catch(() => 0); document.body.insertAdjacentHTML('beforeend', "
    "`<iframe src='/redirect'></iframe>`)",
    "location": "setTimeout(() => location = `${H}/location`, 100)",
    "policy": "document.head.insertAdjacentHTML('beforeend', `<meta http-equiv=Content-Security-Policy "
    "content='img-src none; report-uri ${H}/csp'>`); new Image().src = '/violates'",
    "unload": "addEventListener('pagehide', () => navigator.sendBeacon(`${H}/unload`, 'x'))",
    "named host": "fetch('http://canary.invalid/x').catch(() => 0); new WebSocket('ws://canary.invalid/')",
    "attribution": "fetch(`${H}/attribution`, {attributionReporting: {eventSourceEligible: true, triggerEligible: "
    "false}}).catch(() => 0)",
    "later": "window.fetchLater && fetchLater(`${H}/later`, {activateAfter: 0})",
    "push": "navigator.credentials && navigator.credentials.get({identity: {providers: [{configURL: "
    "`${H}/fedcm.json`, clientId: 'x'}]}}).catch(() => 0)",
    "payment": "new PaymentRequest([{supportedMethods: `${H}/pay`}], {total: {label: 'x', amount: {currency: 'EUR', "
    "value: '1'}}}).canMakePayment().catch(() => 0)",
}


def hostile(place: str) -> bytes:
    """A script that tries every way to `place`."""
    lines = [f"try {{ {escape} }} catch (e) {{}}" for escape in ESCAPES.values()]
    script = f"const A = '{place}', H = 'http://{place}';" + "\n".join([*lines, "document.title = 'tried'"])
    return answer(script.encode(), headers=SCRIPT)


async def test_the_same_page_reaches_the_listener_in_a_browser_without_barriers() -> None:
    """The canary can hear: else its silence would prove nothing."""
    page = answer(b"<title>t</title><body><script src=/hostile.js></script>")
    async with canary() as bird, WebServer({"/": page}) as server, async_playwright() as playwright:
        server.routes["/hostile.js"] = hostile(f"127.0.0.1:{bird.port}")
        browser = await playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"], timeout=0)
        tab = await browser.new_page()
        await tab.goto(server.url(), wait_until="commit", timeout=0)
        await bird.sings.wait()
        await browser.close()


async def test_nothing_a_hostile_page_does_reaches_anyone_but_through_our_transport() -> None:
    """Its canary has a robots.txt that forbids all: of us it hears that one question, and of Chromium nothing."""
    async with canary() as bird, WebServer({"/robots.txt": answer(b"User-agent: *\nDisallow: /\n")}) as honest:
        for place in (f"127.0.0.1:{bird.port}", f"localhost:{bird.port}", f"127.0.0.1:{honest.port}"):
            hidden = f'<link rel=dns-prefetch href="http://{place}/"><link rel=preconnect href="http://{place}/">'
            headers = [
                ("Content-Type", "text/html"),
                ("Link", f"<http://{place}/link>; rel=preload; as=script, <http://{place}/>; rel=preconnect"),
                ("Refresh", f"0; url=http://{place}/header"),
                ("NEL", '{"report_to":"n","max_age":600,"success_fraction":1}'),
                ("Report-To", f'{{"group":"n","max_age":600,"endpoints":[{{"url":"https://{place}/nel"}}]}}'),
                ("Reporting-Endpoints", f'default="https://{place}/reports"'),
                ("Content-Security-Policy-Report-Only", f"default-src 'none'; report-uri http://{place}/csp-only"),
                ("Set-Cookie", "a=b"),
            ]
            page = f"<!doctype html><title>t</title>{hidden}<body><script src=/hostile.js></script>"
            routes: dict[str, Route] = {
                "/": answer(page.encode(), headers=headers),
                "/hostile.js": hostile(place),
                "/redirect": answer(status=302, headers=[("Location", f"http://{place}/redirected")]),
                "/worker.js": answer(f"fetch('http://{place}/sw')".encode(), headers=SCRIPT),
            }
            async with rig(routes, render_time=15.0) as made:
                read, rendered = await made.render()
                assert read.title == "tried", story(rendered)
                assert {exchange.header("user-agent") for exchange in made.server.exchanges} == {NAME}
        forbidden = [line for line in bird.heard if "GET /robots.txt" not in line or NAME not in line]
        assert forbidden == []
        assert set(honest.targets) == {"/robots.txt"}
        assert {exchange.header("user-agent") for exchange in honest.exchanges} == {NAME}


async def test_a_page_of_a_public_host_cannot_request_a_private_address() -> None:
    async with WebServer({"/robots.txt": OPEN_TO_ALL}) as inside:
        script = f"fetch('{inside.url('/secret')}').catch(() => 0)"
        async with rig({"/": scripted(script, body="text")}) as made:
            came = await made.fetch()
            public = Capture(came.request, came.result, came.fetched_at, came.elapsed_s, "93.184.216.34")
            rendered = await made.renderer.render(public)
            assert rendered is not None
            assert "a public page requests the private address" in story(rendered)
            assert inside.targets == []
