"""What may be named as another search service, and what is found there. Pure."""

from dataclasses import dataclass
from typing import Final

from goodbot.errors import InputError, quoted
from goodbot.exclusion.text.shown_text import shown
from goodbot.federate.description import description_link, read_description
from goodbot.federate.template import Question, Template, search_url, template_fault
from goodbot.page.encoding import decode_text
from goodbot.url import Url, is_private_host, parse_url, resolve
from goodbot.visitor_urls import has_userinfo

NO_SEARCH: Final = "it is no search: it is neither an OpenSearch description nor a page with a link to one"


@dataclass(frozen=True, slots=True)
class NamedService:
    """A service as it was named: the URL of a description, or of a page with a link to one; or a template, of which
    `url` is an example."""

    url: Url
    template: Template | None = None

    @property
    def text(self) -> str:
        """What was named: the URL, or the template."""
        return self.template.text if self.template is not None else self.url.text


@dataclass(frozen=True, slots=True)
class SearchService:
    """A service that can be asked: its name, empty if it states none, and its templates, the preferred one first."""

    name: str
    templates: tuple[Template, ...]


def read_named(text: str) -> NamedService:
    """Reads the URL or the template of a service. Raises InputError if it is neither, or if it has a user name or a
    password."""
    text = text.strip()
    if text.lower().startswith(("http:", "https:")) and has_userinfo(text):
        raise InputError("remove user name and password from the URL of the search service: goodbot does not send them")
    if "{" in text:
        if fault := template_fault(text):
            raise InputError(f"{quoted(text)} is not a template of a search: {fault}")
        example = search_url(Template(text), Question("x"))
        if example is not None:
            return NamedService(example, Template(text))
    url = parse_url(text)
    if url is None:
        raise InputError(
            f"{quoted(text)} is not an http or https URL: give the home page of a search service, the URL of its "
            "OpenSearch description, or a template with {searchTerms}"
        )
    return NamedService(url)


def service_in(body: bytes, content_type: str, url: Url) -> SearchService | Url | str:
    """Returns the service that a document at `url` describes; the URL of the description if the document is a page with
    a link to one; or, in one clause, why it is no service."""
    text, _ = decode_text(body, content_type or None)
    description = read_description(text)
    if description is None:
        link = description_link(text)
        target = resolve(url, link) if link else None
        if target is None:
            return NO_SEARCH
        return target if is_same_service(url, target) else f"it leads to another site: {shown(target.text)}"
    if not description.templates:
        return description.fault
    own = tuple(each for each in description.templates if _is_own(url, each))
    if not own:
        return f"its description leads to another site: {shown(description.templates[0].text)}"
    return SearchService(description.name, own)


def _is_own(url: Url, template: Template) -> bool:
    target = search_url(template, Question("x"))
    return target is not None and is_same_service(url, target)


def is_same_service(url: Url, target: Url) -> bool:
    """Whether a service at `url` may lead there, by a redirect, a link or a description: to the same registrable
    domain, to a private address only on the same host and port, and from https to https only. The query then reaches
    nobody but the service that was named."""
    if url.scheme == "https" and target.scheme != "https":
        return False
    if is_private_host(url.host) or is_private_host(target.host):
        return url.host_key == target.host_key
    return url.site == target.site
