"""goodbot inside other people's programs. Each module is imported by its own name and needs what it is named after.

`robotparser` and `protego` need the standard library only, `scrapy` needs Scrapy.
"""
