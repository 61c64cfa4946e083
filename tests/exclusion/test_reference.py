"""The matcher against a slow one written from the text of RFC 9309 alone."""

import re
from functools import cache

from hypothesis import given
from hypothesis import strategies as st

from goodbot.exclusion import RobotsTxt

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
RESERVED = b":/?#[]@!$&'()+,;=*"


def octets(text: str, *, of_pattern: bool, values: bool) -> list[str]:
    """One item per compared octet (§2.2.2); in a pattern, a wildcard and a last `$` are items of their own."""
    raw = text.encode("utf-8", "surrogatepass")
    items: list[str] = []
    in_query = in_value = False
    at = 0
    while at < len(raw):
        octet = raw[at : at + 1]
        hexadecimal = re.fullmatch(rb"%[0-9a-fA-F]{2}", raw[at : at + 3])
        if hexadecimal:
            value = bytes.fromhex(raw[at + 1 : at + 3].decode())
            items.append(value.decode() if value in UNRESERVED else raw[at : at + 3].decode().upper())
            at += 3
            continue
        at += 1
        if of_pattern and (octet == b"*" or (octet == b"$" and at == len(raw))):
            items.append("ANY" if octet == b"*" else "END")
        elif octet in b"*$":
            items.append(f"%{octet[0]:02X}")
        elif octet in UNRESERVED or octet == b"%":
            items.append(octet.decode())
        elif octet in RESERVED:
            delimiter = not in_value or octet == b"&"
            items.append(octet.decode() if delimiter or not values else f"%{octet[0]:02X}")
            if octet == b"?":
                in_query = True
            elif octet == b"&":
                in_value = False
            elif octet == b"=" and in_query:
                in_value = True
        else:
            items.append(f"%{octet[0]:02X}")
    return items


def spelled(items: list[str]) -> list[str]:
    """The octets of the encoded text: `%` at the end of a pattern matches what begins `%41`."""
    return [sign for item in items for sign in ([item] if item in ("ANY", "END") else item)]


def matches(pattern: list[str], target: list[str]) -> bool:
    @cache
    def rest(p: int, t: int) -> bool:
        if p == len(pattern):
            return True
        if pattern[p] == "END":
            return t == len(target)
        if pattern[p] == "ANY":
            return rest(p + 1, t) or (t < len(target) and rest(p, t + 1))
        return t < len(target) and pattern[p] == target[t] and rest(p + 1, t + 1)

    return rest(0, 0)


def length(pattern: str) -> int:
    return len(spelled(octets(pattern, of_pattern=True, values=True)))


def groups_of(text: str, token: str) -> list[list[tuple[bool, str]]]:
    groups: list[tuple[list[str], list[tuple[bool, str]]]] = []
    after_rule = True
    for line in re.split("\r\n|\r|\n", text):
        record = re.fullmatch(r"[ \t]*([A-Za-z-]+)[ \t]*:[ \t]*(.*?)[ \t]*", line.partition("#")[0], re.DOTALL)
        if not record:
            continue
        field, value = record[1].lower(), record[2]
        if field == "user-agent":
            if after_rule:
                groups.append(([], []))
                after_rule = False
            groups[-1][0].append(value.lower())
        elif field in ("allow", "disallow") and groups:
            after_rule = True
            if value:
                groups[-1][1].append((field == "allow", value))
    own = [rules for names, rules in groups if token in names]
    return own or [rules for names, rules in groups if "*" in names]


def allowed(text: str, path: str, token: str) -> bool:
    if octets(path, of_pattern=False, values=False) == list("/robots.txt"):
        return True
    best: tuple[int, bool] = (-1, True)
    for rules in groups_of(text, token):
        for allow, pattern in rules:
            if any(
                matches(
                    spelled(octets(pattern, of_pattern=True, values=form)),
                    spelled(octets(path, of_pattern=False, values=form)),
                )
                for form in (False, True)
            ):
                best = max(best, (length(pattern), allow))
    return best[1]


PIECES = st.sampled_from(
    [
        "a",
        "b",
        "/",
        "/",
        "*",
        "*",
        "$",
        "?",
        "=",
        "&",
        ":",
        "%",
        "%61",
        "%2f",
        "%2F",
        "%2A",
        "%24",
        "%e9",
        "é",
        "\x00",
        "aa",
    ]
)
PATTERNS = st.lists(PIECES, max_size=7).map("".join)
LINES = st.one_of(
    st.sampled_from(
        ["User-agent: me", "User-agent: *", "user-agent:you", "", "# note", "Sitemap: x", "nothing", " Disallow : "]
    ),
    st.builds("{}: {}".format, st.sampled_from(["Allow", "Disallow"]), PATTERNS.map("/".__add__)),
    st.builds("{}:{}#c".format, st.sampled_from(["allow", "DISALLOW"]), PATTERNS),
)
FILES = st.builds(
    lambda lines, end: end.join(["User-agent: me", *lines]),
    st.lists(LINES, max_size=9),
    st.sampled_from(["\n", "\r", "\r\n"]),
)
PATHS = st.one_of(PATTERNS.map("/".__add__), st.sampled_from(["/robots.txt", "/robots%2Etxt"]))


@given(FILES, PATHS, st.sampled_from(["me", "other"]))
def test_verdict_is_that_of_the_reference(text: str, path: str, token: str) -> None:
    robots = RobotsTxt.parse(text.encode())
    expected = allowed(text, path, token)
    assert robots.allows(path, token) is expected
    verdict = robots.verdict("http://h" + path, token)
    assert verdict.allowed is expected
    assert verdict.rule is None or verdict.rule.startswith("Allow" if expected else "Disallow")


@given(
    st.lists(st.tuples(st.booleans(), PATTERNS.map("/".__add__)), min_size=1, max_size=12), st.lists(PATHS, max_size=4)
)
def test_many_rules_of_one_group(rules: list[tuple[bool, str]], paths: list[str]) -> None:
    text = "\n".join(["User-agent: *", *(f"{'Allow' if allow else 'Disallow'}: {pattern}" for allow, pattern in rules)])
    matcher = RobotsTxt.parse(text).matcher("me")
    for path in (*paths, *(pattern.replace("*", "a").rstrip("$") for _, pattern in rules)):
        assert matcher.allows(path) is allowed(text, path, "me")
