"""Web pages and JSON over HTTP: the search, the status and control of a crawl, and the robots.txt checker."""

from goodbot.web.app import create_app as create_app
from goodbot.web.machines.key_directory import KeyDirectory as KeyDirectory
from goodbot.web.server.http_server import running as running
from goodbot.web.server.http_server import serve as serve
from goodbot.web.site import Rate as Rate
from goodbot.web.site import Site as Site
