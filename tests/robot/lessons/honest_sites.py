"""Sites of many small pages that are alike: whoever stops before their end loses pages that somebody wrote.

Each is a function of the path asked for, as those of `trap_sites` are. SIZE pages each, beside lists of them.
"""

from collections.abc import Callable
from datetime import date, timedelta
from random import Random

from robot.lessons.trap_sites import NAV, WORDS, Site, prose

SIZE = 1500


def _words(text: str) -> list[str]:
    return text.split()


MENU = ["/", "/about", "/contact"]
_NOUNS = _words("dog cat house tree river boat garden street bridge market child horse window mountain field church")
_HOW = _words("old young red blue green small large quiet busy sunny rainy wooden broken painted early late")
_WHERE = _words("in by near behind above below before after")
_FIRST = _words("Anna Otto Mary Paul Ida Karl Emma Hugo Rosa Max Lena Fritz Clara Jakob Elsa Georg")
_LAST = _words("Berger Fischer Huber Lang Maier Novak Pichler Reiter Sommer Thaler Unger Vogel Wagner Zeller")


def _caption(random: Random) -> str:
    """Five or six words, such as people write below pictures."""
    return " ".join(map(random.choice, (_HOW, _NOUNS, _WHERE, ["the"], _HOW, _NOUNS)))


def _number(target: str) -> int:
    """The last number in a target, 0 if there is none."""
    digits = "".join(char if char.isdigit() else " " for char in target).split()
    return int(digits[-1]) if digits else 0


def _chain(start: str, page: Callable[[int, Random], tuple[str, str]], size: int = SIZE, *, back: bool = True) -> Site:
    """Pages in a row, each with a link to the next and, if `back`, to the one before. `start` ends where the number
    of a page follows."""

    def site(target: str) -> tuple[str, str, list[str]]:
        if target in MENU:
            return "Home", NAV, [*MENU, f"{start}1"]
        number = _number(target)
        title, text = page(number, Random(f"{start}{number}"))
        beside = [number + 1, *([number - 1] if back else [])]
        return title, text, [*MENU, *(f"{start}{other}" for other in beside if 1 <= other <= size)]

    return site


def _row(random: Random, columns: int) -> str:
    cells = "".join(f"<td>{random.uniform(0, 40):.1f}</td>" for _ in range(columns))
    return f"<tr>{cells}</tr>"


def _measured(number: int, random: Random) -> tuple[str, str]:
    rows = "".join(_row(random, 6) for _ in range(12))
    return f"Station {number}", f"Measured values <table><tr><th>level<th>flow</tr>{rows}</table>"


def _shown(number: int, random: Random) -> tuple[str, str]:
    return f"Entry {number}", f"{_caption(random)}. Seen {random.randrange(2000)} times."


def _photo(number: int, random: Random) -> tuple[str, str]:
    return f"Photo {number}", f'<img src="/pictures/{random.randrange(10**6)}.jpg">{_caption(random)}'


def _comic(number: int, random: Random) -> tuple[str, str]:
    return f"No. {number}", f'<img src="/strips/{number:04}.png" alt="">'


def _commit(number: int, random: Random) -> tuple[str, str]:
    who, verb = random.choice(_FIRST), random.choice(["Fix", "Add", "Remove", "Rename", "Test"])
    lines = f"{random.randrange(400)} insertions, {random.randrange(400)} deletions"
    return f"Commit {number}", f"<pre>{random.getrandbits(160):040x}</pre><p>{who}: {verb} {_caption(random)}<p>{lines}"


def _defined(number: int, random: Random) -> tuple[str, str]:
    return f"Term {number}", f"{random.choice(WORDS)}: {prose(random, 9)}."


def _weather(number: int, random: Random) -> tuple[str, str]:
    day = date(2016, 1, 1) + timedelta(number)
    warm, wind = random.uniform(-10, 35), random.uniform(0, 90)
    return f"Weather of {day}", f"{day:%d %B %Y}: {warm:.1f} degrees, wind {wind:.0f} km/h, rain {wind / 9:.1f} mm"


def _game(number: int, random: Random) -> tuple[str, str]:
    moves = " ".join(f"{move}. {random.choice('abcdefgh')}{random.randrange(1, 9)} N{move}" for move in range(1, 30))
    return f"Game {number}", f"{random.choice(_LAST)} against {random.choice(_LAST)}<p>{moves}"


def _part(number: int, random: Random) -> tuple[str, str]:
    return f"Part {number}", f"{random.randrange(10, 9000)} g, {random.randrange(4, 90)} x {random.randrange(4, 90)} mm"


def _notice(number: int, random: Random) -> tuple[str, str]:
    return f"Notice {number}", f"The council of {random.choice(WORDS)} says: {prose(random, 20)}."


def _names(number: int, random: Random) -> tuple[str, str]:
    entries = [f"{random.choice(_LAST)} {random.choice(_FIRST)} {random.choice(WORDS)}" for _ in range(25)]
    return f"Register, page {number}", "".join(f"<p>{entry}" for entry in entries)


def _person(target: str) -> tuple[str, str, list[str]]:
    """A family tree: everybody links to parents and children."""
    number = _number(target) or 1
    if target in MENU:
        return "Home", NAV, [*MENU, "/people/1"]
    random = Random(number)
    name = f"{random.choice(_FIRST)} {random.choice(_LAST)}"
    family = [number // 2, 2 * number, 2 * number + 1]
    born = 1500 + 25 * number.bit_length() + random.randrange(20)
    links = [f"/people/{other}" for other in family if 1 <= other <= SIZE]
    return name, f"{name}, born {born} in {random.choice(WORDS)}", [*MENU, *links]


def _catalogue(text: Callable[[int, Random], tuple[str, str]], related: int, listed: int, groups: int = 1) -> Site:
    """Goods by number, in lists that name their next, and `related` others on each."""

    def site(target: str) -> tuple[str, str, list[str]]:
        if target in MENU:
            return "Home", NAV, [*MENU, *(f"/list/{group}/1" for group in range(groups))]
        number, random = _number(target), Random(target)
        if target.startswith("/list/"):
            group = int(target.split("/")[2])
            of_group = list(range(group + 1, SIZE + 1, groups))
            part = of_group[(number - 1) * listed : number * listed]
            beside = [f"/list/{group}/{other}" for other in (number - 1, number + 1) if other >= 1]
            names = "".join(f"<p>{text(each, Random(each))[0]}" for each in part)
            return "Our goods", names, [*MENU, *(f"/goods/{each}" for each in part), *(beside if part else [])]
        title, says = text(number, Random(number))
        others = sorted(random.randrange(1, SIZE + 1) for _ in range(related))
        return title, says, [*MENU, *(f"/goods/{other}" for other in others)]

    return site


def _goods(number: int, random: Random) -> tuple[str, str]:
    name = f"{random.choice(WORDS)} {random.choice(_NOUNS)}".capitalize()
    return name, f"{name}<p>{random.choice(_HOW)}, {random.choice(_HOW)}. {random.randrange(5, 900)}.00 euro"


def _bare_goods(number: int, random: Random) -> tuple[str, str]:
    name = f"{random.choice(WORDS)} {random.choice(WORDS)} {random.choice(_NOUNS)}".capitalize()
    return name, name


def _strip(number: int, random: Random) -> tuple[str, str]:
    return "Comic", f'<img src="/strips/{number:04}.png" alt=""><p>{random.choice(["Monday", "Thursday"])}'


def _day(number: int, random: Random) -> tuple[str, str]:
    values = {"max": random.randrange(-5, 36), "min": random.randrange(-15, 21), "wind": random.randrange(90)}
    return "Weather", f"<table>{''.join(f'<tr><td>{name}<td>{value}' for name, value in values.items())}</table>"


def _date(number: int, random: Random) -> tuple[str, str]:
    day = date(2016, 1, 1) + timedelta(number)
    return "Calendar of the club", f"<table><tr><td>day<td>{day.day}.{day.month}.{day.year}</table>"


def _draw(number: int, random: Random) -> tuple[str, str]:
    return "Draw", "".join(f"<li>{drawn}" for drawn in sorted(random.sample(range(1, 50), 6)))


def _result(number: int, random: Random) -> tuple[str, str]:
    one, other = random.sample(_LAST, 2)
    goals = [random.randrange(5) for _ in range(4)]
    return "Result", f"<p>{one} {goals[0] + goals[2]} : {goals[1] + goals[3]} {other} ({goals[0]} : {goals[1]})"


SITES: dict[str, Site] = {
    "comic by weekday": _chain("/p/", _strip),
    "comic?id=": _chain("/show?id=", _strip),
    "weather in rows": _chain("/p/", _day),
    "dates": _chain("/p/", _date),
    "draws": _chain("/p/", _draw),
    "results": _chain("/p/", _result),
    "measurements": _chain("/station/", _measured),
    "show?id=": _chain("/show?id=", _shown),
    "photos": _chain("/photo/", _photo),
    "comic": _chain("/comic/", _comic),
    "commits": _chain("/commit/", _commit, back=False),
    "glossary": _chain("/term/", _defined, back=False),
    "weather": _chain("/weather/", _weather),
    "games": _chain("/game/", _game),
    "parts": _chain("/part/", _part),
    "notices": _chain("/notice/", _notice),
    "register": _chain("/register?page=", _names, back=False),
    "family tree": _person,
    "catalogue": _catalogue(_goods, 6, 20),
    "names of goods": _catalogue(_bare_goods, 0, 20),
    "ten categories": _catalogue(_goods, 3, 12, groups=10),
}
