"""An archive has a URL for every minute."""

import re
from datetime import UTC, datetime, timedelta

from goodbot.exam.sites.endless import TrapPage, trap_site, words

_MOMENT = re.compile(r"/snapshots/([0-9]{14})/")
_FORM = "%Y%m%d%H%M%S"
_STEPS = (timedelta(minutes=-1), timedelta(hours=-1), timedelta(days=-1), timedelta(minutes=1))


def _snapshots(target: str, before: int) -> TrapPage | None:
    found = _MOMENT.fullmatch(target)
    if found is None:
        return None
    try:
        moment = datetime.strptime(found[1], _FORM).replace(tzinfo=UTC)
        onward = tuple(f"/snapshots/{(moment + step).strftime(_FORM):0>14}/" for step in _STEPS)
    except (ValueError, OverflowError):  # there is no such moment, or none before or after it
        return None
    text = f"The harbour at {moment:%H:%M} on {moment:%d.%m.%Y}: {', '.join(words(target, 8))}."
    return TrapPage(f"As of {moment:%Y-%m-%d %H:%M}", text, onward)


SITE = trap_site(
    "trap-timestamps",
    "Stop in time in an archive that has a page for every minute, with a timestamp in its path.",
    "RFC 7089 (datetime-based access to old states); Google, To infinity and beyond? No!, 2008",
    _snapshots,
    entrance="/snapshots/20260301120000/",
    pattern="/snapshots/*",
)
