"""Links that are not in A."""

from goodbot.exam.exam_values import ExamSite, Reply, page
from goodbot.exam.expectations import Finds

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
    teaches="Links stand in A and AREA; who also looks into frames, META refresh and LINK finds more.",
    source="HTML 4.2.4, 4.2.5.3, 4.8.5, 4.8.14; HTML 4.01 16",
    pages={
        "/": page("/mixed", "/frames", "/refresh"),
        "/mixed": Reply(MIXED),
        "/frames": Reply(FRAMES),
        "/refresh": page(head='<meta http-equiv="Refresh" content="0; URL=/refreshed">'),
        **{path: page(title="Found") for path in (*FOUND, *MORE)},
    },
    expects=(
        Finds(("/", "/mixed", "/frames", "/refresh", *FOUND)),
        Finds(MORE, rule="other-links"),
    ),
)
