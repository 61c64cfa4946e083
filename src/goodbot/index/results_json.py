"""Converts results and explanations to JSON values, the same on the command line and over HTTP."""

from goodbot.index.ranking import REASONS
from goodbot.search_values import Explanation, Hit, Results


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
        **({"modified_at": hit.modified_at} if hit.modified_at is not None else {}),
        **({"fetched_at": hit.fetched_at} if hit.fetched_at else {}),
        **({"size_bytes": hit.size_bytes} if hit.size_bytes else {}),
        **({"type": hit.media_type} if hit.media_type else {}),
        **({"has_copy": True} if hit.has_copy else {}),
        **(
            {"sections": [{"url": section.url, "text": section.text} for section in hit.sections]}
            if hit.sections
            else {}
        ),
        **({"others": [{"url": other.url, "language": other.language} for other in hit.others]} if hit.others else {}),
    }


def explanation_json(query: str, explanation: Explanation) -> dict[str, object]:
    """Returns the JSON of an explanation. `position` is null for a page that is not among the first hits; `notes` is
    left out if it is empty."""
    return {
        "query": query,
        "url": explanation.url,
        "title": explanation.title,
        "found": explanation.is_found,
        "position": explanation.position,
        "score": explanation.score,
        "words": [
            {"word": word, "fields": [{"field": name, "score": score} for name, score in fields]}
            for word, fields in explanation.words
        ],
        "bonuses": [{"name": name, "reason": REASONS[name], "score": score} for name, score in explanation.bonuses],
        "factors": [{"name": name, "reason": REASONS[name], "factor": factor} for name, factor in explanation.factors],
        **({"notes": list(explanation.notes)} if explanation.notes else {}),
    }
