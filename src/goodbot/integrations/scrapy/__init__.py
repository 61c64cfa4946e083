"""Scrapy with goodbot: a parser of robots.txt, a scheduler that loses no request at a kill, and good manners.

`Addon` turns on everything; the other classes are for Scrapy's settings. Importing this needs Scrapy."""

from goodbot.integrations.scrapy.addon import Addon as Addon
from goodbot.integrations.scrapy.manners import Manners as Manners
from goodbot.integrations.scrapy.private_addresses import Resolver as Resolver
from goodbot.integrations.scrapy.robots import GoodbotParser as GoodbotParser
from goodbot.integrations.scrapy.robots import RobotsTxtMiddleware as RobotsTxtMiddleware
from goodbot.integrations.scrapy.scheduler import Scheduler as Scheduler
