"""The parts of an API description: operations, their parameters, bodies and answers, as OpenAPI 3.1 writes them."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal

JSON: Final = "application/json"
Schema = Mapping[str, Any]
"""A JSON Schema (draft 2020-12)."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in the query of a URL."""

    name: str
    description: str
    schema: Schema
    example: str | int
    required: bool = False

    def as_json(self) -> dict[str, Any]:
        """Returns the Parameter Object (OpenAPI 3.1 §4.8.12)."""
        return {
            "name": self.name,
            "in": "query",
            "description": self.description,
            "required": self.required,
            "schema": self.schema,
            "example": self.example,
        }


@dataclass(frozen=True, slots=True)
class Body:
    """The JSON that a request must send."""

    description: str
    schema: Schema
    examples: Mapping[str, Any]

    def as_json(self) -> dict[str, Any]:
        """Returns the Request Body Object (§4.8.13)."""
        examples = {name: {"value": value} for name, value in self.examples.items()}
        return {
            "description": self.description,
            "required": True,
            "content": {JSON: {"schema": self.schema, "examples": examples}},
        }


@dataclass(frozen=True, slots=True)
class Link:
    """Another operation that takes something of an answer: `parameters` are runtime expressions (§4.8.20.4)."""

    operation: str
    parameters: Mapping[str, str]
    description: str

    def as_json(self) -> dict[str, Any]:
        """Returns the Link Object (§4.8.20)."""
        return {"operationId": self.operation, "parameters": self.parameters, "description": self.description}


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer with one status. `retry`: it has a Retry-After field."""

    status: int
    description: str
    schema: Schema | None = None
    media_type: str = JSON
    retry: bool = False
    links: tuple[Link, ...] = ()

    def as_json(self, operations: Collection[str]) -> dict[str, Any]:
        """Returns the Response Object (§4.8.17); its links lead to `operations` only."""
        headers = {"headers": {"Retry-After": RETRY_AFTER}} if self.retry else {}
        content = {"schema": self.schema} if self.schema is not None else {}
        found = {link.operation: link.as_json() for link in self.links if link.operation in operations}
        links = {"links": found} if found else {}
        return {"description": self.description, **headers, "content": {self.media_type: content}, **links}


RETRY_AFTER: Final = {
    "description": "After how many seconds the request may be sent again",
    "required": True,
    "schema": {"type": "integer", "minimum": 1},
}


@dataclass(frozen=True, slots=True)
class Operation:
    """What one method does at one path. `summary` begins with a verb; `description` says more, or nothing."""

    method: Literal["get", "post"]
    path: str
    id: str
    tag: str
    summary: str
    answers: tuple[Answer, ...]
    parameters: tuple[Parameter, ...] = ()
    body: Body | None = None
    description: str = ""

    def as_json(self, operations: Collection[str]) -> dict[str, Any]:
        """Returns the Operation Object (§4.8.10). `operations`: the ids of all operations."""
        return {
            "operationId": self.id,
            "tags": [self.tag],
            "summary": self.summary,
            **({"description": self.description} if self.description else {}),
            **({"parameters": [each.as_json() for each in self.parameters]} if self.parameters else {}),
            **({"requestBody": self.body.as_json()} if self.body is not None else {}),
            "responses": {str(each.status): each.as_json(operations) for each in self.answers},
        }


def reference(name: str) -> Schema:
    """Returns the schema that refers to one of the document's components."""
    return {"$ref": f"#/components/schemas/{name}"}
