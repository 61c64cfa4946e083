"""A page that a browser has made: what it says, and what it asks of robots before and after."""

from hypothesis import given
from hypothesis import strategies as st

from goodbot.page import Body, read_page
from goodbot.page.rendered import Rendered, read_rendered
from goodbot.url import Url
from goodbot.values import Response

URL = Url("http://site.example/folder/page.html")


def response(html: str = "", *fields: tuple[str, str]) -> Response:
    return Response(200, (("Content-Type", "text/html; charset=koi8-r"), *fields), html.encode("koi8-r", "replace"))


def test_the_rendered_document_is_read_and_not_the_one_that_came() -> None:
    made = Rendered("<html lang=ru><title>новое</title><body>текст <a href=next>дальше</a></body></html>")
    page = read_rendered(URL, Body(response("<title>old</title>"), 10_000), made, "goodbot")
    assert (page.title, page.text, page.language, page.encoding) == ("новое", "текст дальше", "ru", "utf-8")
    assert [link.url.text for link in page.links] == ["http://site.example/folder/next"]


def test_headers_still_speak() -> None:
    page = read_rendered(URL, Body(response("", ("X-Robots-Tag", "noindex")), 10_000), Rendered("<p>x"), "goodbot")
    assert not page.directives.index


def test_description_is_that_of_the_rendered_document() -> None:
    came = response("<meta name=description content=before>")
    page = read_rendered(URL, Body(came, 10_000), Rendered("<meta name=description content=after>"), "goodbot")
    assert page.directives.description == "after"


def test_where_scripts_wanted_to_go_is_a_link() -> None:
    made = Rendered("<p>x", ("http://other.example/", "about:blank", "http://other.example/"))
    page = read_rendered(URL, Body(response(), 10_000), made, "goodbot")
    assert [link.url.text for link in page.links] == ["http://other.example/"]


def test_what_could_not_be_rendered_is_read_as_it_came() -> None:
    came = response("<title>привет</title><body>слово <a href=/a>a</a>")
    assert read_rendered(URL, Body(came, 10_000), Rendered(None), "goodbot") == read_page(URL, came, "goodbot", 10_000)


@given(before=st.text(), after=st.text() | st.none(), wishes=st.lists(st.text(), max_size=3))
def test_nothing_is_raised_whatever_a_browser_gives(before: str, after: str | None, wishes: list[str]) -> None:
    made = Rendered(after, tuple(wishes))
    assert read_rendered(URL, Body(response(before), 100), made, "goodbot").url == URL
