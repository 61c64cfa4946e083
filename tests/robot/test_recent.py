"""A bounded memory."""

from goodbot.robot.recent import Recent


def test_what_was_looked_at_longest_ago_goes_first() -> None:
    recent: Recent[str, int] = Recent(2)
    recent.put("a", 1)
    recent.put("b", 2)
    assert recent.get("a") == 1
    assert recent.get_or("c", lambda: 3) == 3
    assert (recent.get("a"), recent.get("b"), recent.get("c"), len(recent)) == (1, None, 3, 2)
    assert recent.pop("a") == 1
    assert recent.pop("a") is None
