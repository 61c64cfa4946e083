"""The sentences shown to visitors and owners of sites about a URL: its story, submissions, removals, copies."""

from typing import Final

from goodbot.web.pages.translations import translatable

STORIES: Final = (
    translatable("it was removed at its owner's request: %(reason)s"),
    translatable("it was removed at its owner's request"),
    translatable("the operator of this crawl has excluded this host"),
    translatable("it does not belong to this crawl: %(reason)s"),
    translatable("the crawl does not follow links to it: %(reason)s"),
    translatable("the crawl has followed no link to it, and %(known)s"),
    translatable("the crawl has followed no link to it"),
    translatable("it is in the search index, and is due for another visit"),
    translatable("it is in the search index"),
    translatable("the last attempt to fetch it did not succeed: %(reason)s"),
    translatable("it was not fetched yet: it is the next one of its host"),
    translatable("it was not fetched yet: %(count)s URL of its host comes first"),
    translatable("it was not fetched yet: %(count)s URLs of its host come first"),
    translatable("it was not fetched yet: %(count)s URLs or more of its host come first"),
    translatable("the crawl is fetching it now, or will next on its host"),
    translatable("its server redirects it (%(reason)s)"),
    translatable("it is a copy of %(url)s, which is shown instead"),
    translatable("it is a copy of %(url)s, which search does not find either"),
    translatable("it waits for another visit"),
    translatable("this crawl keeps no search index"),
    translatable("it was visited; the search index cannot be read at the moment"),
    translatable("it was visited, and is not in the search index yet"),
    translatable("it is not in the search index"),
    translatable("robots.txt forbids it (line %(line)s)"),
    translatable("robots.txt forbids it: %(reason)s"),
    translatable("the crawl could not fetch it: %(reason)s"),
    translatable("its server reports that the page does not exist: %(reason)s"),
)
"""The summaries of stories."""

ADVICE: Final = (
    translatable("submit the page"),
    translatable("submit the page again, or wait for its next visit"),
    translatable("submit the page again when its server sends the page"),
    translatable("ask the operator of this crawl to submit the page"),
    translatable("ask the operator of this crawl to submit the page again, or wait for its next visit"),
    translatable("ask the operator of this crawl to submit the page again when its server sends the page"),
    translatable(
        "ask the operator of this crawl to submit the page again when its server has it; no other visit is planned"
    ),
    translatable("ask the operator of this crawl to submit the page again when this changes"),
    translatable("remove that rule, wait a day, and ask the operator of this crawl to submit the page again"),
    translatable("remove that rule, wait a day, and ask the operator of this crawl to submit the page"),
    translatable("the crawl no longer takes this URL: %(reason)s"),
    translatable("it redirects to itself: change the server so that it sends the page"),
    translatable("the URL to which it redirects does not belong to this crawl: %(reason)s"),
    translatable("look again in a minute"),
    translatable("try again later"),
    translatable("wait for its turn"),
    translatable("the crawl fetches the page when the operator runs the crawl again"),
    translatable("the crawl tries again at %(date)s"),
    translatable("the crawl tries again when it runs"),
    translatable("the crawl tries again"),
    translatable("the crawl is running and adds it within a minute"),
    translatable("the next run of the crawl adds it"),
    translatable("to find it, search for words of its title"),
    translatable("look up the URL to which it redirects"),
    translatable("look up one of the pages that it lists"),
    translatable("look up that page"),
    translatable("the robot checks again at its next visit"),
    translatable("the operator of this search can lift the removal"),
    translatable("if it is not a copy, give it its own title and text, and no canonical link to that page"),
    translatable("remove that directive; the next visit adds the page"),
    translatable("remove `unavailable_after`, or give it a later date"),
    translatable("change that statement; the next visit adds the page"),
    translatable("give the page a title, and text that its HTML contains without scripts"),
    translatable("remove that rule; the crawl reads robots.txt again within a day"),
    translatable("the operator can drop what the crawl has learned: goodbot lessons drop %(lesson)s"),
    translatable("restore the page; the next visit adds it"),
    translatable("submit the page again when its server has it; no other visit is planned"),
    translatable("submit the page again when this changes"),
    translatable("remove that rule, wait a day, and submit the page again"),
    translatable("remove that rule, wait a day, and submit the page"),
)
"""The advice of stories."""

COPIES: Final = (
    translatable("this crawl does not know the page"),
    translatable("the owner of the page had it removed from this search"),
    translatable("the copy of the page is no longer in the archive"),
    translatable("the crawl has not visited the page yet"),
    translatable("the crawl has no page at this URL"),
    translatable("robots.txt of its site forbids the page"),
    translatable("the page does not belong to this crawl"),
    translatable("the crawl could not fetch the page"),
    translatable("the page is gone"),
    translatable("the page asks not to be shown after %(date)s"),
    translatable("its server redirects to another page"),
    translatable("the page is a copy of %(url)s"),
    translatable("the page is not in the search index: %(reason)s"),
    translatable("it left the index"),
    translatable("a browser rendered the page for this crawl, and the archive has no copy of what it showed"),
    translatable("this crawl keeps no archive"),
    translatable("the page asks not to be archived"),
    translatable("the page asks not to be indexed"),
    translatable("the page asks that nothing of its text be shown"),
    translatable("no text can be shown of a document without type"),
    translatable("no text can be shown of %(type)s"),
)
"""Why no copy of a page is shown."""

SUBMISSIONS: Final = (
    translatable("%(host)s may be on a private network, so only the operator of this crawl can submit its URLs"),
    translatable("this crawl uses a proxy and cannot check that %(host)s has a public address"),
    translatable("this crawl visits private sites only"),
    translatable("give the URL of a page, such as https://example.org/page"),
    translatable("this URL is longer than %(count)s characters"),
    translatable("this URL has more than %(count)s characters when it is encoded"),
    translatable("this URL has a user name or a password: leave it out"),
    translatable("%(url)s is not an http or https URL"),
    translatable("no server can have the URL %(url)s"),
    translatable("a page of another site sent this request"),
)
"""Why a URL, or the form with it, is not accepted."""

PROOFS: Final = (
    translatable("robots.txt of the site forbids it: %(reason)s"),
    translatable("its server answers with status %(status)s"),
    translatable("its server redirects it to %(url)s"),
    translatable("the page asks not to be shown: %(sources)s"),
    translatable("the site has the token file %(path)s"),
)
"""What proves that the owner of a site wants a page removed."""

REMOVALS: Final = (
    translatable("the crawl has not visited this page, so this search does not show it"),
    translatable("the crawl knows nothing of this site, so this search does not show it"),
    translatable(
        "%(host)s may be on a private network, from which this server fetches nothing: only the operator of this "
        "search can remove it"
    ),
    translatable("this server cannot fetch from %(host)s, so only the operator of this search can remove it"),
    translatable("neither robots.txt nor the page asks search services to leave it out"),
    translatable("%(url)s answers with status %(status)s"),
    translatable("%(url)s must contain the token and nothing else"),
    translatable("robots.txt must allow this robot to fetch %(path)s; %(reason)s"),
    translatable("there are too many removals: the operator of this search has to look at them first"),
    translatable("more than %(count)s pages of %(host)s cannot be removed one by one: remove the site"),
)
"""Why a page is not removed."""

VISITS: Final = (
    translatable("%(host)s gave no answer: %(reason)s"),
    translatable("a bot wall (%(wall)s) answered for %(host)s"),
    translatable("this server may not request %(host)s for another %(count)s s"),
    translatable(
        "it redirects to %(host)s, which is on a private address, and this page fetches from public sites only"
    ),
    translatable("it redirects to %(host)s, which has no public address, and this page fetches from public sites only"),
    translatable("%(host)s is on a private address, and this page fetches from public sites only"),
    translatable("%(host)s has no public address, and this page fetches from public sites only"),
    translatable("%(host)s has not answered within %(seconds)s seconds"),
    translatable("too many sites were fetched in the last minute: try again in a minute"),
)
"""Why nothing was fetched from a site for a visitor."""

SENTENCES: Final = (*STORIES, *ADVICE, *COPIES, *SUBMISSIONS, *PROOFS, *REMOVALS, *VISITS)
