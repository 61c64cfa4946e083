"""Makes a plan that works as it is, with comments."""

from datetime import UTC, datetime, timedelta

EXAMPLE = """\
# A plan for goodbot study: it changes robots.txt by a schedule, so that you can measure which robots obey it.
# Show the schedule:        goodbot study plan.toml
# Every hour, from cron:    goodbot study plan.toml --publish robots.txt --into history
# At the end:               goodbot study plan.toml --log access.log --into history

start = {start}                   # the first day (UTC), a Monday
url = "https://www.example.org"      # your site
control = "open"                     # the phase with which the others are compared; the first one if left out
# base = "my-robots.txt"             # your own robots.txt: the rules below are added to it, and it is restored
                                     # after the study
# repeat = true                      # begin again after the last phase: the more rounds, the surer the answer
shuffle = 7                          # any number: the order of the phases is then random, but always the same

# The control phase has the rules of the base, or none: it shows what each robot does without the rules below.
[[phase]]
name = "open"
days = 7

[[phase]]
name = "delay"
crawl_delay = 10

# Choose a folder that robots request often, and whose pages search engines may lose for a while. Nothing secret:
# robots.txt is public, and closes nothing to people.
[[phase]]
name = "closed folder"
disallow = ["/folder/"]

# A group for these robots only: tests whether each robot reads its own group.
[[phase]]
name = "named robots"
agents = ["GPTBot", "bingbot"]
disallow = ["/folder/"]

# A phase may also have a whole robots.txt: robots = \"\"\"...\"\"\" or robots_file = "week5.txt".
"""


def example_plan(now: float) -> str:
    """Returns the plan, which starts on the next Monday."""
    today = datetime.fromtimestamp(now, UTC).date()
    return EXAMPLE.format(start=today + timedelta(days=7 - today.weekday()))
