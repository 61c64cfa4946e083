"""What a crawl records about a URL: why it was left out, what was decided at each step."""

from typing import Final

from goodbot.web.pages.translations import translatable

STATES: Final = (
    translatable("unknown"),
    translatable("ready"),
    translatable("leased"),
    translatable("visited"),
    translatable("disallowed"),
    translatable("out-of-scope"),
    translatable("failed"),
    translatable("gone"),
)
"""The states of a URL."""

DECISIONS: Final = (
    translatable("known"),
    translatable("allowed"),
    translatable("held off"),
    translatable("given up"),
    translatable("no address"),
    translatable("forgotten"),
    translatable("dns"),
    translatable("connect"),
    translatable("timeout"),
    translatable("reset"),
    translatable("tls"),
    translatable("protocol"),
    translatable("too-many-redirects"),
    translatable("wall"),
    translatable("yes"),
    translatable("no"),
    translatable("headers"),
    translatable("lost"),
    translatable("delay"),
    translatable("revisit"),
)
"""The decisions of events that are not also states."""

SOURCES: Final = (translatable("%(sources)s, %(directive)s in %(origin)s"), translatable("%(directive)s in %(origin)s"))
"""How the directives of a page are named with the places where they are: `noindex in META robots`."""

SCOPE: Final = (
    translatable("%(count)s link away from a seed, further than --depth %(most)s"),
    translatable("%(count)s links away from a seed, further than --depth %(most)s"),
    translatable("its host name has more than %(count)s characters (RFC 1035)"),
    translatable("%(host)s is a private address; --allow-private opens only the ranges the seeds lie in"),
    translatable("%(host)s is public, and no contact is set: say who you are with --contact (in Python: contact=…)"),
    translatable(
        "%(host)s may be public (its name cannot be resolved here), and no contact is set: say who you are with"
        " --contact (in Python: contact=…)"
    ),
    translatable("only public pages lead to the private address %(host)s, so it is not fetched"),
    translatable("excluded by --exclude %(glob)s"),
    translatable("matches none of --include %(glob)s and %(count)s more"),
    translatable("matches none of --include %(glob)s"),
    translatable("not one of the seeds (--scope page)"),
    translatable("not below the folder of a seed (--scope prefix)"),
    translatable("%(host)s is not the host of a seed (--scope host)"),
    translatable("%(host)s is not the domain of a seed (--scope domain)"),
    translatable("an answer without a media type does not match --type %(types)s"),
    translatable("%(type)s does not match --type %(types)s"),
    translatable("longer than --max-size %(count)s bytes"),
    translatable("its host has reached its limit of %(count)s page (--host-pages %(most)s)"),
    translatable("its host has reached its limit of %(count)s pages (--host-pages %(most)s)"),
    translatable(
        "%(count)s sitemaps and feeds of its host were read within a day; this one is read in the next run, or when "
        "the sitemap index that names it is visited again"
    ),
)
"""Why a URL does not belong to a crawl."""

LESSONS: Final = (
    translatable("a URL of %(count)s characters, more than %(most)s"),
    translatable("a trap: a path of %(count)s folders"),
    translatable("a trap: %(path)s occurs %(count)s times in a row"),
    translatable("a trap: %(count)s parameters, more than %(most)s"),
    translatable("a trap: the parameter %(name)s is repeated"),
    translatable("a trap: the query contains the page's own address and query"),
    translatable(
        "a trap: of %(count)s pages below %(folder)s that led to new URLs, %(times)s had too little new text or linked "
        "to no known page"
    ),
    translatable(
        "a trap: of %(count)s pages of %(host)s that led to new URLs, %(times)s had too little new text or linked to "
        "no known page"
    ),
    translatable(
        "a trap: an endless calendar, %(shape)s, before %(day)s or after %(until)s: %(count)s dates in a row have "
        "pages with the same text"
    ),
    translatable(
        "a trap: an endless calendar, %(shape)s, after %(day)s: %(count)s dates in a row have pages with the same text"
    ),
    translatable(
        "a trap: an endless calendar, %(shape)s, after %(day)s: %(count)s dates were visited, and the calendar does "
        "not end"
    ),
    translatable(
        "a trap: %(count)s pages of %(family)s were visited, and none of the last %(most)s said anything new (for "
        "example, %(url)s says the same as other pages)"
    ),
    translatable(
        "a trap: %(count)s pages of %(family)s were visited, and only %(times)s of the last %(most)s said anything new "
        "(for example, %(url)s says the same as other pages)"
    ),
    translatable("a mirror: all pages of %(site)s say that they are copies of those at %(url)s"),
    translatable(
        "the parameter %(name)s changes nothing: %(count)s values of it gave the same page at %(first)s and at %(url)s"
    ),
    translatable("pages of more than %(count)s titles name %(url)s as their canonical URL"),
    translatable("the canonical URL %(url)s leads back to the page"),
    translatable("there is no page at the canonical URL %(url)s"),
)
"""What the crawl has learned about a site."""

HOLDS: Final = (
    translatable("everything is disallowed"),
    translatable("the last good copy applies"),
    translatable("everything is disallowed, since the last good copy is older than 30 days"),
    translatable("everything is disallowed for the first 12 hours"),
    translatable("everything is allowed, since no copy is known after 12 hours"),
    translatable("everything is allowed, since robots.txt has failed for 30 days and other requests succeed"),
    translatable("everything is disallowed, since robots.txt has failed for 30 days and other requests fail too"),
    translatable("everything is disallowed until it answers"),
)
"""What holds while robots.txt is unreachable."""

TROUBLES: Final = (
    translatable("its host has no public address"),
    translatable("its host name could not be resolved"),
    translatable("its address is private, and this robot may not access it"),
    translatable("no connection could be made"),
    translatable("no answer arrived in time"),
    translatable("no answer arrived"),
    translatable("the connection was lost"),
    translatable("no secure connection could be made"),
    translatable("the answer is not valid HTTP"),
    translatable("its host was forgotten"),
    translatable("it redirects to a URL that the robot may not fetch"),
    translatable("its host may not be requested yet"),
    translatable("its host asks for a longer wait than the robot accepts"),
    translatable("a bot wall answered: %(wall)s"),
    translatable("a bot wall answered"),
    translatable("its server answered %(status)s"),
)
"""Why robots.txt is unreachable."""

GROUPS: Final = (
    translatable("the group for all robots (*) (line %(line)s)"),
    translatable("the group for %(name)s (line %(line)s)"),
    translatable("the %(count)s groups for all robots (*) (from line %(line)s)"),
    translatable("the %(count)s groups for %(name)s (from line %(line)s)"),
    translatable("the record for all robots (*) (line %(line)s)"),
    translatable("the record for %(name)s (line %(line)s)"),
    translatable("the %(count)s records for all robots (*) (from line %(line)s)"),
    translatable("the %(count)s records for %(name)s (from line %(line)s)"),
)
"""Groups of rules in a robots.txt, after `in`."""

ROBOTS_TXT: Final = (
    translatable("%(known)s, according to the last good copy, while robots.txt is unreachable"),
    translatable("There is no robots.txt (%(status)s), so everything is allowed"),
    translatable("robots.txt is unavailable (status %(status)s), so everything is allowed"),
    translatable("robots.txt is refused (status %(status)s), so the whole site is disallowed"),
    translatable("No robots.txt was found after following its redirects, so everything is allowed"),
    translatable("robots.txt is unreachable (%(trouble)s), so %(hold)s"),
    translatable("robots.txt is unreachable, so %(hold)s: %(reason)s"),
    translatable("robots.txt is unreachable, so %(hold)s"),
    translatable("robots.txt itself is open to every robot"),
    translatable("No group applies to %(name)s"),
    translatable("No record applies to %(name)s"),
    translatable("No rule matches in %(groups)s; it has only Allow rules, so everything else is disallowed"),
    translatable("No rule matches in %(groups)s"),
    translatable("%(rule)s (line %(line)s) is the longest rule that matches in %(groups)s"),
    translatable("%(rule)s (line %(line)s) is the first rule that matches in %(groups)s"),
    translatable("%(rule)s (line %(line)s) is a rule that matches in %(groups)s"),
    translatable("%(rule)s (line %(line)s) is the exact path or else the longest pattern that matches in %(groups)s"),
)
"""What robots.txt says about a URL."""

NOT_INDEXED: Final = (
    translatable("the page allows indexing"),
    translatable("the page asks not to be indexed: %(sources)s"),
    translatable("the page asks not to be shown any longer: %(sources)s"),
    translatable("the page asks not to be followed: %(sources)s"),
    translatable("the site asks search services to leave the page out: %(statement)s"),
    translatable("a sitemap: the pages that it lists are indexed, not the list"),
    translatable("no text found in a document without type"),
    translatable("no text found in %(type)s"),
    translatable("this crawl does not index"),
    translatable("it must not be shown any longer"),
    translatable("the page asked not to be indexed when it was last sent"),
    translatable("it may not be shown as it was"),
    translatable("it was not in the index, and has not changed"),
    translatable("the page says that it is a copy of %(url)s, which leads to %(end)s"),
    translatable("the page says that it is a copy of %(url)s"),
    translatable("the same bytes as %(url)s"),
    translatable("the same text as %(url)s"),
    translatable("almost the same text as %(url)s (%(percent)s)"),
    translatable("unchanged, and a copy of %(url)s"),
    translatable("soft 404: status %(status)s, but the same error text as %(count)s other pages, such as %(url)s"),
)
"""Why a page is in the index, or is not."""

FAILURES: Final = (
    translatable("status %(status)s, to %(url)s"),
    translatable("status %(status)s without a usable Location"),
    translatable("status %(status)s: not modified"),
    translatable("status %(status)s"),
    translatable("more than %(count)s redirects in a row"),
    translatable("the answer breaks off"),
    translatable("wall: %(wall)s (status %(status)s)"),
    translatable("a bot wall (%(wall)s) answered in place of the page"),
    translatable("a bot wall answered in place of the host %(count)s times in a row"),
    translatable("its host answered 429 or 503, or did not answer, too many times in a row"),
    translatable("its robots.txt asks for %(seconds)s s between two requests, more than --crawl-delay-most %(limit)s"),
    translatable("its Retry-After asks for %(seconds)s s, more than retry_after_most %(limit)s in goodbot.toml"),
    translatable("the operator has excluded this host"),
    translatable("the name has no address"),
    translatable("no complete answer in time"),
    translatable("the connection ended before the answer did"),
    translatable("no TLS connection could be set up"),
    translatable("connection refused"),
    translatable("connection reset by peer"),
    translatable("connection timed out"),
    translatable("no route to host"),
    translatable("network is unreachable"),
    translatable("the certificate has expired"),
    translatable("the certificate is not valid yet"),
    translatable("the certificate is from an unknown authority"),
    translatable("the certificate is for another host"),
    translatable("the certificate cannot be trusted"),
)
"""Why there is no page."""

EVENTS: Final = (
    translatable("seed or submitted, depth %(depth)s"),
    translatable("submitted by a visitor, depth %(depth)s"),
    translatable("linked from a page of %(host)s, depth %(depth)s"),
    translatable("linked from a page, depth %(depth)s"),
    translatable("%(count)s bytes in %(most)s ms, cut (%(cut)s)"),
    translatable("%(count)s bytes in %(most)s ms"),
    translatable("the archive has the answer"),
    translatable("the archive has only the header fields"),
    translatable("%(count)s link, %(new)s new, %(refused)s of these out of scope, %(marked)s marked %(rel)s"),
    translatable("%(count)s links, %(new)s new, %(refused)s of these out of scope, %(marked)s marked %(rel)s"),
    translatable("a list of %(count)s URL, %(refused)s of them out of scope"),
    translatable("a list of %(count)s URLs, %(refused)s of them out of scope"),
    translatable("first visit"),
    translatable("changed after %(after)s"),
    translatable("unchanged after %(after)s"),
    translatable("its site says that it changes every %(after)s"),
    translatable("its page says that it does not change"),
    translatable("its redirect is permanent"),
    translatable("its server says that this copy is fresh until then"),
    translatable("it is not to be shown after that"),
    translatable("its last copy is kept"),
    translatable("it was not to be shown any longer, so it leaves the index"),
    translatable("it leaves the index; its robots.txt is checked again in %(duration)s"),
    translatable("%(count)s of %(most)s times gone: visited again in %(duration)s"),
    translatable("gone %(count)s times in a row: not visited again"),
    translatable("it states other wishes than before: the whole page is requested at once"),
    translatable("%(seconds)s s until the next request to the host: %(reason)s"),
    translatable("its robots.txt asks for %(seconds)s s between two requests"),
    translatable("its Visit-time begins only then"),
    translatable("Retry-After asks for %(seconds)s s"),
)
"""What happened at a step."""

ENDED: Final = (
    translatable("%(reason)s (line %(line)s of robots.txt)"),
    translatable("%(reason)s (%(times)s tries)"),
    translatable("%(reason)s: it leaves the index"),
)
"""Sentences with an end of their own. They come first, because other sentences may end with any text."""
JOINED: Final = (
    translatable("%(known)s: due again in %(duration)s"),
    translatable("%(known)s; %(reason)s"),
)
"""Two sentences in one."""

SENTENCES: Final = (
    *SCOPE,
    *LESSONS,
    *ROBOTS_TXT,
    *NOT_INDEXED,
    *FAILURES,
    *EVENTS,
    *JOINED,
)
