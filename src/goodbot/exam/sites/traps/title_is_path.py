"""Pages whose title is their path, and that lead to more of them."""

import re

from goodbot.exam.sites.endless import View, trap_site, words

_PATH = re.compile(r"/q(?:/[1-3]){1,1000}")


def _answers(target: str, before: int) -> View | None:
    if not _PATH.fullmatch(target):
        return None
    text = f"Results for {target}: {', '.join(words(target, 25))}."
    return View(target, text, tuple(f"{target}/{number}" for number in (1, 2, 3)))


SITE = trap_site(
    "trap-title-is-path",
    "Pages whose title is their path were made by a program and lead to three more each: a crawler stops in time.",
    "the site",
    _answers,
    door="/q/1",
    pattern="/q/*",
    branches=3,
)
