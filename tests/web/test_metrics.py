"""The figures of /metrics, read back with the parser of prometheus_client."""

from collections.abc import Iterator

import pytest
from prometheus_client.parser import text_string_to_metric_families

from goodbot.web import Rate, Site, create_app, running
from goodbot.web.server.request_metrics import BUCKETS_S
from web.crawls import Crawls
from web.library import SPECIMENS, Library, Visitor
from web.visitor_desks import Desk

Figures = dict[tuple[str, tuple[tuple[str, str], ...]], float]


@pytest.fixture
def visitor() -> Iterator[Visitor]:
    """A server that has not answered anything yet."""
    site = Site("Sample", proxies=("127.0.0.1",), page_rate=Rate(1, 1))
    with running(create_app(Library(SPECIMENS), site)) as url:
        yield Visitor(url)


def figures(visitor: Visitor) -> Figures:
    answer = visitor.ask("/metrics")
    assert answer.headers["Content-Type"].startswith("text/plain; version=")
    families = text_string_to_metric_families(answer.text)
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }


def of(all_figures: Figures, name: str, **labels: str) -> float | None:
    return all_figures.get((name, tuple(sorted(labels.items()))))


@pytest.mark.parametrize(
    ("method", "path", "labels"),
    [
        ("GET", "/", {"method": "GET", "route": "/", "status": "2xx"}),
        ("GET", "/search?q=robot", {"method": "GET", "route": "/search", "status": "2xx"}),
        ("HEAD", "/api/search?q=robot", {"method": "HEAD", "route": "/api/search", "status": "2xx"}),
        ("GET", "/search?q=robot&page=99", {"method": "GET", "route": "/search", "status": "3xx"}),
        ("GET", "/api/search", {"method": "GET", "route": "/api/search", "status": "4xx"}),
        ("POST", "/api/check", {"method": "POST", "route": "/api/check", "status": "4xx"}),
        ("DELETE", "/", {"method": "other", "route": "/", "status": "4xx"}),
        ("BREW", "/nowhere/at/all", {"method": "other", "route": "other", "status": "4xx"}),
        ("GET", "/static/style.css", {"method": "GET", "route": "/static", "status": "2xx"}),
    ],
)
def test_requests_are_counted_by_route(visitor: Visitor, method: str, path: str, labels: dict[str, str]) -> None:
    for _ in range(3):
        visitor.ask(path, method)
    found = figures(visitor)
    while (count := of(found, "goodbot_http_requests_total", **labels)) != 3:  # a file is closed after it was sent
        assert count in (None, 1, 2)
        found = figures(visitor)
    durations = "goodbot_http_request_duration_seconds"
    assert of(found, f"{durations}_count", route=labels["route"]) == 3
    assert of(found, f"{durations}_bucket", route=labels["route"], le="+Inf") == 3
    bounds = {
        float(label) for name, labels in found for key, label in labels if name.endswith("_bucket") and key == "le"
    }
    assert bounds == {*BUCKETS_S, float("inf")}


def test_strange_paths_make_no_new_labels(visitor: Visitor) -> None:
    before = len(figures(visitor))
    for number in range(50):
        visitor.ask(f"/nowhere/{number}", f"BREW{number}")
        visitor.ask(f"/static/{number}.css")
    once = len(figures(visitor))
    for number in range(50, 100):
        visitor.ask(f"/nowhere/{number}", f"BREW{number}")
        visitor.ask(f"/static/{number}.css")
    assert before < once == len(figures(visitor))


def test_faults_are_counted(visitor: Visitor) -> None:
    library = Library(SPECIMENS)
    with running(create_app(library, Site("Sample"))) as url:
        library.trouble = ZeroDivisionError("a fault")
        Visitor(url).ask("/search?q=robot")
        library.trouble = None
        found = figures(Visitor(url))
    assert of(found, "goodbot_http_requests_total", method="GET", route="/search", status="5xx") == 1


def test_searches(visitor: Visitor) -> None:
    for path in (
        "/search?q=robot",
        "/search?q=zeppelin",
        "/api/search?q=zeppelin",
        "/search.atom?q=robot",
        "/",
        "/healthz",
    ):
        assert visitor.ask(path).status == 200
    found = figures(visitor)
    assert of(found, "goodbot_searches_total") == 4
    assert of(found, "goodbot_searches_without_hit_total") == 2


def test_refusals(visitor: Visitor) -> None:
    """They are counted by the route that they would have had."""
    asked = [("GET", "/"), *[("GET", "/search?q=robot")] * 2, ("POST", "/api/check"), ("GET", "/nowhere"), ("PUT", "/")]
    statuses = [visitor.ask(path, method, X_Forwarded_For="192.0.2.1").status for method, path in asked]
    assert statuses == [200, 429, 429, 429, 429, 429]
    found = figures(visitor)
    assert of(found, "goodbot_http_requests_refused_total") == 5
    for method, route, count in [
        ("GET", "/search", 2),
        ("POST", "/api/check", 1),
        ("GET", "other", 1),
        ("other", "/", 1),
    ]:
        assert of(found, "goodbot_http_requests_total", method=method, route=route, status="4xx") == count


def test_refused_changes_and_preflights_have_a_route() -> None:
    site = Site("Sample", post_rate=Rate(1, 1))
    with running(create_app(Library(SPECIMENS), site, Crawls(), visitors=Desk())) as url:
        visitor = Visitor(url)
        statuses = [visitor.ask("/submit", "POST", b"url=x").status for _ in range(3)]
        assert statuses[1:] == [429, 429]
        preflight = {"Origin": "https://elsewhere.example", "Access_Control_Request_Method": "GET"}
        assert visitor.ask("/api/search", "OPTIONS", **preflight).status == 204
        found = figures(visitor)
    requests = "goodbot_http_requests_total"
    assert of(found, requests, method="POST", route="/submit", status="4xx") == 3
    assert of(found, requests, method="OPTIONS", route="/api/search", status="2xx") == 1


def test_connections(visitor: Visitor) -> None:
    assert of(figures(visitor), "goodbot_http_connections") == 1


def test_applications_count_apart(visitor: Visitor) -> None:
    visitor.ask("/")
    with running(create_app(Library(SPECIMENS), Site("Another"))) as url:
        assert of(figures(Visitor(url)), "goodbot_http_requests_total", method="GET", route="/", status="2xx") is None


def test_every_family_has_a_type_and_a_meaning() -> None:
    with running(create_app(Library(SPECIMENS), Site("Sample"), Crawls())) as url:
        visitor = Visitor(url)
        visitor.ask("/")
        families = list(text_string_to_metric_families(visitor.ask("/metrics").text))
    assert [family.name for family in families if family.type == "unknown" or not family.documentation] == []
    names = [family.name for family in families]
    assert len(names) == len(set(names)) >= 15
    assert all(name.startswith("goodbot_") and not name.endswith("_created") for name in names)
