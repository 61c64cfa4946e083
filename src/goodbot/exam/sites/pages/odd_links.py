"""Links are in AREA, frames, META refresh and LINK as well as in A."""

from goodbot.exam.exam_values import ExamSite, Reply, page
from goodbot.exam.expectations import Fetches

MIXED = b"""<!doctype html><html><head><title>Mixed</title>
<link rel=next href=/link-next>
</head><body><map name=m><area shape=rect coords=0,0,9,9 href=/area></map><img usemap=#m src=data:, alt="">
<iframe src=/iframe></iframe>
<p><a href=/no-text></a> <a rel=external href=/rel-external target=_blank>away</a>"""
FRAMES = b"""<!doctype html><html><head><title>Frames</title></head>
<frameset cols=*,*><frame src=/frame/left><frame src=/frame/right></frameset></html>"""

FOUND = ("/area", "/no-text", "/rel-external")
MORE = ("/frame/left", "/frame/right", "/iframe", "/refreshed", "/link-next")

SITE = ExamSite(
    name="odd-links",
    teaches="Follow links in A and AREA, and if you can also those in frames, META refresh and LINK.",
    source="HTML 4.2.4, 4.2.5.3, 4.8.5, 4.8.14; HTML 4.01 16",
    pages={
        "/": page("/mixed", "/frames", "/refresh"),
        "/mixed": Reply(MIXED),
        "/frames": Reply(FRAMES),
        "/refresh": page(head='<meta http-equiv="Refresh" content="0; URL=/refreshed">'),
        **{path: page(title="Found") for path in (*FOUND, *MORE)},
    },
    expects=(
        Fetches(("/", "/mixed", "/frames", "/refresh", *FOUND)),
        Fetches(MORE, rule="other-links"),
    ),
)
