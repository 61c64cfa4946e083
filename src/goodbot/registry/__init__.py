"""Identifies robots: which robot sends this User-Agent, who operates it, what is it for, and is the claim true?

from goodbot.registry import find, find_token, identify

find("Mozilla/5.0 (compatible; GPTBot/1.3; …)").operator          # OpenAI
identify("… Googlebot/2.1 …", "198.51.100.7").tier                # impostor
find_token("googlebot"), similar_tokens("Gogolebot")
"""

from goodbot.registry.address_ranges import AddressBook as AddressBook
from goodbot.registry.address_ranges import AddressList as AddressList
from goodbot.registry.address_ranges import day_of as day_of
from goodbot.registry.address_ranges import list_for as list_for
from goodbot.registry.address_ranges import parse_ranges as parse_ranges
from goodbot.registry.lookup import Registry as Registry
from goodbot.registry.lookup import bundled_registry as bundled_registry
from goodbot.registry.lookup import find as find
from goodbot.registry.lookup import find_token as find_token
from goodbot.registry.lookup import robots as robots
from goodbot.registry.lookup import similar_tokens as similar_tokens
from goodbot.registry.lookup import tokens_for as tokens_for
from goodbot.registry.own_records import matches_browsers as matches_browsers
from goodbot.registry.own_records import parse_records as parse_records
from goodbot.registry.own_records import parse_tables as parse_tables
from goodbot.registry.robot import OBEYS as OBEYS
from goodbot.registry.robot import PURPOSES as PURPOSES
from goodbot.registry.robot import TIERS as TIERS
from goodbot.registry.robot import KnownRobot as KnownRobot
from goodbot.registry.robot import Obeys as Obeys
from goodbot.registry.robot import Purpose as Purpose
from goodbot.registry.robot import Tier as Tier
from goodbot.registry.robot_facts import robot_facts as robot_facts
from goodbot.registry.robot_records import ListName as ListName
from goodbot.registry.robot_records import Records as Records
from goodbot.registry.verify import ReverseDns as ReverseDns
from goodbot.registry.verify import VerifiedIdentity as VerifiedIdentity
from goodbot.registry.verify import confirm as confirm
from goodbot.registry.verify import identify as identify
from goodbot.registry.verify import verify as verify
