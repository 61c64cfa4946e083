"""Pages of made-up words link to more such pages, as some sites do against disobedient robots."""

from goodbot.exam.sites.endless import TrapPage, is_word, trap_site, words


def _maze(target: str, before: int) -> TrapPage | None:
    names = target.removeprefix("/maze/").split("-")
    if not target.startswith("/maze/") or len(names) != 3 or not all(map(is_word, names)):
        return None
    chosen = words(f"doors {target}", 12)
    onward = tuple("/maze/" + "-".join(chosen[n : n + 3]) for n in range(0, 12, 3))
    sentences = (" ".join(words(f"{n} {target}", 9)).capitalize() for n in range(12))
    return TrapPage(" ".join(names).capitalize(), ". ".join(sentences) + ".", onward)


SITE = trap_site(
    "trap-labyrinth",
    "Limit the pages you fetch from a host: pages of random words link to ever more, no two alike.",
    "Cloudflare, AI Labyrinth, 2025; Nepenthes, 2025",
    _maze,
    entrance="/maze/amber-cliff-willow",
    pattern="/maze/*",
    branches=4,
)
