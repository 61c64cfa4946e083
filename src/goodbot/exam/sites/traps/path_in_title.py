"""A wiki without articles answers every path with a page that repeats the path and links to two deeper ones."""

from goodbot.exam.sites.endless import TrapPage, is_word, trap_site, words


def _wiki(target: str, before: int) -> TrapPage | None:
    names = target.removeprefix("/wiki/").split("/")
    if not target.startswith("/wiki/") or not all(map(is_word, names)):
        return None
    title = f"{' / '.join(names)}: no such article yet"
    text = f"Nobody has written about {' in '.join(reversed(names))} yet. Begin the article, or look at these."
    return TrapPage(title, text, tuple(f"{target}/{word}" for word in words(target, 2)))


SITE = trap_site(
    "trap-path-in-title",
    "Stop in time when pages differ only by repeating their own path in title and text.",
    "Bar-Yossef and others, Sic Transit Gloria Telae, 2004",
    _wiki,
    entrance="/wiki/harbour",
    pattern="/wiki/*",
    branches=2,
)
