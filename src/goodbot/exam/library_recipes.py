"""How crawlers that are libraries are driven, by the small programs in PEERS."""

from typing import Final

from goodbot.exam.recipe import FIRST_RULE, ONE_GROUP, THROUGH_PROXY, USER_AGENT, Recipe

_ANY_ROBOT: Final = "it obeys only the rules for `*`"

_MIDDLEWARES: Final = (
    '{"scrapy.downloadermiddlewares.robotstxt.RobotsTxtMiddleware": null, '
    '"goodbot.integrations.scrapy.RobotsTxtMiddleware": 100}'
)
_SCRAPY_ARGUMENTS: Final = (
    *("runspider", "{peers}/scrapy_spider.py", "-a", "seed_file={seed-file}"),
    *("-s", "ROBOTSTXT_OBEY=True"),
    *("-s", f"USER_AGENT={USER_AGENT}"),
    *("-s", "CONCURRENT_REQUESTS_PER_DOMAIN=1"),
    *("-s", "AUTOTHROTTLE_ENABLED=True"),
    *("-s", "DOWNLOAD_TIMEOUT=30"),
    *("-s", "DOWNLOAD_VERIFY_CERTIFICATES=True"),
    *("-s", "TELNETCONSOLE_ENABLED=False"),
    *("-s", "REMOTE_CONTROL_ENABLED=False"),
    *("-s", "LOG_LEVEL=INFO"),
)


def _version_of(package: str) -> tuple[str, ...]:
    return ("-c", f"from importlib.metadata import version; print(version('{package}'))")


SCRAPY: Final = Recipe(
    name="scrapy",
    program="scrapy",
    version_arguments=("version",),
    environment=(*THROUGH_PROXY, "SSL_CERT_FILE={ca-file}"),
    arguments=_SCRAPY_ARGUMENTS,
    settings=(
        "A CrawlSpider with a LinkExtractor follows every link on the hosts of the seeds (allowed_domains).",
        "It obeys robots.txt and sends one request at a time to each host.",
        "AutoThrottle is on, with its default start delay of five seconds.",
        "It verifies certificates, which it does not by default.",
        "A response may take 30 s; the default is 180 s.",
        "The telnet console and the remote control, which listen on ports, are off.",
        "Other defaults are unchanged: 16 requests at once in all, 20 redirects, two retries, bodies to 1 GiB.",
    ),
    keeps="nothing",
    install="pip install 'scrapy>=2.13'",
)

SCRAPY_WITH_GOODBOT: Final = Recipe(
    name="scrapy-goodbot",
    program="scrapy",
    version_arguments=("version",),
    environment=(*THROUGH_PROXY, "SSL_CERT_FILE={ca-file}"),
    arguments=(
        *_SCRAPY_ARGUMENTS,
        *("-s", "ROBOTSTXT_PARSER=goodbot.integrations.scrapy.GoodbotParser"),
        *("-s", f"DOWNLOADER_MIDDLEWARES={_MIDDLEWARES}"),
    ),
    settings=(
        "Scrapy as in the recipe scrapy, with goodbot's parser of robots.txt and its robots.txt middleware.",
        "Everything else is the same: the spider, one request at a time to each host, AutoThrottle, certificates.",
        "So it shows what the parser and the middleware change, and what they leave to Scrapy.",
    ),
    keeps="nothing",
    install="pip install 'scrapy>=2.13', where goodbot is installed",
)

CRAWLEE: Final = Recipe(
    name="crawlee",
    program="node",
    version_arguments=("{peers}/crawlee_crawler.cjs", "--version"),
    environment=("NODE_EXTRA_CA_CERTS={ca-file}", "CRAWLEE_STORAGE_DIR={dir}"),
    arguments=("{peers}/crawlee_crawler.cjs", "{seed-file}"),
    settings=(
        "Eight CheerioCrawlers share the seeds, because Crawlee limits requests by crawler, not by host.",
        "They follow every link on the hosts of the seeds, whatever the port.",
        "They obey robots.txt as ExamBot (respectRobotsTxtFile).",
        "Each uses 16 MB, sends one request at a time (maxConcurrency), 600 a minute (maxRequestsPerMinute).",
        "They request pages as ExamBot, with a mail address; by default they look like a browser.",
        "They verify certificates for pages (ignoreSslErrors), which they do not by default.",
        "For robots.txt they cannot, nor set the User-Agent or a proxy there, so sites are served by port.",
        "Other defaults are unchanged: 30 s per response, 60 s for robots.txt, ten redirects, three retries.",
    ),
    keeps="nothing",
    install="install Node.js, then, in this folder: npm install @crawlee/cheerio@^3.18",
)

CRAWLEE_PYTHON: Final = Recipe(
    name="crawlee-python",
    program="python",
    beside="crawlee",
    version_arguments=_version_of("crawlee"),
    environment=("CRAWLEE_STORAGE_DIR={dir}",),
    arguments=("{peers}/crawlee_crawler.py", "{seed-file}", "{proxy}", "{ca-file}"),
    settings=(
        "Eight ParselCrawlers share the seeds, because Crawlee limits requests by crawler, not by host.",
        "They follow every link on the hosts of the seeds.",
        "They obey robots.txt (respect_robots_txt_file), but only its rules for `*`: no name can be set.",
        "Each sends one request at a time (max_concurrency), 600 a minute (max_tasks_per_minute).",
        "A ThrottlingRequestManager keeps Crawl-delay and slows down after status 429.",
        "They request pages as ExamBot, with a mail address; by default they look like a browser.",
        "HTTPX fetches, because it can be given the exam's certificate; by default Impit does.",
        "Other defaults are unchanged: 20 redirects, three retries, responses of any size.",
    ),
    keeps="nothing",
    install="pip install 'crawlee[parsel,httpx]>=1.11'",
    fails={"robots-own-group": _ANY_ROBOT},
)

CRAWL4AI: Final = Recipe(
    name="crawl4ai",
    program="python",
    beside="crwl",
    version_arguments=_version_of("crawl4ai"),
    environment=("SSL_CERT_FILE={ca-file}", "CRAWL4_AI_BASE_DIRECTORY={dir}", "CRAWL4AI_NO_CLOUD_NOTICE=1"),
    arguments=("{peers}/crawl4ai_crawler.py", "{seed-file}", "{dir}"),
    settings=(
        "It crawls without a browser (AsyncHTTPCrawlerStrategy), level by level, eight sites at a time.",
        "It follows links on the host and port of each seed, five levels deep, up to 100 pages of a site.",
        "It obeys robots.txt as ExamBot (check_robots_txt), which it does not by default.",
        "It sends one request at a time to each site (semaphore_count), 0.2 to 0.3 s apart.",
        "It requests pages as ExamBot, with a mail address; by default it looks like a browser.",
        "For robots.txt neither a User-Agent nor a proxy can be set, so sites are served by port.",
        "It verifies certificates. A response may take 30 s, and have any size.",
        "Its own deep crawl drops the links of pages with fewer than 50 characters, which it takes for bot walls.",
        "Many pages of the exam are as short, so the program follows the links that Crawl4AI found in a page.",
        "Other defaults are unchanged: it slows down after 429 and 503, and sends no failed request again.",
    ),
    keeps="the cache of robots.txt, and the files that are not HTML",
    install="pip install 'crawl4ai>=0.9'",
    fails={"robots-groups-merged": ONE_GROUP, "robots-longest-match": FIRST_RULE},
)

TRAFILATURA: Final = Recipe(
    name="trafilatura",
    program="python",
    beside="trafilatura",
    version_arguments=_version_of("trafilatura"),
    environment=THROUGH_PROXY,
    arguments=("{peers}/trafilatura_spider.py", "{seed-file}"),
    settings=(
        "Its spider (focused_crawler) visits each site; eight processes share the sites.",
        "It follows links on the host of each seed, up to 100 pages of a site; by default ten.",
        "It obeys robots.txt, but only its rules for `*`: no name can be set.",
        "It sends one request at a time to each site, 0.2 s apart, by default 5 s; Crawl-delay is kept.",
        "It requests pages as ExamBot, with a mail address.",
        "It may connect to private addresses (SSRF_PROTECTION), where the exam is; by default it may not.",
        "It verifies certificates; by default it tries again without. None can be given, so tls-valid is skipped.",
        "pycurl fetches, if it is installed; with it, the sites have names, without which no link is followed.",
        "Other defaults are unchanged: 30 s per response, two redirects, responses of up to 20 MB.",
    ),
    keeps="nothing",
    install="pip install 'trafilatura>=2.3' pycurl lxml_html_clean",
    fails={"robots-own-group": _ANY_ROBOT, "robots-groups-merged": ONE_GROUP, "robots-longest-match": FIRST_RULE},
)

SUPERCRAWLER: Final = Recipe(
    name="supercrawler",
    program="node",
    version_arguments=("{peers}/supercrawler.cjs", "--version"),
    environment=(*THROUGH_PROXY, "NODE_EXTRA_CA_CERTS={ca-file}"),
    arguments=("{peers}/supercrawler.cjs", "{seed-file}"),
    settings=(
        "Eight Crawlers share the seeds, because Supercrawler limits requests by crawler, not by host.",
        "They follow every link and sitemap on the hosts of the seeds.",
        "They obey robots.txt as ExamBot, as by default.",
        "Each sends one request at a time, by default five, 0.1 s apart, by default 1 s.",
        "A response may take 30 s; by default any time.",
        "They verify certificates, as by default.",
        "The queue is in memory (FifoUrlList, the default), which repeats no failed request.",
    ),
    keeps="nothing",
    install="install Node.js, then, in this folder: npm install supercrawler@^2",
)

SIMPLECRAWLER: Final = Recipe(
    name="simplecrawler",
    program="node",
    version_arguments=("{peers}/simplecrawler_sites.cjs", "--version"),
    environment=("NODE_EXTRA_CA_CERTS={ca-file}",),
    arguments=("{peers}/simplecrawler_sites.cjs", "{seed-file}"),
    settings=(
        "A Crawler for each seed, eight at a time; each follows the links on the host and port of its seed.",
        "It goes five levels deep (maxDepth), by default to any depth.",
        "It obeys robots.txt as ExamBot, as by default.",
        "It sends one request at a time (maxConcurrency), 0.2 s apart; by default five, 0.25 s apart.",
        "A response may take 30 s; by default 5 minutes.",
        "It verifies certificates, as by default. It sends no CONNECT to a proxy, so sites are served by port.",
        "Other defaults are unchanged: responses of up to 16 MB, no retries, links also by regular expressions.",
    ),
    keeps="nothing",
    install="install Node.js, then, in this folder: npm install simplecrawler@^1.1.9",
)

SPIDER: Final = Recipe(
    name="spider-rs",
    program="node",
    version_arguments=("{peers}/spider_sites.cjs", "--version"),
    environment=("SSL_CERT_FILE={ca-file}",),
    arguments=("{peers}/spider_sites.cjs", "{seed-file}", "{proxy}"),
    settings=(
        "A Website for each seed, eight at a time; each follows the links on its host.",
        "It obeys robots.txt as ExamBot (withRespectRobotsTxt), which it does not by default.",
        "It waits 0.2 s between requests (withDelay), by default not at all; no option limits requests in progress.",
        "It fetches up to 100 pages of a site (withBudget), by default any number.",
        "A response may take 30 s.",
        "It verifies certificates, as by default.",
        "It is the last version of npm that has a binary for Linux.",
    ),
    keeps="nothing",
    install="install Node.js, then, in this folder: npm install @spider-rs/spider-rs@0.0.157 (x86-64 Linux)",
    fails={"robots-groups-merged": ONE_GROUP, "robots-longest-match": FIRST_RULE},
)

LWP: Final = Recipe(
    name="lwp-robotua",
    program="perl",
    version_arguments=("{peers}/lwp_robot.pl", "--version"),
    environment=THROUGH_PROXY,
    arguments=("{peers}/lwp_robot.pl", "{seed-file}", "{ca-file}"),
    settings=(
        "A program of 40 lines around LWP::RobotUA and HTML::LinkExtor, as in their manuals.",
        "It follows links on the hosts of the seeds, five levels deep.",
        "LWP::RobotUA obeys robots.txt as ExamBot, and waits 0.2 s between requests to a host; by default one minute.",
        "It sends one request at a time, over all hosts.",
        "A host may be silent for 30 s, by default 180 s; a response may have 16 MB, by default any size.",
        "It verifies certificates, as by default.",
        "Other defaults are unchanged: seven redirects, and no retries.",
    ),
    keeps="nothing",
    install="apt-get install libwww-perl liblwp-protocol-https-perl",
)
