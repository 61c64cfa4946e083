"""The languages of texts, as stated and as read, and their stemmers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.index.languages import FREQUENT, STEMMERS, by_script, language_of, stemmer, stemming_languages

TEXTS = {
    "en": "The robot waits between two requests, and it does not ask for more than the server will give.",
    "de": "Der Roboter wartet zwischen zwei Anfragen, und er fragt nicht nach mehr, als der Server geben kann.",
    "fr": "Le robot attend entre deux requêtes, et il ne demande pas plus que ce que le serveur peut donner.",
    "es": "El robot espera entre dos peticiones, y no pide más de lo que el servidor puede dar a los otros.",
    "it": "Il robot aspetta tra due richieste, e non chiede più di quello che il server può dare agli altri.",
    "pt": "O robô espera entre dois pedidos, e não pede mais do que o servidor pode dar aos outros.",
    "nl": "De robot wacht tussen twee verzoeken, en hij vraagt niet meer dan wat de server kan geven.",
    "sv": "Roboten väntar mellan två frågor, och den ber inte om mer än vad servern kan ge till alla.",
    "fi": "Robotti odottaa, ja se ei pyydä niin paljon kuin muut, mutta tämä on myös se mitä se voi.",
    "hu": "A robot vár két kérés között, és nem kér többet, mint amit a szerver adni tud, mert ez így van.",
    "ro": "Robotul așteaptă între două cereri și nu cere mai mult decât poate să dea un server, dar este de ajuns.",
    "tr": "Robot iki istek arasında bekler ve sunucunun verebileceği kadar ister, daha çok değil, her gün bu için.",
    "ru": "Робот ждёт между двумя запросами, и он не просит больше, чем сервер может дать.",
    "uk": "Робот чекає між двома запитами, і він не просить більше, ніж сервер може дати, або що це є.",
    "bg": "Роботът ще чака, ако трябва, и не иска повече, отколкото може да се даде без това, след което си ги ползва.",
    "el": "Το ρομπότ περιμένει ανάμεσα σε δύο αιτήσεις.",
    "ja": "ロボットは二つのリクエストの間で待ちます。",
    "ko": "로봇은 두 요청 사이에 기다립니다.",
    "zh": "机器人在两个请求之间等待。",
    "he": "הרובוט ממתין בין שתי בקשות.",
    "ar": "ينتظر الروبوت بين طلبين.",
    "th": "หุ่นยนต์รอระหว่างคำขอสองครั้ง",
    "hi": "रोबोट दो अनुरोधों के बीच प्रतीक्षा करता है।",
    "ka": "რობოტი ელოდება ორ მოთხოვნას შორის.",
    "hy": "Ռոբոտը սպասում է երկու հարցումների միջև։",
}


@pytest.mark.parametrize("code", TEXTS)
def test_a_text_tells_its_language(code: str) -> None:
    assert language_of(None, TEXTS[code]) == code


@pytest.mark.parametrize("code", ["en", "de", "ru", "el", "hy"])
def test_capital_letters_make_no_difference(code: str) -> None:
    assert language_of("", TEXTS[code].upper()) == code


@pytest.mark.parametrize("code", TEXTS)
def test_a_stated_language_counts(code: str) -> None:
    assert language_of(f"{code}-XX", TEXTS[code]) == code
    assert language_of(code.upper(), TEXTS[code]) == code


@pytest.mark.parametrize(("text", "stated"), [("de", "en"), ("en", "de"), ("ru", "en"), ("ja", "en"), ("fr", "nl")])
def test_a_text_may_contradict_what_is_stated(text: str, stated: str) -> None:
    assert language_of(stated, TEXTS[text]) == text


STATED = [
    ("nothing at all", "", "", ""),
    ("no text", "de", "", "de"),
    ("no words", "de", "1 + 1 = 2", "de"),
    ("names", "", "Anna Berta Caesar Dora Emil Friedrich Gustav", ""),
    ("names, stated", "sv", "Anna Berta Caesar Dora Emil Friedrich Gustav", "sv"),
    ("a language that nobody stems", "eo", "Saluton, mondo", "eo"),
    ("Norwegian, written one way", "nb", "", "no"),
    ("Norwegian, written the other way", "nn-NO", "", "no"),
    ("Hebrew by its old code", "iw", "", "he"),
    ("a program in Haskell", "", "foldl :: (b -> a -> b) -> b -> t a -> b; type S a s = s a, k a s, a s " * 9, ""),
    ("a table of letters", "", "A B C D E F G H I J K L M N O P Q R S T U V W X Y Z doc index", ""),
    ("English with names of a program", "", "io io io io io io io. The io manager is not the one that you want.", "en"),
    ("a short text", "", "Il gatto è sul tavolo e non si muove.", "it"),
    ("a tag with underscore", "pt_BR", "", "pt"),
    ("a tag of one letter", "e", "", ""),
    ("no tag", "12", "", ""),
    ("not ASCII", "ду", "", ""),
    ("Persian in Arabic letters", "fa", TEXTS["ar"], "fa"),
    ("Urdu in Arabic letters", "ur", TEXTS["ar"], "ur"),
    ("Arabic letters, English stated", "en", TEXTS["ar"], "ar"),
    ("Marathi in Devanagari", "mr", TEXTS["hi"], "mr"),
    ("Cyrillic letters that tell nothing", "", "Анна Берта Цезарь", "ru"),
    ("Serbian in Cyrillic letters", "sr", "Ана Берта Цезар", "sr"),
    ("a Japanese page about programs", "", "この関数は値を出力します。 print(x)", "ja"),
    ("Norwegian, since it is stated", "no", "Det er ikke sant at han har vært her, og de er ikke i huset.", "no"),
    ("Danish, since it is stated", "da", "Det er ikke sandt at han har været her, og de er ikke i huset.", "da"),
]


@pytest.mark.parametrize(("name", "stated", "text", "expected"), STATED)
def test_stated_and_read(name: str, stated: str, text: str, expected: str) -> None:
    assert language_of(stated, text) == expected


@pytest.mark.parametrize("stated", ["de", "en"])
def test_cyrillic_names_are_not_in_a_language_of_latin_letters(stated: str) -> None:
    assert language_of(stated, "Анна Берта Цезарь") == "ru"


def test_the_middle_counts_as_well_as_the_beginning() -> None:
    """A menu in English, and then a German text."""
    menu = "Home Products Support Download Login " * 40
    assert language_of(None, menu + TEXTS["de"] * 40) == "de"


@given(st.none() | st.text(alphabet=st.characters()), st.text(alphabet=st.characters()))
def test_any_text(stated: str | None, text: str) -> None:
    found = language_of(stated, text)
    assert found == "" or (len(found) == 2 and found.isascii() and found.isalpha() and found.islower())
    assert found == language_of(stated, text)


@pytest.mark.parametrize("code", STEMMERS)
def test_every_language_that_is_stemmed_has_a_stemmer_and_can_be_recognized(code: str) -> None:
    assert stemmer(code).stemWord("") == ""
    assert code in FREQUENT or code == "el"


FORMS = [
    ("en", "robots", "robot"),
    ("de", "häuser", "haus"),
    ("fr", "continuellement", "continuel"),
    ("ru", "кошками", "кошка"),
    ("sv", "bilarna", "bilar"),
    ("es", "gatos", "gato"),
]


@pytest.mark.parametrize(("code", "one", "other"), FORMS)
def test_forms_of_a_word_have_one_stem(code: str, one: str, other: str) -> None:
    assert stemmer(code).stemWord(one) == stemmer(code).stemWord(other)


def test_languages_without_a_stemmer_are_left_out() -> None:
    assert stemming_languages(["ja", "de", "en", "de", "xx"]) == ("de", "en")
    assert stemming_languages(["ja"]) == stemming_languages([]) == ("en",)


@pytest.mark.parametrize(
    ("query", "order"),
    [
        ("essential packages", ["en", "de", "ru", "uk", "ja", "zh", "el"]),
        ("пакеты", ["ru", "uk", "en", "ja", "zh", "el", "de"]),
        ("пакеты apt", ["ru", "en", "uk", "de", "ja", "zh", "el"]),
        ("漢字", ["ja", "zh", "ru", "en", "uk", "el", "de"]),
        ("漢字の", ["ja", "ru", "en", "uk", "zh", "el", "de"]),
        ("λόγος", ["el", "ru", "en", "uk", "ja", "zh", "de"]),
        ("12 + ☂", ["ru", "en", "uk", "ja", "zh", "el", "de"]),
        ("", ["ru", "en", "uk", "ja", "zh", "el", "de"]),
    ],
)
def test_languages_in_the_letters_of_a_query_come_first(query: str, order: list[str]) -> None:
    assert by_script(["ru", "en", "uk", "ja", "zh", "el", "de"], query) == order
