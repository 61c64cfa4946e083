"""A wiki without pages: each address gets a page that says its own path and proposes two deeper ones."""

from goodbot.exam.sites.endless import View, is_word, trap_site, words


def _wiki(target: str, before: int) -> View | None:
    names = target.removeprefix("/wiki/").split("/")
    if not target.startswith("/wiki/") or not all(map(is_word, names)):
        return None
    title = f"{' / '.join(names)}: no such article yet"
    text = f"Nobody has written about {' in '.join(reversed(names))} yet. Begin the article, or look at these."
    return View(title, text, tuple(f"{target}/{word}" for word in words(target, 2)))


SITE = trap_site(
    "trap-path-in-title",
    "Pages that repeat their own path in title and text all differ and say nothing: a crawler stops in time.",
    "Bar-Yossef and others, Sic Transit Gloria Telae, 2004",
    _wiki,
    door="/wiki/harbour",
    pattern="/wiki/*",
    branches=2,
)
