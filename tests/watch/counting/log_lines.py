"""Draws log lines: of the combined format with every odd detail, and of all other formats mixed."""

from collections.abc import Sequence
from typing import Final

from hypothesis import strategies as st

TEN: Final = 1_789_466_400
"""15 September 2026, 10:00 UTC: most lines are a few seconds later."""

# ---- the combined format --------------------------------------------------------------------------------------------

ADDRESSES = [
    *("192.0.2.1", "192.0.2.2", "2001:db8::1", "::ffff:192.0.2.1", "66.249.66.1"),
    *("host.example", "a:80", "[::1]", "a,", "a\0b"),
]
IDENTS = [" - - ", " - - ", " - - ", " - bob ", " - two words ", " x y z ", " ", "  - - "]
AGENTS = ["-", "", "Mozilla/5.0", "GPTBot/1.3", "Googlebot/2.1", "curl/8", "x\\", 'x\\"y', "\xff\xfe", "bingbot"]
REFERRERS = ["-", "", "http://x.example/", 'a\\"b']
TARGETS = [
    *("/", "/a.css", "/robots.txt", "/b?c=d", "/.env", "/wp-login.php", "/..%2fetc"),
    *("/\xff", "/" + "x" * 3000, '/"', "*"),
]
METHODS = ["GET", "HEAD", "POST", "get", ""]
STATUSES = ["200", "304", "404", "503", "099", "1000", "-", "000", "2x0"]
SIZES = ["5", "0", "-", "", "9" * 12, "9" * 13, "9" * 15, "9" * 16, "9" * 20, "1 2", "\xb2"]
TIMES = [*(f"{second:02} +0000" for second in (0, 0, 1, 1, 2, 30, 59)), "61 +0000", "10 +0530", "10 -0000", "xx +0000"]
ENDS = ["", "", "", "\r", " ", " 0.125", ' "203.0.113.9"', '"']
ODD = [
    "",
    "{}",
    '{"status":200}',
    "#Fields: date time c-ip",
    "\x16\x03\x01",
    '""""""',
    "x" * 70_000,
    '" " " " " "',
    "\0",
]


@st.composite
def combined_lines(draw: st.DrawFn) -> bytes:
    """Draws a line, most of them regular."""

    def pick(choices: Sequence[str]) -> str:
        return draw(st.sampled_from(choices))

    if draw(st.integers(0, 14)) == 0:
        return str(pick(ODD)).encode("latin-1")
    day = pick(["14", "15", "15", "15", "31"])
    request = f"{pick(METHODS)} {pick(TARGETS)} HTTP/1.1" if draw(st.integers(0, 9)) else pick(["", "-", "\\x16\\x03"])
    text = (
        f"{pick(ADDRESSES)}{pick(IDENTS)}[{day}/Sep/2026:{pick(['10', '11', '23'])}:00:{pick(TIMES)}] "
        f'"{request}" {pick(STATUSES)} {pick(SIZES)} "{pick(REFERRERS)}" "{pick(AGENTS)}"{pick(ENDS)}'
    )
    cut = draw(st.integers(0, 40))
    return (text if cut else text[: draw(st.integers(0, len(text)))]).encode("latin-1")


combined_logs = st.lists(combined_lines(), max_size=25).map(b"\n".join)

# ---- all formats ----------------------------------------------------------------------------------------------------

COLUMNS = "#Fields: date time c-ip cs-method cs-uri-stem cs-uri-query sc-status sc-bytes"
HEADERS = [
    f"{COLUMNS} cs(User-Agent) time-taken",
    f"{COLUMNS} time-taken cs(User-Agent)",
    "#Fields: time date",
    "#Version: 1.0",
]
SHAPES = [
    '{address} - - [{time}] "{request}" {status} {size} "-" "{agent}"',
    '{address} - - [{time}] "{request}" {status} {size} "http://x.example/" "{agent}"\r',
    '{address} - bob [{time}] "{request}" {status} {size} "-" "{agent}"',
    '{address} - - [{time}] "{request}" {status} {size}',
    'example.org:80 {address} - - [{time}] "{request}" {status} {size} "-" "{agent}"',
    '{address} - - [{time}] "{request}" {status} {size} "-" "{agent}" {seconds}',
    '{address} - - [{time}] "{request}" {status} {size} "-" "{agent}" "{forwarded}"',
    '{address} - - [{time}] "{request}" {status} {size} "-" "{agent}" rt={seconds} xff="{forwarded}"',
    (
        '{{"remote_addr":"{address}","time":{at},"request":"{request}","status":{status},"size":{size},'
        '"http_user_agent":"{agent}","request_time":{seconds},"x_forwarded_for":"{forwarded}"}}'
    ),
    (
        '{{"ts":{at}.5,"logger":"http.log.access.log0","request":{{"remote_ip":"{address}","method":"GET","uri":"/",'
        '"headers":{{"User-Agent":["{agent}"],"X-Forwarded-For":["{forwarded}"]}}}},"status":{status},"size":{size},'
        '"duration":{seconds}}}'
    ),
    "2026-09-15 10:00:0{digit} {address} GET /b {digit} {status} {size} {agent} {digit}000 - - - - - - -",
    "{header}",
]


@st.composite
def mixed_lines(draw: st.DrawFn) -> bytes:
    """Draws a line of any format."""

    def pick(choices: Sequence[str]) -> str:
        return draw(st.sampled_from(choices))

    if draw(st.integers(0, 19)) == 0:
        return draw(st.binary(max_size=30).filter(lambda junk: b"\n" not in junk))
    second = draw(st.sampled_from([0, 0, 1, 1, 2, 3, 7]))
    values = {
        "address": pick(["192.0.2.1", "192.0.2.2", "2001:db8::1", "host.example", "66.249.66.1"]),
        "time": f"15/Sep/2026:10:00:0{second} +0000",
        "at": str(TEN + second),
        "digit": str(second),
        "request": pick(
            ["GET / HTTP/1.1", "GET /a.css HTTP/1.1", "GET /robots.txt HTTP/1.1", "GET /a.css\\n", "HEAD /b", "-", ""]
        ),
        "status": pick(["200", "200", "404", "500", "1000"]),
        "size": pick(["5", "5", "0", "9" * 12, "9" * 13, "9" * 18]),
        "agent": pick(["Mozilla/5.0", "GPTBot/1.3", "Googlebot/2.1", "-", ""]),
        "seconds": pick(["0.125", "0.500", "2.250", "30.000", "0.000"]),
        "forwarded": pick(["203.0.113.9", "203.0.113.9, 192.0.2.2", "unknown", "-", ""]),
        "header": pick(HEADERS),
    }
    return pick(SHAPES).format(**values).encode("latin-1")


mixed_logs = st.lists(mixed_lines(), max_size=25).map(b"\n".join)
