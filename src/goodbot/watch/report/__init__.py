"""The report of `goodbot watch`, as values and in formats for programs."""

from goodbot.watch.report.csv_report import report_csv as report_csv
from goodbot.watch.report.json_report import report_json as report_json
from goodbot.watch.report.making import JudgedBy as JudgedBy
from goodbot.watch.report.making import make_report as make_report
from goodbot.watch.report.making import robot_name as robot_name
from goodbot.watch.report.obedience_report import BrokenRuleReport as BrokenRuleReport
from goodbot.watch.report.obedience_report import DisallowedReport as DisallowedReport
from goodbot.watch.report.obedience_report import LimitReport as LimitReport
from goodbot.watch.report.obedience_report import ObedienceReport as ObedienceReport
from goodbot.watch.report.obedience_report import RulesReport as RulesReport
from goodbot.watch.report.obedience_report import rules_report as rules_report
from goodbot.watch.report.prometheus_report import report_prometheus as report_prometheus
from goodbot.watch.report.signature_report import failures_in_words as failures_in_words
from goodbot.watch.report.watch_report import PathReport as PathReport
from goodbot.watch.report.watch_report import RobotReport as RobotReport
from goodbot.watch.report.watch_report import UndeclaredReport as UndeclaredReport
from goodbot.watch.report.watch_report import WatchReport as WatchReport
