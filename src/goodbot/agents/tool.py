"""Defines what a tool is: what an agent reads about it, and what a call returns. Knows nothing of MCP."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final, Protocol

NOTHING: Final[Mapping[str, object]] = {}


@dataclass(frozen=True, slots=True)
class ToolResult:
    """The result of a call: `text` for the model, and the same as JSON values in `data`. `is_error`: the call could not
    be carried out as it was made; a disallowed page is not an error."""

    text: str
    data: Mapping[str, object] = field(default_factory=dict)
    is_error: bool = False


class Tool(Protocol):
    """One tool. `description` and `schema` (JSON Schema of the arguments) are read by models."""

    @property
    def name(self) -> str:
        """The name under which agents call it."""
        ...

    @property
    def title(self) -> str:
        """The name that people see."""
        ...

    @property
    def description(self) -> str:
        """What it does, for models."""
        ...

    @property
    def schema(self) -> Mapping[str, object]:
        """The JSON Schema of the arguments."""
        ...

    @property
    def is_open_world(self) -> bool:
        """Whether a call may send requests to other machines."""
        ...

    async def call(self, given: Mapping[str, object]) -> ToolResult:
        """Carries out a call with these arguments, whatever they are. Raises InputError for arguments that cannot be
        used, RunError if the files of a crawl cannot be used."""
        ...


def schema_of(properties: Mapping[str, object], required: tuple[str, ...] = ()) -> dict[str, object]:
    """Returns the JSON Schema of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
