"""The sample web of `goodbot demo`: three small sites on loopback, made for crawling and searching."""

from goodbot.demo.demo_server import EXAMPLE_QUERIES, DemoSite, DemoWeb

__all__ = ["EXAMPLE_QUERIES", "DemoSite", "DemoWeb"]
