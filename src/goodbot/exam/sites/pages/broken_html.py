"""The HTML has every mistake people make, and several BASE elements."""

from goodbot.exam.exam_values import ExamSite, Reply, page
from goodbot.exam.expectations import DoesNotFetch, Fetches

HTML = b"""<title>Broken & bare <a href="in-title">no link</a></title>
<base target=_top>
<base href="/base/sub/">
<base href="/wrong/">
<p><b><i><a href=unquoted/>a slash that belongs to the link</b></i>
<a href='single-quotes'>one link <a href="nested">in another</a></a>
<A HREF = "blanks-around-equals" >capitals
<a class="x"href="no-blank-before">tight</a>
<a href="first" href="second">twice</a>
<a title="a > b" href="after-greater">a character</a>
<table><tr><td><a href="in-table">a cell <td><div><span></table>
<!--><a href="after-empty-comment">a comment that ends at once</a><!-- -->
<!-- <a href="commented-out">no link</a> -- > <a href="still-commented">no link</a> -->
<textarea><a href="in-textarea">no link</a></textarea>
</p></p></div></body></html>
<a href="after-the-end">after the end</a>
<a href="../up">up</a>
<p <b <i"""

FOUND = (
    *(f"/base/sub/{name}" for name in ("unquoted/", "single-quotes", "nested", "blanks-around-equals")),
    *(f"/base/sub/{name}" for name in ("no-blank-before", "first", "after-greater", "in-table")),
    *(f"/base/sub/{name}" for name in ("after-empty-comment", "after-the-end")),
    "/base/up",
)
NO_LINKS = ("/wrong/*", "*in-title", "*second", "*commented-out", "*still-commented", "*in-textarea")

SITE = ExamSite(
    name="broken-html",
    teaches="Read broken HTML as browsers do, and resolve links against the first BASE with an href.",
    source="HTML 4.2.3, 13.2.5, 13.2.6",
    pages={"/": page("/broken"), "/broken": Reply(HTML), **{path: page(title="Found") for path in FOUND}},
    expects=(Fetches(("/", "/broken", *FOUND)), DoesNotFetch(NO_LINKS, rule="trap")),
)
