"""Style attributes that hide their element, in the spellings that browsers read, and those that do not hide it."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from goodbot.page.hidden_style import hides

HIDING = [
    "display:none",
    "DISPLAY : none !important",
    "color:red;display:none;",
    "display:/**/none",
    "display/* a */:/* b;c */none/**/",
    "/* a */display:none",
    "/*\\*/display:none",
    r"dis\play:none",
    r"\64isplay:none",
    r"\000064 isplay:\6e one",
    "display:\nnone",
    'content:"/*";display:none',
    'content:"a\\";b";display:none',
    "content:'/*';display:/**/none;x:'*/'",
    "background:url(/*);display:none",
    r"background:\75rl(/*);display:none",
    'background:url("a)/*");display:none',
    'quotes:"a\n;display:none',
    "display:none;display:block",
    r"a:\"; display:none",
    "visibility:hidden",
    "visibility : COLLAPSE",
]
SHOWING = [
    "",
    "display:block",
    "display:nonesuch",
    "no/**/ne:none",
    "dis/**/play:none",
    "display:no/**/ne",
    r"display\:none",
    r"color:x\;display:none",
    r"display\3a none",
    "/*display:none*/color:red",
    "color:red/*;display:none",
    'content:";display:none"',
    "background:url(a;display:none)",
    "--display:none",
    "visibility:visible",
    "opacity:0",
    "font-size:0",
    "left:-9999px;position:absolute",
]


@pytest.mark.parametrize("style", HIDING)
def test_what_hides(style: str) -> None:
    assert hides(style)


@pytest.mark.parametrize("style", SHOWING)
def test_what_does_not_hide(style: str) -> None:
    assert not hides(style)


@given(st.text(alphabet="/*\\;:(){}'\"\n dnurl0e-.", max_size=80))
def test_any_text_is_read(style: str) -> None:
    assert hides(style) in (True, False)
    assert hides(f"{style}*/\"';{style}\n') ;}};display:none") in (True, False)


@pytest.mark.parametrize("part", ["/*", "\\", '"', "'", "url(", "/* ;", "\\64", ";display:", " ", "-", "url(\\"])
def test_long_ones_cost_little(part: str) -> None:
    assert not hides(part * 200_000)
