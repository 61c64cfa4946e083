"""How crawlers that are commands are driven, by themselves or by a script of a few lines."""

from typing import Final

from goodbot.exam.recipe import FIRST_RULE, ONE_GROUP, THROUGH_PROXY, Recipe
from goodbot.exam.site_server import DOMAIN

WGET: Final = Recipe(
    name="wget",
    program="wget",
    version_arguments=("--version",),
    environment=THROUGH_PROXY,
    arguments=(
        *("--no-config", "--no-verbose", "--recursive", "--span-hosts", f"--domains={DOMAIN}"),
        *("--execute=robots=on", "--user-agent=Wget/1 (+mailto:exam@example.org)"),
        *("--wait=0.2", "--timeout=30", "--tries=2"),
        *("--ca-certificate={ca-file}", "--no-hsts"),
        *("--directory-prefix={dir}", "--input-file={seed-file}"),
    ),
    settings=(
        "It follows every link on the domain of the exam.",
        "It obeys robots.txt as `wget`, because it cannot use another name; the User-Agent says so too.",
        "It sends one request at a time, over all hosts, and waits 0.2 s before each.",
        "It waits up to 30 s for data and tries twice; the defaults are 900 s and 20 tries.",
        "Other defaults are unchanged: five levels of links, 20 redirects, responses of any size.",
    ),
    keeps="every page, as a file under the name of its host",
    install="apt-get install wget",
)

WGET2: Final = Recipe(
    name="wget2",
    program="wget2",
    version_arguments=("--version",),
    environment=(),
    arguments=(
        *("--no-config", "--no-netrc", "--recursive", "--span-hosts", "--domains=127.0.0.1"),
        *("--robots=on", "--user-agent=Wget2/1 (+mailto:exam@example.org)"),
        *("--max-threads=1", "--wait=0.2", "--timeout=30", "--tries=2"),
        *("--ca-certificate={ca-file}", "--no-ocsp", "--no-hsts", "--no-hpkp"),
        *("--directory-prefix={dir}", "--input-file={seed-file}"),
    ),
    settings=(
        "It follows every link on the address of the exam, whatever the port.",
        "It obeys robots.txt as `wget2`, because it cannot use another name; the User-Agent says so too.",
        "It sends one request at a time, over all hosts, and waits 0.2 s before each; by default five, without a wait.",
        "It waits up to 30 s for data and tries twice; the default is 20 tries.",
        "It verifies certificates. It sends no CONNECT to a proxy, so sites are served by port.",
        "Other defaults are unchanged: five levels of links, 20 redirects, responses of any size.",
    ),
    keeps="every page, as a file under the name of its host",
    install="apt-get install wget2",
    fails={"robots-groups-merged": ONE_GROUP, "robots-longest-match": FIRST_RULE},
)

HTTRACK: Final = Recipe(
    name="httrack",
    program="sh",
    version_arguments=("{peers}/httrack_sites.sh", "--version"),
    environment=(),
    arguments=("{peers}/httrack_sites.sh", "{seed-file}", "{dir}", "{proxy}"),
    settings=(
        "Eight processes run at once, each for one site, because HTTrack limits requests in all, not by host.",
        "Each follows every link on the host of its seed, with one connection; by default with eight.",
        "HTTrack then sends about one request a second. It leaves a site after a minute (-E60); by default never.",
        "It obeys robots.txt and META tags as `httrack` (-s2, the default); the User-Agent says so too.",
        "A host may be silent for 30 s; the default is 120 s.",
        "It verifies no certificate, and none can be given, so tls-valid is skipped.",
        "Other defaults are unchanged: one retry, any number of levels, responses of any size.",
    ),
    keeps="every page, as a file, and a cache",
    install="apt-get install httrack",
)

LINKCHECKER: Final = Recipe(
    name="linkchecker",
    program="linkchecker",
    version_arguments=("--version",),
    environment=(*THROUGH_PROXY, "XDG_CONFIG_HOME={dir}", "XDG_DATA_HOME={dir}"),
    arguments=(
        *(
            "--threads=1",
            "--recursion-level=5",
            "--timeout=30",
            "--user-agent=LinkChecker/10 (+mailto:exam@example.org)",
        ),
        *("--no-status", "--verbose", "{seeds}"),
    ),
    settings=(
        "It checks every link on the hosts of the seeds, five levels deep; by default to any depth.",
        "It obeys robots.txt as `LinkChecker`, because it cannot use another name; the User-Agent says so too.",
        "It sends one request at a time (--threads=1), by default ten, and at most ten a second to a host.",
        "A host may be silent for 30 s; the default is 60 s.",
        "It verifies certificates. Run by root, it could not read that of the exam, so tls-valid is skipped.",
        "Other defaults are unchanged: it downloads up to 5 MB of a file, and parses files of up to 1 MB.",
    ),
    keeps="its configuration, with all defaults",
    install="pip install 'linkchecker>=10.6'",
    fails={"robots-groups-merged": ONE_GROUP, "robots-longest-match": FIRST_RULE},
)

CURL: Final = Recipe(
    name="curl",
    program="sh",
    version_arguments=("-c", "curl --version"),
    environment=(*THROUGH_PROXY, "GOODBOT={python} -m goodbot"),
    arguments=("{peers}/curl_crawler.sh", "{seed-file}", "{dir}", "{ca-file}"),
    settings=(
        "A shell script of 60 lines: curl fetches, `goodbot allowed` reads robots.txt, grep and sed find links.",
        "Eight processes run at once, each for one site; each follows the links on the origin of its seed.",
        "Each sends one request at a time, and waits 0.2 s or the Crawl-delay before each; curl by itself never waits.",
        "It fetches up to 100 pages of a site, and reads up to 16 MB of each, in 30 s.",
        "It tries three times, and waits as Retry-After says; by default curl tries once.",
        "It verifies certificates, as by default. A redirect is a link: robots.txt is read for its target too.",
    ),
    keeps="of each site robots.txt, the list of URLs, and the last page",
    install="apt-get install curl",
)

GOODBOT: Final = Recipe(
    name="goodbot",
    program="python",
    version_arguments=("-m", "goodbot", "--version"),
    environment=(),
    arguments=(
        *("-m", "goodbot", "crawl", "{seeds}", "--into", "{dir}", "--scope", "domain"),
        *("--keep-fresh", "--once"),
        *("--config", "{peers}/goodbot.toml", "--delay", "0.1"),
        *("--contact", "mailto:exam@example.org", "--proxy", "{proxy}", "--ca-file", "{ca-file}"),
    ),
    settings=(
        "It follows every link on the domain of the exam.",
        "It retries an unreachable robots.txt after 2, 6 and 18 s; by default after minutes.",
        "After 429 or 503 it waits 1 s longer, doubled up to 16 s; by default 5 s, doubled up to an hour.",
        "It fetches such a page up to four times; by default up to eight.",
        "It sends one request at a time to each host, at least 0.1 s apart; by default 1 s.",
        "On a second visit it fetches pages that are due: here every page at once, by default after a day.",
        "Everything else is the default: it obeys robots.txt and the directives of pages.",
        "It writes an archive and an index.",
    ),
    keeps="the crawl: frontier, archive, index",
    install="pip install goodbot",
)
