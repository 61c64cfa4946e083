"""Tests how soft 404 pages are found."""

import pytest

from goodbot.robot.lessons.soft_404 import Soft404Pages, is_error_text, without_address

ORIGIN = "http://example.org"


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("404", ""),
        ("Error (404)", ""),
        ("Page not found", "Try the search."),
        ("Oops", "The page isn't here"),
        ("Oops", "That page was not here."),
        ("Oops", "This does not exist"),
        ("Oops", "They do not exist"),
        ("Sorry", "The page you are looking for has been moved or deleted."),
        ("Shop", "This product is no longer available."),
        ("Oops", "We couldn’t find that."),
        ("Fehler", "Die Seite wurde nicht gefunden."),
        ("Erreur", "Page introuvable"),
        ("Error", "La página no existe"),
        ("Erro", "Página não encontrada"),
        ("Errore", "Pagina non trovata"),
        ("Fout", "Deze pagina bestaat niet"),
        ("Ошибка", "Страница не найдена"),
        ("ОШИБКА", "СТРАНИЦА НЕ НАЙДЕНА"),
        ("HATA", "SAYFA BULUNAMADI"),
        ("FEHLER", "DIE SEITE IST NICHT MEHR VERFÜGBAR"),
        ("エラー", "ページが見つかりません"),
        ("错误", "您访问的页面不存在"),
        ("오류", "페이지를 찾을 수 없습니다"),
        ("خطأ", "الصفحة غير موجودة: لم يتم العثور عليها"),
    ],
)
def test_what_is_sorry(title: str, text: str) -> None:
    assert is_error_text(title, text, len(text.split()))


@pytest.mark.parametrize(
    ("title", "text"),
    [
        ("Error 4040", "Of the printer."),
        ("Room B404", "On the fourth floor."),
        ("Harbour", "All about boats."),
        ("HTTP status codes", "404 means not found. " + "There is more to say. " * 30),
    ],
)
def test_what_is_not(title: str, text: str) -> None:
    assert not is_error_text(title, text, len(text.split()))


def test_the_same_text_for_quite_other_paths_is_a_soft_404() -> None:
    pages = Soft404Pages()
    paths = ["/a/x", "/b/y", "/c/z", "/d/w"]
    found = [pages.visited(ORIGIN, path, 1) for path in paths]
    assert found == [None, None, None, ["/a/x", "/b/y", "/c/z"]]


def test_in_one_folder_it_takes_more_of_them() -> None:
    pages = Soft404Pages()
    found = [pages.visited(ORIGIN, f"/gone/{n}", 1) for n in range(7)]
    assert [answer is not None for answer in found] == [False] * 5 + [True] * 2


def test_other_texts_other_sites_and_the_same_page_again_are_none() -> None:
    pages = Soft404Pages()
    assert all(pages.visited(ORIGIN, f"/a{n}/x", n) is None for n in range(20))
    assert all(pages.visited(f"http://{n}.example", f"/a{n}/x", 1) is None for n in range(20))
    assert all(pages.visited(ORIGIN, "/same", 99) is None for _ in range(20))


def test_what_was_asked_for_is_no_part_of_the_text() -> None:
    assert without_address("No /a/lost.html here: lost.html", "/a/lost.html") == "No  here: "
    assert without_address("No / here", "/") == "No / here"
