"""What every dialect answers, written plainly and slowly from the descriptions of the dialects alone.

It shares no code with goodbot.exclusion and is meant to be read beside the text: sets of positions instead of clever
search, one walk over the file for every question. Octets are compared as items, so that an encoded slash is one thing.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import lru_cache

Items = list[bytes]
Line = tuple[bytes, bytes] | None
"""A field in lower case and its value; None for a blank line. Comments and lines without a colon are no lines."""

UNRESERVED = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
RESERVED = b":/?#[]@!$&'()+,;=*"
NAME_SIGNS = set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-")
ANY, END = b"<any>", b"<end>"
OF_THE_FILE = (b"sitemap", b"host", b"license", b"clean-param")
GOOGLE_MISSPELLINGS = (b"dissallow", b"dissalow", b"disalow", b"diasllow", b"disallaw")
GOOGLE_LINE = 16_663


@dataclass
class Record:
    """The values of some User-agent lines and the lines behind them, in order."""

    names: list[bytes] = field(default_factory=list)
    lines: list[tuple[bytes, bytes]] = field(default_factory=list)
    closed: bool = False

    def paths(self, *fields: bytes) -> list[tuple[bool, bytes]]:
        """The rules of these fields: whether it is an Allow, and the path."""
        return [(name == b"allow", value) for name, value in self.lines if name in fields]


def naive_allows(body: bytes, url: str, agent: str, dialect: str) -> bool:
    """Whether this robots.txt lets `agent` (a token or a whole User-Agent) fetch `url` in this dialect."""
    return DIALECTS[dialect](body, path_of(url), agent)


# What is compared


def path_of(url: str) -> bytes:
    """Path and query of an absolute URL or a path, without the fragment."""
    url = re.sub(r"^[A-Za-z][A-Za-z0-9+.-]*://[^/?#]*", "", url).partition("#")[0]
    return (url if url.startswith("/") else "/" + url).encode("utf-8", "surrogatepass")


def name_at(text: str) -> str:
    """The longest beginning that is letters, digits, `_`, `-`, and dots inside."""
    name = ""
    for at, sign in enumerate(text):
        inside = sign == "." and name and text[at - 1] != "." and text[at + 1 : at + 2] in NAME_SIGNS
        if not (sign in NAME_SIGNS or inside):
            break
        name += sign
    return name


def token_of(agent: str) -> bytes:
    """The first name, or behind Mozilla the one after `compatible;`; `*` alone is itself."""
    name = name_at(agent.strip())
    if name.lower() == "mozilla":
        behind = [name_at(part.lstrip()) for part in re.split("compatible;", agent, flags=re.IGNORECASE)[1:]]
        name = next(filter(None, behind), name)
    return b"*" if agent.strip() == "*" else name.lower().encode()


def without_versions(value: bytes) -> bytes:
    """What follows a slash is version, up to a blank or a sign that separates."""
    return re.sub(rb"/[^ \t();,]*", b"", value).strip(b" \t").lower()


# Lines and records


def utf8(body: bytes) -> bytes:
    for mark, encoding in ((b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be")):
        if body.startswith(mark):
            return body[2:].decode(encoding, "replace").encode("utf-8", "replace")
    return body.removeprefix(b"\xef\xbb\xbf")


def lines_of(body: bytes) -> Iterator[Line]:
    for line in re.split(rb"\r\n|\r|\n", utf8(body)):
        if not line.strip(b" \t"):
            yield None
        name, colon, value = line.partition(b"#")[0].partition(b":")
        if colon:
            yield name.strip(b" \t").lower(), value.strip(b" \t")


@lru_cache(maxsize=4)
def groups(body: bytes) -> list[Record]:
    """RFC 9309: only a User-agent line after a rule opens the next group; Content-Usage is a rule too."""
    found: list[Record] = []
    for line in lines_of(body):
        if line and line[0] == b"user-agent":
            if not found or found[-1].closed:
                found.append(Record())
            found[-1].names.append(line[1])
        elif line and found and line[0] in (b"allow", b"disallow", b"content-usage"):
            found[-1].lines.append(line)
            found[-1].closed = True
    return found


@lru_cache(maxsize=4)
def records(body: bytes, closes: Callable[[bytes], bool]) -> list[Record]:
    """The older dialects: a blank line ends a record, and so does a User-agent line after a line that `closes` says."""
    found: list[Record] = []
    now: Record | None = None
    for line in lines_of(body):
        if line is None:
            now = None
        elif line[0] == b"user-agent":
            if now is None or now.closed:
                now = Record()
                found.append(now)
            now.names.append(line[1])
        elif now is not None:
            now.lines.append(line)
            now.closed = now.closed or closes(line[0])
    return [record for record in found if record.closed]


def any_line(name: bytes) -> bool:
    """Unknown fields count as rule lines of the record."""
    return True


def a_disallow(name: bytes) -> bool:
    """Unknown fields, and so Allow, are ignored."""
    return name == b"disallow"


def first(found: list[Record], ours: Callable[[bytes], bool]) -> Record | None:
    """The first record that names us, wherever `*` stands; else the first for `*`."""
    for wanted in (ours, lambda name: name == b"*"):
        for record in found:
            if any(wanted(name) for name in record.names):
                return record
    return None


# RFC 9309


def rfc9309(body: bytes, path: bytes, agent: str) -> bool:
    if rfc_items(path, pattern=False, values=False) == spell(b"/robots.txt"):
        return True
    token, best = token_of(agent), (-1, True)
    found = groups(body)
    own = [group for group in found if token and token in map(rfc_name, group.names)]
    for group in own or [group for group in found if b"*" in group.names]:
        for allow, value in group.paths(b"allow", b"disallow"):
            if value and any(rfc_match(value, path, values=values) for values in (False, True)):
                best = max(best, (len(rfc_items(value, pattern=True, values=True)), allow))
    return best[1]


def naive_delay(body: bytes, agent: str) -> float | None:
    """The Crawl-delay asked of this robot by RFC 9309: the longest that stands below its name, or else below `*`.

    A delay stands below the User-agent lines above it, up to the next other line that is not about the whole file.
    """
    for name in (token_of(agent), b"*"):
        above: list[bytes] = []
        delays: list[float] = []
        named = begun = False
        for key, value in filter(None, lines_of(body)):
            if key == b"user-agent":
                above = [*(above if begun else []), rfc_name(value)]
                begun, named = True, named or above[-1] == name != b""
            elif key not in OF_THE_FILE:
                begun = False
                if key == b"crawl-delay" and name in above and value.isdigit():
                    delays.append(float(value))
        if named:
            return max(delays, default=None)
    return None


def rfc_name(value: bytes) -> bytes:
    """The name the value begins with, or `*` alone; a Mozilla value in a file names Mozilla."""
    text = value.decode("utf-8", "replace").strip()
    return b"*" if text == "*" else name_at(text).lower().encode()


def rfc_match(value: bytes, path: bytes, *, values: bool) -> bool:
    return match(rfc_items(value, pattern=True, values=values), rfc_items(path, pattern=False, values=values))


@lru_cache(maxsize=100_000)
def rfc_items(raw: bytes, *, pattern: bool, values: bool) -> Items:
    """§2.2.2 and 2.2.3: unreserved octets decoded, all others encoded, reserved ones plain in their own role."""
    items: Items = []
    in_query = in_value = False
    for octet, encoded, last in octets(raw):
        if encoded:
            items += [octet] if octet in UNRESERVED else spell(escape(octet))
        elif pattern and (octet == b"*" or (octet == b"$" and last)):
            items.append(ANY if octet == b"*" else END)
        elif octet in b"*$" or (octet not in UNRESERVED + RESERVED + b"%"):
            items += spell(escape(octet))
        elif octet in RESERVED:
            items += spell(escape(octet)) if in_value and values and octet != b"&" else [octet]
            in_query = in_query or octet == b"?"
            in_value = octet != b"&" and (in_value or (in_query and octet == b"="))
        else:
            items.append(octet)
    return items


# Google


def google(body: bytes, path: bytes, agent: str) -> bool:
    token, found = google_token(token_of(agent)), google_groups(body)
    own = [group for group in found if token and token in map(google_token, group.names)]
    best = (0, True)
    for group in own or [group for group in found if any(re.match(rb"\*(\s|$)", name) for name in group.names)]:
        for allow, value in group.paths(b"allow", b"disallow"):
            pattern = google_pattern(value)
            directory = re.match(rb"(.*/)index\.htm[^/]*$", pattern, re.DOTALL)
            if match(google_items(pattern), spell(path)):
                best = max(best, (len(pattern), allow))
            elif allow and directory and match(google_items(directory[1] + b"$"), spell(path)):
                best = max(best, (len(directory[1]) + 1, allow))
    return best[1]


@lru_cache(maxsize=4)
def google_groups(body: bytes) -> list[Record]:
    found: list[Record] = []
    for name, value in google_lines(body):
        if name.startswith((b"user-agent", b"useragent", b"user agent")):
            if not found or found[-1].closed:
                found.append(Record())
            found[-1].names.append(value)
        elif found and name.startswith((b"allow", b"disallow", *GOOGLE_MISSPELLINGS)):
            found[-1].lines.append((b"allow" if name.startswith(b"allow") else b"disallow", value))
            found[-1].closed = True
    return found


def google_lines(body: bytes) -> Iterator[tuple[bytes, bytes]]:
    for mark in (b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"):
        if body.startswith(mark):
            body = body[len(mark) :]
            break
    for whole in re.split(rb"\r\n|\r|\n", body):
        line = whole[:GOOGLE_LINE].partition(b"\0")[0].partition(b"#")[0].strip()
        name, colon, value = line.partition(b":")
        words = re.split(rb"[ \t]+", line)
        if not colon and len(words) == 2:
            name, value = words
        if name.strip() and (colon or len(words) == 2):
            yield name.strip().lower(), value.strip()


def google_token(name: bytes) -> bytes:
    return re.sub(rb"[^A-Za-z_-].*", b"", name, flags=re.DOTALL).lower()


@lru_cache(maxsize=100_000)
def google_pattern(value: bytes) -> bytes:
    """Encodings in upper case, octets beyond ASCII encoded, nothing decoded."""
    upper = re.sub(rb"%[0-9a-fA-F]{2}", lambda found: found[0].upper(), value)
    return re.sub(rb"[\x80-\xff]", lambda found: escape(found[0]), upper)


@lru_cache(maxsize=100_000)
def google_items(pattern: bytes) -> Items:
    items = [ANY if octet == b"*" else octet for octet in spell(pattern)]
    return [*items[:-1], END] if items[-1:] == [b"$"] else items


# The drafts and the book: first match in order, escapes decoded but for the slash


def draft(body: bytes, path: bytes, agent: str) -> bool:
    token = token_of(agent)
    record = first(records(body, any_line), lambda name: bool(token) and token in name.lower())
    return in_order(record, path, empty_matches=False)


def book(body: bytes, path: bytes, agent: str) -> bool:
    record = first(records(body, any_line), inside(agent))
    return in_order(record, path, empty_matches=True)


def inside(agent: str) -> Callable[[bytes], bool]:
    """The name in the file, without version, is part of what the robot calls itself."""
    ours = without_versions(agent.encode("utf-8", "surrogatepass"))
    return lambda name: name != b"*" and without_versions(name) != b"" and without_versions(name) in ours


def in_order(record: Record | None, path: bytes, *, empty_matches: bool) -> bool:
    target = decoded(path)
    if record is None or target == spell(b"/robots.txt"):
        return True
    for allow, value in record.paths(b"allow", b"disallow"):
        if (value or empty_matches) and target[: len(decoded(value))] == decoded(value):
            return allow
    return True


@lru_cache(maxsize=100_000)
def decoded(raw: bytes) -> Items:
    return [escape(octet) if encoded and octet == b"/" else octet for octet, encoded, _ in octets(raw)]


# The original, and Kollar's grammar: any Disallow that is a prefix


def original(body: bytes, path: bytes, agent: str) -> bool:
    record = first(records(body, a_disallow), inside(agent))
    return (
        path == b"/robots.txt"
        or record is None
        or not any(value and path.startswith(value) for _, value in record.paths(b"disallow"))
    )


def kollar(body: bytes, path: bytes, agent: str) -> bool:
    found = records(body, a_disallow)
    each = [Record([name for value in record.names for name in value.split()], record.lines) for record in found]
    record = first(each, inside(agent))
    roots = [root for _, value in record.paths(b"disallow") for root in value.split()] if record else []
    return path == b"/robots.txt" or not any(path.startswith(root) for root in roots)


# Conner's extension


def conner(body: bytes, path: bytes, agent: str) -> bool:
    if path == b"/robots.txt":
        return True
    token = token_of(agent)
    record = first(records(body, any_line), lambda name: bool(token) and token in name.lower())
    rules = [rule for rule in record.paths(b"allow", b"disallow") if rule[1]] if record else []
    if record and record.lines[0][0] == b"robot-version" and record.lines[0][1] in (b"2.0", b"2.0.0"):
        only_allow = bool(rules) and all(name != b"disallow" for name, _ in record.lines)
        return conner_2(rules, path, otherwise=not only_allow)
    return next((allow for allow, value in rules if path.startswith(value)), True)


def conner_2(rules: list[tuple[bool, bytes]], path: bytes, *, otherwise: bool) -> bool:
    """Exact paths first, then the longest pattern over the whole path; of equals Disallow."""
    best: tuple[bool, int, bool] | None = None
    for allow, value in rules:
        items = [ANY if octet == b"*" else octet for octet in spell(value)]
        if match([*items, END], spell(path)):
            rank = (ANY not in items, len(value), not allow)
            best = rank if best is None else max(best, rank)
    return otherwise if best is None else not best[2]


# Octets and patterns


def octets(raw: bytes) -> Iterator[tuple[bytes, bool, bool]]:
    """Every octet, whether it was encoded, and whether it is the last one."""
    at = 0
    while at < len(raw):
        encoded = re.match(rb"%[0-9a-fA-F]{2}", raw[at : at + 3]) is not None
        octet = bytes.fromhex(raw[at + 1 : at + 3].decode()) if encoded else raw[at : at + 1]
        at += 3 if encoded else 1
        yield octet, encoded, at == len(raw)


def escape(octet: bytes) -> bytes:
    return b"%%%02X" % octet[0]


def spell(text: bytes) -> Items:
    return [text[at : at + 1] for at in range(len(text))]


def match(pattern: Items, target: Items) -> bool:
    """Whether the pattern is used up at the target's beginning: which places can each of its items have led to?"""
    places = {0}
    for item in pattern:
        if item == END:
            return len(target) in places
        if item == ANY:
            places = set(range(min(places), len(target) + 1))
        else:
            places = {place + 1 for place in places if place < len(target) and target[place] == item}
        if not places:
            return False
    return True


DIALECTS: dict[str, Callable[[bytes, bytes, str], bool]] = {
    "rfc9309": rfc9309,
    "google": google,
    "1996": draft,
    "book": book,
    "1994": original,
    "kollar": kollar,
    "conner": conner,
}
