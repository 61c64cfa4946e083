"""Says which requests and pages change their verdict when a robots.txt is replaced by another."""

from goodbot.watch.impact.impact import Impact as Impact
from goodbot.watch.impact.impact import PathImpact as PathImpact
from goodbot.watch.impact.impact import RobotImpact as RobotImpact
from goodbot.watch.impact.impact import RobotLabel as RobotLabel
from goodbot.watch.impact.impact_json import impact_json as impact_json
from goodbot.watch.impact.page_impact import PageImpact as PageImpact
from goodbot.watch.impact.request_impact import RequestImpact as RequestImpact
from goodbot.watch.impact.rule_changes import RuleChanges as RuleChanges
