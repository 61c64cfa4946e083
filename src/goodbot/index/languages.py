"""Detects the language of a text. Has the stemmers and the most frequent words of languages. Pure.

A text's script decides first. Among languages that share the Latin or the Cyrillic script, the most frequent words of
each decide.
"""

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from itertools import chain
from types import MappingProxyType
from typing import Final

from Stemmer import Stemmer  # type: ignore[import-not-found]  # PyStemmer has no types

from goodbot.index.keys import WRITTEN_ALIKE

STEMMERS: Final = MappingProxyType(
    {
        "en": "english",
        "ru": "russian",
        "de": "german",
        "fr": "french",
        "es": "spanish",
        "it": "italian",
        "pt": "portuguese",
        "nl": "dutch",
        "sv": "swedish",
        "da": "danish",
        "no": "norwegian",
        "fi": "finnish",
        "hu": "hungarian",
        "ro": "romanian",
        "tr": "turkish",
        "el": "greek",
    }
)
"""The languages whose words are stemmed, by ISO 639-1 codes, with PyStemmer's names for them."""

_SAMPLE_CHARS: Final = 750
_MIN_WORDS: Final = 3
"""With fewer frequent words, the language of a text is unknown, unless it is stated."""
_MIN_SHARE: Final = 0.06
"""If a smaller share of the words is frequent, the language is unknown. Running text has twice this share, lists of
names have less."""
_ENOUGH_WORDS: Final = 7
_WORDS_FOR_ONE: Final = 5
"""Another language than English needs one different frequent word in five words, at least 3, at most 7: programs in
Haskell have as many `a` and `s` as a Hungarian text. Of 69,000 pages, 400 in English were taken for others without this
rule."""
_PLAIN_SHARE: Final = 0.2
"""With this share of frequent words of the stated language, no other language is considered."""
_CLEAR: Final = 3.0
"""A text contradicts the stated language if it has this many times as many frequent words of another language."""

_FREQUENT: Final = {
    "en": """a about also an and are as at be been but by can did do does for from had has have he her his how i if
        in into is it its may me more my no not of on one or our out should so some such than that the their
        them then there these they this to was we were what when where which who why will with would you your""",
    "de": """als am an auch auf aus bei bis da das dass dem den der des die dies diese dieser doch durch ein eine
        einem einen einer eines er es für haben hat hier ich ihr im in ist kann kein können man mehr mit nach
        nicht noch nur ob oder sein sich sie sind so über um und uns unter von vor war was wenn werden wie wir
        wird zu zum zur""",
    "fr": """à au aussi aux avec ce cela ces cet cette comme dans de des deux du elle en est et être eux il ils je la
        le les leur lui mais même ne nos notre nous on ont ou où par pas peut plus pour qu que qui sa sans se
        ses si son sont sur tout un une vos votre vous y""",
    "es": """a al algo como con cuando de del desde donde dos el él ella ellos en entre era es esta está este esto
        fue ha hasta hay la las le les lo los más me mi muy no nos o otro para pero por porque puede que qué se
        ser si sin sobre son su sus también tiene todo un una uno y ya""",
    "it": """a ad ai al alla alle anche che chi ci come con cosa da dal dalla degli dei del della delle di dove due e
        è ed era essere gli ha hanno i il in io la le lei lo loro lui ma mi nel nella no noi non o ogni per
        perché più può quando questa questo se si sia sono su sul suo tra tutti un una uno""",
    "pt": """a ao aos as até com como da das de do dos e é ela ele em entre era essa esse esta está este eu foi há
        isso já lhe mais mas me mesmo muito na não nas nem no nos o os ou para pela pelo pode por quando que
        quem se sem ser seu sua são também tem um uma você""",
    "nl": """aan al als bij dan dat de deze die dit door een en er geen haar had heeft het hij hoe hun ik in is je
        kan maar me meer met mij naar niet nog nu of om omdat onder ook op over te tot uit van veel voor waar
        was wat we wel werd wij worden wordt ze zich zij zijn zo""",
    "sv": """alla att av blev bli de dem den denna det detta dig din du där eller en ett finns från för ha han har
        hon hur här i inte jag kan kom man med men mot mycket många när någon nu och om oss på sedan sig sin
        skall ska som så till under upp ut vad var vi vid är över""",
    "da": """af alle at blev da de dem den denne der deres det dette dig din du efter eller en er et for fra ham han
        har havde hun hvad hvis hvor i ikke jeg kan man med meget men mig min mod nu når og også om op os på sig
        sin skal som så til ud under var ved vi vil være""",
    "no": """alle at av ble da de den denne der deres det dette du eller en enn er et etter for fra ha han har hun
        hva hvis hvor i ikke jeg kan man med meg men min mot nå når og også om opp oss over på seg sin skal som
        så til under ut var ved vi vil være""",
    "fi": """ei että he hän ja jo joka jos jotka joten kaikki kanssa kuin kuten kun kyllä me mikä minä mitä mukaan
        mutta myös ne niin noin nyt näin oli olla olen on ovat se sekä sen siitä sinä tai te tämä tässä vain voi""",
    "hu": """a az be csak de egy egyik el ez ezt és ha hogy itt is ki kell le lehet meg még mert mi mint minden most
        nagy nem ott pedig s sem szerint több új vagy van vannak volt""",
    "ro": """a acest această ai al ale am ar are ca care cât ce cu cum când că de din dintre după el ea este fi fost
        în la le lor lui mai nici nu o pe pentru poate prin sa sau se sunt să și un une unei unui""",
    "tr": """ama ancak bir bu çok da daha de değil diye en gibi göre hem her için ile ise kadar ki mi ne o olan
        olarak oldu olduğu sonra şu tüm ve veya ya yani""",
    "ru": """а без бы был была были было быть в вам вас весь во вот все всего вы где да для до его ее если есть еще
        же за здесь и из или им их к как ко когда кто ли либо мне может мы на над не нет но о об однако он она
        они оно от по под при с со так также такой там те то того той только том ты у уже чего чей чем что чтобы
        эта эти это я""",
    "uk": """або але б був була були було в вже ви від він вона вони все для до є з за й його і із їх коли ми може на
        не про та так також те ти тільки то у це цей що щоб як яка який якщо""",
    "bg": """ако без бе беше ви до за и или като към ли ме мога му на над не ни но от по под при с са се си след със
        така това той тя те че ще""",
}
FREQUENT: Final = MappingProxyType({code: frozenset(words.split()) for code, words in _FREQUENT.items()})
"""The stop words of languages: words so frequent that they count little in a query that has other words."""

_USED_BY: Final = {
    word: tuple(code for code, words in FREQUENT.items() if word in words)
    for word in chain.from_iterable(FREQUENT.values())
}
"""The languages in which a word is frequent."""

_CYRILLIC = ("ru", "uk", "bg")
_LATIN = tuple(code for code in FREQUENT if code not in _CYRILLIC)
"""In a fixed order, which decides if a text has equally many frequent words of two languages; the stated language and
English come before it."""
_SCRIPTS: Final = (
    ("ja", re.compile(r"[\u3041-\u30ff]")),
    ("ko", re.compile(r"[\uac00-\ud7a3]")),
    ("zh", re.compile(r"[\u3400-\u4dbf\u4e00-\u9fff]")),
    ("el", re.compile(r"[\u0370-\u03ff\u1f00-\u1fff]")),
    ("he", re.compile(r"[\u0590-\u05ff]")),
    ("ar", re.compile(r"[\u0600-\u06ff]")),
    ("th", re.compile(r"[\u0e00-\u0e7f]")),
    ("hi", re.compile(r"[\u0900-\u097f]")),
    ("ka", re.compile(r"[\u10a0-\u10ff]")),
    ("hy", re.compile(r"[\u0530-\u058f]")),
)
_SCRIPT_OF: Final = {name: name for name, _ in _SCRIPTS} | dict.fromkeys(_CYRILLIC, "ru")
"""The script of each language, named by the first of its languages. Languages in Latin letters are missing."""
_OTHER_LETTERS = re.compile(r"[\u0370-\u1fff\u3041-\ud7a3]+")
"""All letters of `_SCRIPTS` and Cyrillic, but no punctuation. One sample of 40 has such letters."""
_CYRILLIC_LETTER = re.compile(r"[\u0400-\u04ff]")
_LATIN_LETTER = re.compile(r"[A-Za-z\u00c0-\u024f]")
_WORDS = re.compile(r"[a-z]++(?![^\x00-\x7f])|[^\W\d_]+")
"""Most words are ASCII in lower case: the first alternative takes half the time."""


def language_of(stated: str | None, text: str) -> str:
    """Returns the two-letter code of the language of `text`, or an empty string if it is unknown. `stated` is
    its BCP 47 tag according to its author, which counts unless the text contradicts it. Reads 1,500 characters."""
    code = (stated or "")[:2].lower()
    code = WRITTEN_ALIKE.get(code, code) if code.isascii() and code.isalpha() and len(code) == 2 else ""
    sample = _sample(text)
    others = "" if sample.isascii() else "".join(_OTHER_LETTERS.findall(sample))
    if not others:
        return _by_words(sample, _LATIN, code)
    latin = len(_LATIN_LETTER.findall(sample))
    cyrillic = len(_CYRILLIC_LETTER.findall(others))
    for name, letters in _SCRIPTS:
        count = len(letters.findall(others))
        if 2 * count > latin and count > cyrillic:  # in pages about programs, half of the letters are Latin
            return code if name in ("zh", "ar", "hi") and code and code not in STEMMERS else name
    if cyrillic > latin:
        return _by_words(sample, _CYRILLIC, "" if code in _LATIN else code) or "ru"
    return _by_words(sample, _LATIN, code)


def _sample(text: str) -> str:
    """Returns the beginning and a piece from the middle: pages begin with menus."""
    if len(text) <= 2 * _SAMPLE_CHARS:
        return text
    middle = len(text) // 2
    return f"{text[:_SAMPLE_CHARS]} {text[middle : middle + _SAMPLE_CHARS]}"


def _by_words(sample: str, among: Sequence[str], stated: str) -> str:
    """Returns the language of which the sample has most different frequent words, or the stated one if the result is
    unclear."""
    found = _WORDS.findall(sample.lower())
    if not found:
        return stated
    if stated in among and sum(map(FREQUENT[stated].__contains__, found)) >= _PLAIN_SHARE * len(found):
        return stated
    counts, distinct = Counter[str](), Counter[str]()
    for word, count in Counter(found).items():
        for code in _USED_BY.get(word, ()):
            counts[code] += count
            distinct[code] += 1
    best = max(among, key=lambda code: (distinct[code], counts[code], code == stated, code == "en"))
    if stated in among and counts[best] < _CLEAR * max(counts[stated], 1):
        return stated
    is_clear = counts[best] >= max(_MIN_WORDS, _MIN_SHARE * len(found))
    needed = min(_ENOUGH_WORDS, max(_MIN_WORDS, len(found) // _WORDS_FOR_ONE))
    return best if is_clear and (best == "en" or distinct[best] >= needed) else stated


def by_script(languages: Sequence[str], text: str) -> list[str]:
    """Returns the languages, those in the script of `text` first, otherwise in their order: a query in Latin letters
    seldom wants the Russian translation."""
    scripts = {_script_of(letter) for letter in set(text.lower()) if letter.isalpha()}
    if "zh" in scripts:  # Han, which Japanese has too
        scripts = scripts - {"zh"} if "ja" in scripts else scripts | {"ja"}
    return sorted(languages, key=lambda code: _SCRIPT_OF.get(code, "") not in scripts)


def _script_of(letter: str) -> str:
    if _CYRILLIC_LETTER.match(letter):
        return "ru"
    return next((name for name, letters in _SCRIPTS if letters.match(letter)), "")


@cache
def stemmer(language: str) -> Stemmer:
    """Returns the stemmer of a language in `STEMMERS`."""
    return Stemmer(STEMMERS[language], 0)


def stemming_languages(languages: Sequence[str]) -> tuple[str, ...]:
    """Returns those of `languages` that have a stemmer; English if none has."""
    return tuple(code for code in dict.fromkeys(languages) if code in STEMMERS) or ("en",)
