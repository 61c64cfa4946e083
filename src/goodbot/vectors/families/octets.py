"""How octets are compared: every printable ASCII octet, literal and percent-encoded, in rule and URL (RFC 9309 2.2.2,
figure 4), and octets beyond ASCII."""

from collections.abc import Iterator
from typing import Final

from goodbot.vectors.case import AS_WRITTEN, DECODED, SECTIONS, TODAY, Case, Expected, Kind, case, expect

_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_RESERVED = frozenset(":/?#[]@!$&'()+,;=*")
_PRINTABLE = [chr(octet) for octet in range(0x20, 0x7F)]
_PATH: Final = "/a{}b"
_VALUE: Final = "/?q=a{}b"

_BEYOND_ASCII = "éßñİжяΩאعकツ中한😀𝔘"
"""Characters of two, three and four octets in UTF-8."""


def octet_cases() -> Iterator[Case]:
    """Yields all cases about single octets and characters."""
    for place in (_PATH, _VALUE):
        for octet in _PRINTABLE:
            if octet != "#":
                yield from _literal_and_encoded(octet, place)
    for octet in _PRINTABLE:
        yield from _other_octet(octet)
        yield from _digits_of_other_case(octet)
        if octet.isalpha():
            yield from _other_case(octet)
    yield from _number_sign()
    for character in _BEYOND_ASCII:
        yield from _beyond_ascii(character)
    yield from _not_utf8()
    yield from _controls()


def encoded(text: str) -> str:
    """Every octet of a text percent-encoded, with hexadecimal digits in upper case."""
    return "".join(f"%{octet:02X}" for octet in text.encode())


def _disallow(pattern: str) -> str:
    return f"User-agent: *\nDisallow: {pattern}\n"


# ---- one octet, in both forms ---------------------------------------------------------------------------------------


def _literal_and_encoded(octet: str, place: str) -> Iterator[Case]:
    for rule in (octet, encoded(octet)):
        for url in (octet, encoded(octet)):
            note = f"{octet!r} {_form(rule)} in the rule, {_form(url)} in the URL"
            expected = {
                "rfc9309": _by_rfc(octet, rule, url, in_value=place == _VALUE),
                **expect("rules", rule not in (url, "*"), ("google",)),
                **_decoded(octet, rule, url),
                **_as_written(octet, rule, url),
            }
            yield case("octet", _disallow(place.format(rule)), place.format(url), expected, note)


def _form(written: str) -> str:
    return "literal" if len(written) == 1 else "encoded"


def _by_rfc(octet: str, rule: str, url: str, *, in_value: bool) -> Expected:
    """Unreserved octets match in every form, reserved ones only in the same form. The exceptions: `*` and `$` have
    forms for their literal meaning, and the values of parameters are encoded (figures 4 and 6)."""
    literal_url = len(url) == 1
    if octet in "*$":
        plain_dollar = rule == "$"
        kind: Kind = "reading" if plain_dollar or (rule == "%2A" and not literal_url) else "must"
        return Expected(False, kind, SECTIONS["rfc9309"]["special"])
    if octet in _UNRESERVED:
        return Expected(False, "must", SECTIONS["rfc9309"]["rules"])
    if octet in _RESERVED:
        matches = rule == url or (in_value and octet != "&")
        same = rule == url and (octet not in "[]" or not literal_url)  # no path of a URI contains a bracket
        return Expected(not matches, "must" if same else "reading", SECTIONS["rfc9309"]["rules"])
    both_encoded = len(rule) > 1 and not literal_url
    closed = octet != "%" or rule == url  # a percent sign without two hexadecimal digits stays as it is
    return Expected(not closed, "must" if both_encoded else "choice", SECTIONS["rfc9309"]["rules"])


def _decoded(octet: str, rule: str, url: str) -> dict[str, Expected]:
    """The draft decodes everything but the slash."""
    doubtful = octet not in _UNRESERVED | _RESERVED
    return expect("rules", octet == "/" and rule != url, DECODED, "reading" if doubtful else "must")


def _as_written(octet: str, rule: str, url: str) -> dict[str, Expected]:
    """Nothing is decoded. In Kollar's grammar a space separates two paths, so the first one matches."""
    if octet == " " and rule == " ":
        others = expect("rules", url != " ", ("1994", "conner"), "reading")
        return others | expect("rules", False, ("kollar",), "must")
    return expect("rules", rule != url, AS_WRITTEN, "must" if rule == url else "reading")


# ---- near misses ----------------------------------------------------------------------------------------------------


def _other_octet(octet: str) -> Iterator[Case]:
    other = "!" if octet == "~" else chr(ord(octet) + 1)
    expected = expect("rules", True, (*TODAY, *DECODED, *AS_WRITTEN))
    rule, url = _PATH.format(encoded(octet)), _PATH.format(encoded(other))
    yield case("octet-other", _disallow(rule), url, expected, f"{encoded(octet)} is not {encoded(other)}")


def _other_case(letter: str) -> Iterator[Case]:
    expected = expect("rules", True, (*TODAY, *DECODED, *AS_WRITTEN))
    for rule, url in ((letter, letter.swapcase()), (encoded(letter), letter.swapcase())):
        note = f"{rule} is not {url}: case matters"
        yield case("octet-case", _disallow(f"/{rule}"), f"/{url}", expected, note)


def _digits_of_other_case(octet: str) -> Iterator[Case]:
    """Hexadecimal digits in lower case equal those in upper case."""
    upper = encoded(octet)
    lower = upper.lower()
    if lower == upper:
        return
    kind: Kind = "must" if octet in _UNRESERVED else "reading"
    for rule, url in ((lower, upper), (upper, lower), (lower, lower)):
        expected = {
            **expect("rules", False, ("rfc9309",), kind),
            **expect("rules", url != upper, ("google",)),
            **expect("rules", False, DECODED, "reading" if octet == "/" else "must"),
            **expect("rules", rule != url, AS_WRITTEN, "reading"),
        }
        note = f"{rule} in the rule, {url} in the URL"
        yield case("octet-digits", _disallow(_PATH.format(rule)), _PATH.format(url), expected, note)


def _number_sign() -> Iterator[Case]:
    """`#` begins a comment in the file and a fragment in the URL."""
    every = (*TODAY, *DECODED, "1994", "kollar")
    rows = (
        ("/a#b", "/ac", False, "the comment is no part of the rule", every),
        ("/a%23b", "/a%23b", False, "%23 in rule and URL", every),
        ("/a%23b", "/a#b", True, "a fragment is not compared", TODAY),
        ("/a$", "/a#b", False, "`$` before the fragment", TODAY),
        ("/?q=a%23b", "/?q=a%23b", False, "%23 in the value of a parameter", every),
    )
    for pattern, path, allowed, note, dialects in rows:
        yield case("octet", _disallow(pattern), path, expect("rules", allowed, dialects), note)


# ---- beyond ASCII ---------------------------------------------------------------------------------------------------


def _beyond_ascii(character: str) -> Iterator[Case]:
    upper = encoded(character)
    forms = {character: "literal", upper: "encoded", upper.lower(): "encoded in lower case"}
    for rule, in_rule in forms.items():
        for url, in_url in forms.items():
            kind: Kind = "reading" if upper.lower() in (rule, url) else "must"
            expected = expect("rules", False, ("rfc9309",), kind) | expect("rules", False, DECODED, "reading")
            if url != character:
                expected |= expect("rules", url != upper, ("google",))
            note = f"U+{ord(character):04X} {in_rule} in the rule, {in_url} in the URL"
            yield case("beyond-ascii", _disallow(f"/a{rule}b"), f"/a{url}b", expected, note)
    other = upper[:-1] + ("0" if upper[-1] != "0" else "1")
    for rule in (character, upper):
        expected = expect("rules", True, (*TODAY, *DECODED, *AS_WRITTEN))
        yield case("beyond-ascii", _disallow(f"/a{rule}b"), f"/a{other}b", expected, f"{upper} is not {other}")


def _not_utf8() -> Iterator[Case]:
    """Octets that are not UTF-8 equal their encoding, and spoil no other line."""
    for octet in range(0x80, 0x100, 7):
        body = b"User-agent: *\nDisallow: /a" + bytes((octet,)) + b"b\nDisallow: /other\n"
        results = expect("rules", False, TODAY, "choice")
        yield case("not-utf8", body, f"/a%{octet:02X}b", results, f"the octet {octet:02X} equals its encoding")
        results = expect("errors", False, (*TODAY, *DECODED, *AS_WRITTEN), "reading")
        yield case("not-utf8", body, "/other", results, f"the octet {octet:02X} spoils no other line")


def _controls() -> Iterator[Case]:
    """Encoded control characters, and an unreadable rule that contains one."""
    for octet in (*range(0x20), 0x7F):
        name = f"%{octet:02X}"
        results = expect("rules", False, (*TODAY, *DECODED, *AS_WRITTEN))
        yield case("control", _disallow(f"/a{name}b"), f"/a{name}b", results, f"{name} in rule and URL")
        if octet not in b"\n\r":
            body = b"User-agent: *\nDisallow: /a" + bytes((octet,)) + b"b\nDisallow: /other\n"
            results = expect("errors", False, (*TODAY, *DECODED, *AS_WRITTEN), "reading")
            yield case("control", body, "/other", results, f"the control character {octet:02X} spoils no other line")
