"""A labyrinth of made-up pages, such as sites set up against robots that do not obey: words, words, and links."""

from goodbot.exam.sites.endless import View, is_word, trap_site, words


def _maze(target: str, before: int) -> View | None:
    names = target.removeprefix("/maze/").split("-")
    if not target.startswith("/maze/") or len(names) != 3 or not all(map(is_word, names)):
        return None
    chosen = words(f"doors {target}", 12)
    onward = tuple("/maze/" + "-".join(chosen[n : n + 3]) for n in range(0, 12, 3))
    sentences = (" ".join(words(f"{n} {target}", 9)).capitalize() for n in range(12))
    return View(" ".join(names).capitalize(), ". ".join(sentences) + ".", onward)


SITE = trap_site(
    "trap-labyrinth",
    "Pages of random words link to more such pages, no two alike: a crawler has a limit for each host.",
    "Cloudflare, AI Labyrinth, 2025; Nepenthes, 2025",
    _maze,
    door="/maze/amber-cliff-willow",
    pattern="/maze/*",
    branches=4,
)
