"""Adapters that let programs built on other libraries use goodbot.

Import each module by its own name. `robotparser` and `protego` need only the standard library; `requests`, `httpx` and
`scrapy` need the library after which they are named.
"""
