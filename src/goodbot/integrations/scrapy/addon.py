"""A Scrapy add-on that turns on everything goodbot has for Scrapy (for the setting `ADDONS`)."""

from typing import Final

from scrapy.settings import BaseSettings, default_settings

_HERE: Final = "goodbot.integrations.scrapy"
_RESOLVER: Final = "TWISTED_DNS_RESOLVER" if hasattr(default_settings, "TWISTED_DNS_RESOLVER") else "DNS_RESOLVER"
"""The name since Scrapy 2.15, which warns about the other one."""
_PLACES: Final = {"Manners": 950, "RobotsTxtMiddleware": 100}


class Addon:
    """Sets the parser of robots.txt, the scheduler, the downloader middlewares and the resolver. The middlewares are
    added to those of the project. All other settings of the project take precedence."""

    @classmethod
    def update_pre_crawler_settings(cls, settings: BaseSettings) -> None:
        """Sets the resolver, which belongs to the process; Scrapy calls this."""
        settings.set(_RESOLVER, f"{_HERE}.Resolver", "addon")

    def update_settings(self, settings: BaseSettings) -> None:
        """Sets everything else; Scrapy calls this."""
        settings.set("SCHEDULER", f"{_HERE}.Scheduler", "addon")
        settings.set("ROBOTSTXT_PARSER", f"{_HERE}.GoodbotParser", "addon")
        middlewares = settings["DOWNLOADER_MIDDLEWARES"]
        named = {str(getattr(name, "__qualname__", name)).rpartition(".")[2] for name in middlewares}
        for name, place in _PLACES.items():
            if name not in named:
                middlewares[f"{_HERE}.{name}"] = place
                if name == "RobotsTxtMiddleware":
                    middlewares["scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware"] = None
