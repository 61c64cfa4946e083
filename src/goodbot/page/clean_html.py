"""Cleans HTML: only elements and attributes of text stay, without scripts, styles and event handlers."""

from typing import Final

from turbohtml.clean import OnDisallowed, Policy, Sanitizer

OTHER_SCHEMES: Final = ("mailto:", "tel:")
"""The schemes of links that are kept beside http and https. Links of other kinds, such as `javascript:`, are not."""

_TAGS: Final = """
    a abbr address article b bdi bdo blockquote br caption cite code dd del details dfn div dl dt em figcaption
    figure footer h1 h2 h3 h4 h5 h6 header hr i img ins kbd li main mark ol p pre q s samp section small span strong
    sub summary sup table tbody td tfoot th thead time tr tt u ul var
"""
_SANITIZER: Final = Sanitizer(
    Policy(
        tags=frozenset(_TAGS.split()),
        attributes={
            "*": frozenset({"title", "lang", "dir"}),
            "a": frozenset({"href"}),
            "code": frozenset({"class"}),
            "img": frozenset({"src", "alt"}),
            "ol": frozenset({"start"}),
            "time": frozenset({"datetime"}),
        },
        url_schemes=frozenset({"http", "https", *(scheme.rstrip(":") for scheme in OTHER_SCHEMES)}),
        on_disallowed_tag=OnDisallowed.STRIP,
    )
)


def clean_html(html: str) -> str:
    """Returns a fragment of HTML with only the elements and attributes of text. Never raises."""
    return _SANITIZER.sanitize(html)
