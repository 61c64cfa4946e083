"""Converts results to JSON values, the same on the command line and over HTTP."""

from goodbot.search_values import Hit, Results


def results_json(results: Results) -> dict[str, object]:
    """Returns the JSON of a search. `notes`, `corrected` and `suggestion` are left out if they are empty."""
    return {
        "query": results.query,
        "total": results.total,
        "took_ms": round(results.took_ms, 3),
        "complete": results.complete,
        "searched_for": results.searched_for,
        **({"notes": list(results.notes)} if results.notes else {}),
        **({"corrected": results.corrected} if results.corrected else {}),
        **({"suggestion": results.suggestion} if results.suggestion else {}),
        "hits": [_hit_json(hit) for hit in results.hits],
    }


def _hit_json(hit: Hit) -> dict[str, object]:
    return {
        "url": hit.url,
        **({"id": hit.id} if hit.id != hit.url else {}),
        "title": hit.title,
        "snippet": hit.snippet,
        "score": hit.score,
        "highlights": [list(span) for span in hit.highlights],
        **({"language": hit.language} if hit.language else {}),
        **(
            {"sections": [{"url": section.url, "text": section.text} for section in hit.sections]}
            if hit.sections
            else {}
        ),
        **({"others": [{"url": other.url, "language": other.language} for other in hit.others]} if hit.others else {}),
    }
