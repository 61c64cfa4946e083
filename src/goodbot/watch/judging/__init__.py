"""Judges addresses that name no known robot by what they did, and says why."""

from goodbot.watch.judging.behaviour import VERDICTS as VERDICTS
from goodbot.watch.judging.behaviour import Judgement as Judgement
from goodbot.watch.judging.behaviour import Verdict as Verdict
from goodbot.watch.judging.behaviour import judge as judge
from goodbot.watch.judging.behaviour import strength as strength
from goodbot.watch.judging.client import Client as Client
from goodbot.watch.judging.client import clients as clients
from goodbot.watch.judging.client import site_asset_share as site_asset_share
from goodbot.watch.judging.client import site_referrer_share as site_referrer_share
from goodbot.watch.judging.groups import ClientGroup as ClientGroup
from goodbot.watch.judging.groups import find_groups as find_groups
from goodbot.watch.judging.rules import is_named_program as is_named_program
