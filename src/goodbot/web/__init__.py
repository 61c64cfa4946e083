"""The search page: what a browser and a program ask of an index over HTTP."""

from goodbot.web.app import create_app as create_app
from goodbot.web.keys import KeyDirectory as KeyDirectory
from goodbot.web.server import listening as listening
from goodbot.web.server import running as running
from goodbot.web.server import serve as serve
