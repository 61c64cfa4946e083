"""Reports what `goodbot remember` found: as text for people, a line for monitoring, JSON."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from goodbot.cli.printing import Line, folded, styled
from goodbot.cli.remember_visit import FileComparison, RememberedPage, RememberedSite
from goodbot.exclusion.text.shown_text import shown
from goodbot.human import counted, human_time
from goodbot.watch.history.accesses import is_html
from goodbot.watch.history.page_states import ALL, Effect, EffectChange
from goodbot.watch.history.timing_changes import TimingChange
from goodbot.watch.history.verdict_changes import VerdictChange, VerdictChanges

NAMES_SHOWN: Final = 8
CHANGES_SHOWN: Final = 20

_MEANWHILE: Final = "Robots with a good copy go on with it; robots without one fetch nothing until it answers."
_BOUNDED: Final = "The files are so large that not every rule was tried: there may be more changes."


# ---- text -----------------------------------------------------------------------------------------------------------


def text_lines(site: RememberedSite) -> Iterator[Line]:
    """Yields the report on one site: one line if nothing changed."""
    head, style = _headline(site)
    yield from folded(head, f"{site.copy.url}: ", "  ", **style)
    yield from _change_lines(site.changes)
    if site.file is not None:
        yield from folded(_file_headline(site, site.file), "  ", "    ")
        yield from _difference_lines(site.file.changes, shown(site.file.name))
    for page in site.pages:
        yield from _page_lines(page)


def _headline(site: RememberedSite) -> tuple[str, dict[str, Any]]:
    if site.access.result == "unreachable":
        return f"{_outage(site)}. {_MEANWHILE}", {"fg": "red"}
    now = state_text(site)
    if site.answer is None:
        return f"{_first(site)}. {now}", {}
    since = human_time(site.answer.at)
    again = "answers again; " if site.was_unreachable else ""
    if site.changes:
        return f"{again}changed since {since}. {now}", {"fg": "yellow"}
    if not site.copy.is_like(site.answer):
        return f"{again}changed since {since}, but no verdict differs. {now}", {}
    return f"{again}as on {since}. {now}", {"fg": "green"}


def _outage(site: RememberedSite) -> str:
    if site.access.wall is not None:
        why = f"a bot wall answered: {site.access.wall}"
    elif site.copy.status is not None:
        why = f"its server answered {site.copy.status}"
    else:
        why = (site.copy.failure or "no answer arrived").rstrip(".")
    return f"could not be fetched: {shown(why)}"


def _first(site: RememberedSite) -> str:
    return "first copy" if site.last is None else "first answer"


def state_text(site: RememberedSite) -> str:
    """Says in one or two sentences what is in force."""
    if site.access.result != "successful":
        return site.access.reason
    if is_html(site.copy.body):
        return "A Web page answers in place of robots.txt: it has no rules, so everything is allowed."
    redirected = len(site.copy.redirects) > 1
    target = f", after a redirect to {shown(site.copy.redirects[-1])}" if redirected else ""
    groups = counted(len(site.access.rules.groups), "group")
    cut = " The file is longer than 500 KiB; the rest does not count." if site.access.cut_bytes else ""
    return f"It has {counted(len(site.access.body), 'byte')} and {groups}{target}.{cut}"


def _change_lines(changes: VerdictChanges) -> Iterator[Line]:
    """Yields what changed since the last answer."""
    for word, colour, some in (("closed", "red", changes.closed), ("opened", "green", changes.opened)):
        for change in some[:CHANGES_SHOWN]:
            line = f"line {change.line} was" if change.is_gone else f"line {change.line}"
            head = styled(f"  {word}", fg=colour)
            yield from folded(f" for {_robots(change)}: {_path_and_rule(change, line)}", head, "    ")
        yield from _more(some)
    for timing in changes.timing[:CHANGES_SHOWN]:
        text = f"  asked of {_robots(timing)}: {timing.after} (before: {timing.before or 'none'})"
        if not timing.after:
            text = f"  no longer asked of {_robots(timing)}: {timing.before}"
        yield from folded(text, "", "    ")
    if changes.is_bounded:
        yield from folded(_BOUNDED, "  ", "    ")


def _difference_lines(changes: VerdictChanges, file: str) -> Iterator[Line]:
    """Yields what differs on the site from the user's file."""
    sides = (
        (f"closed on the site, open in {file}", "red", changes.closed),
        (f"open on the site, closed in {file}", "green", changes.opened),
    )
    for words, colour, some in sides:
        for change in some[:CHANGES_SHOWN]:
            line = f"{file if change.is_gone else 'site'}, line {change.line}"
            head = styled(f"  {words}", fg=colour)
            yield from folded(f", for {_robots(change)}: {_path_and_rule(change, line)}", head, "    ")
        yield from _more(some)
    for timing in changes.timing[:CHANGES_SHOWN]:
        asked = f"{timing.after or 'none'} on the site, {timing.before or 'none'} in {file}"
        yield from folded(f"asked of {_robots(timing)}: {asked}", "  ", "    ")
    if changes.is_bounded:
        yield from folded(_BOUNDED, "  ", "    ")


def _more(some: Sequence[VerdictChange]) -> Iterator[Line]:
    if len(some) > CHANGES_SHOWN:
        yield [f"  and {counted(len(some) - CHANGES_SHOWN, 'more change')}: see --json"]


def _path_and_rule(change: VerdictChange, line: str) -> str:
    why = change.reason.rstrip(".") if change.rule is None else f"{line}: {shown(change.rule)}"
    return f"{shown(change.paths[0])} ({why})"


def _robots(change: VerdictChange | TimingChange) -> str:
    named = [shown(name) for name in change.robots if name != ALL]
    if ALL not in change.robots:
        return _listed(named)
    if not change.excepted:
        return "every robot"
    return _listed([*named, "all others"])


def _listed(names: Sequence[str]) -> str:
    if len(names) > NAMES_SHOWN:
        return f"{', '.join(names[:NAMES_SHOWN])} and {len(names) - NAMES_SHOWN} more"
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


def _file_headline(site: RememberedSite, file: FileComparison) -> str:
    if site.access.result == "unavailable":
        how = "The site has no robots.txt"
    elif is_html(site.copy.body):
        how = f"The site sends a Web page in place of {shown(file.name)}"
    elif file.before is None or file.after is None:
        how = f"The site does not send {shown(file.name)} as it is"
    else:
        around = ((file.before, "before"), (file.after, "after"))
        parts = [f"{counted(count, 'line')} {where} it" for count, where in around if count]
        how = f"The site sends {shown(file.name)}{' with ' * bool(parts)}{' and '.join(parts)}"
    return f"{how}; {'verdicts differ:' if file.changes else 'every verdict is the same.'}"


def _page_lines(page: RememberedPage) -> Iterator[Line]:
    state = page.state
    head = f"  {state.url}: "
    if state.disallowed is not None:
        yield from folded(f"not fetched, because robots.txt disallows it: {state.disallowed}", head, "    ")
    elif state.failure is not None:
        yield from folded(f"could not be fetched: {state.failure}", head, "    ", fg="red")
    elif page.changes.after:
        also = "; its directives changed" if page.changes.effects else ""
        yield from folded(f"{page.changes.after} (before: {page.changes.before}){also}", head, "    ", fg="yellow")
    elif page.changes.effects:
        yield from folded("its directives changed", head, "    ", fg="yellow")
    else:
        yield from folded(f"{'first copy' if page.is_first else 'as before'}: status {state.status}", head, "    ")
    for change in page.changes.effects:
        who = "every robot" if change.robot == ALL else shown(change.robot)
        yield from folded(
            f"for {who}: {change.effect} is {_word(change.after)}, was {_word(change.before)}", "    ", "      "
        )


def _word(value: Effect) -> str:
    if isinstance(value, bool):
        return "allowed" if value else "not allowed"
    return "not limited" if value is None else str(value)


# ---- a line for monitoring ------------------------------------------------------------------------------------------


def monitoring_line(site: RememberedSite) -> str:
    """Returns `WARNING - URL: text | figures`, as plugins of Nagios print it. The first word matches the exit status:
    OK 0, WARNING 1, UNKNOWN 3."""
    changes, pages = site.changes, sum(bool(page.changes) for page in site.pages)
    text = "; ".join(_news(site, pages)) or (_first(site) if site.answer is None else "no change")
    word = "UNKNOWN" if site.is_unreachable else "WARNING" if site.is_changed else "OK"
    figures = [*_figures(changes, ""), f"pages={pages}"]
    if site.file is not None:
        figures += _figures(site.file.changes, "file_")
    return f"{word} - {shown(site.copy.url)}: {text.replace('|', '/')} | {' '.join(figures)}"


def _figures(changes: VerdictChanges, of: str) -> Iterator[str]:
    for name, some in (("closed", changes.closed), ("opened", changes.opened), ("timing", changes.timing)):
        yield f"{of}{name}={len(some)}"


def _news(site: RememberedSite, pages: int) -> Iterator[str]:
    if site.is_unreachable:
        yield _failed(site)
    if site.changes.closed:
        yield f"closed: {_shortest(site.changes.closed)}"
    if site.changes.opened:
        yield f"opened: {_shortest(site.changes.opened)}"
    if site.changes.timing:
        yield "other delays, rates or times of visit"
    if site.file is not None and site.file.changes:
        yield "verdicts differ from the file"
    if pages:
        yield f"{counted(pages, 'page')} changed"


def _failed(site: RememberedSite) -> str:
    return _outage(site) if site.access.result == "unreachable" else "a page could not be fetched"


def _shortest(changes: Sequence[VerdictChange]) -> str:
    more = f" and {len(changes) - 1} more" if len(changes) > 1 else ""
    return f"{shown(changes[0].paths[0])} for {_robots(changes[0])}{more}"


# ---- JSON -----------------------------------------------------------------------------------------------------------


def site_json(site: RememberedSite) -> dict[str, object]:
    """Returns the object of one site."""
    return {
        "url": site.copy.url,
        "at": round(site.copy.at, 3),
        "status": site.copy.status,
        "failure": site.access.failure if site.copy.failure is None else site.copy.failure,
        "redirects": list(site.copy.redirects),
        "reason": state_text(site),
        "first": site.last is None,
        "last_at": None if site.last is None else round(site.last.at, 3),
        "copies": site.copies,
        "same_copy": site.last is not None and site.copy.is_like(site.last),
        "changed": site.is_changed,
        **_changes_json(site.changes),
        "file": None if site.file is None else _file_json(site.file),
        "same_as_file": None if site.file is None else not site.file.changes,
        "pages": [_page_json(page) for page in site.pages],
        "damage": list(site.damage),
    }


def _changes_json(changes: VerdictChanges) -> dict[str, object]:
    return {
        "opened": [_change_json(change) for change in changes.opened],
        "closed": [_change_json(change) for change in changes.closed],
        "timing": [
            {"robots": change.robots, "except": change.excepted, "before": change.before, "after": change.after}
            for change in changes.timing
        ],
        "bounded": changes.is_bounded,
    }


def _change_json(change: VerdictChange) -> dict[str, object]:
    return {
        "robots": change.robots,
        "except": change.excepted,
        "paths": change.paths,
        "rule": change.rule,
        "line": change.line,
        "rule_is_gone": change.is_gone,
        "reason": change.reason or None,
    }


def _file_json(file: FileComparison) -> dict[str, object]:
    return {
        "name": file.name,
        "lines_before": file.before,
        "lines_after": file.after,
        **_changes_json(file.changes),
    }


def _page_json(page: RememberedPage) -> dict[str, object]:
    state = page.state
    return {
        "url": state.url,
        "target": state.target,
        "status": state.status,
        "failure": state.failure,
        "disallowed": state.disallowed,
        "first": page.is_first,
        "changed": bool(page.changes),
        "directives": [f"META {name}: {value}" for name, value in state.metas]
        + [f"{name}: {value}" for name, value in state.headers],
        "effects": _effects_json(page.changes.effects),
    }


def _effects_json(effects: Iterable[EffectChange]) -> list[dict[str, object]]:
    return [
        {"robot": change.robot, "effect": change.effect, "before": change.before, "after": change.after}
        for change in effects
    ]
