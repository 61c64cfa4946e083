"""Writes remedies against robots: configuration for servers, and a letter to the operator. Pure but for `incidents`."""

from goodbot.watch.remedies.choosing import Chosen as Chosen
from goodbot.watch.remedies.choosing import Records as Records
from goodbot.watch.remedies.choosing import choose_given as choose_given
from goodbot.watch.remedies.choosing import find_robot as find_robot
from goodbot.watch.remedies.from_report import choose_reported as choose_reported
from goodbot.watch.remedies.incidents import EARLIEST as EARLIEST
from goodbot.watch.remedies.incidents import IncidentNote as IncidentNote
from goodbot.watch.remedies.incidents import add_note as add_note
from goodbot.watch.remedies.incidents import incidents_file as incidents_file
from goodbot.watch.remedies.incidents import read_notes as read_notes
from goodbot.watch.remedies.kinds import BY_NAME as BY_NAME
from goodbot.watch.remedies.kinds import KINDS as KINDS
from goodbot.watch.remedies.kinds import Kind as Kind
from goodbot.watch.remedies.kinds import check_rate as check_rate
from goodbot.watch.remedies.kinds import configuration as configuration
from goodbot.watch.remedies.letter import Facts as Facts
from goodbot.watch.remedies.letter import letter_remedy as letter_remedy
from goodbot.watch.remedies.saved_report import SavedReport as SavedReport
from goodbot.watch.remedies.saved_report import SavedRobot as SavedRobot
from goodbot.watch.remedies.saved_report import parse_report as parse_report
from goodbot.watch.remedies.targets import Part as Part
from goodbot.watch.remedies.targets import Rate as Rate
from goodbot.watch.remedies.targets import Remedy as Remedy
from goodbot.watch.remedies.targets import Targets as Targets
from goodbot.watch.remedies.targets import parse_rate as parse_rate
