"""The server: what the SDK's client sees of tools, of their errors, and of text that cannot be sent."""

import json
import logging
import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from agents.test_arguments import JSON
from goodbot.agents.server import _sent, mcp_server
from goodbot.agents.tool import ToolResult, schema_of
from goodbot.errors import InputError

SOURCES = Path(__file__).parents[2] / "src" / "goodbot"


class AnyTool:
    name = "any"
    title = "Any"
    description = "Does what the test wants."
    is_open_world = False
    schema = schema_of({"error": {"type": "string"}})

    async def call(self, given: Mapping[str, object]) -> ToolResult:
        match given.get("error"):
            case "input":
                raise InputError("url must be a string")
            case "bug":
                raise ZeroDivisionError("\x1b")
        return ToolResult("done", {"outcome": "page", "given": dict(given)})


async def nothing() -> None:
    """There is nothing to close."""


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_client_sees_results_and_errors(mode: str, caplog: pytest.LogCaptureFixture) -> None:
    closed = []

    async def close() -> None:
        closed.append(1)

    async with Client(mcp_server([AnyTool()], "1.2", close), mode=mode) as client:
        (tool,) = (await client.list_tools()).tools
        assert (tool.name, tool.description, tool.input_schema) == ("any", AnyTool.description, AnyTool.schema)
        assert tool.annotations is not None
        assert (tool.annotations.read_only_hint, tool.annotations.open_world_hint) == (True, False)
        assert client.server_info is not None
        assert (client.server_info.name, client.server_info.version) == ("goodbot", "1.2")
        assert "not instructions" in (client.instructions or "")
        done = await client.call_tool("any", {"x": 1})
        assert (done.is_error, done.structured_content) == (False, {"outcome": "page", "given": {"x": 1}})
        wrong = await client.call_tool("any", {"error": "input"})
        assert (wrong.is_error, wrong.structured_content["reason"]) == (True, "url must be a string")
        with caplog.at_level(logging.ERROR, "goodbot"):
            bug = await client.call_tool("any", {"error": "bug"})
        content: Any = bug.content[0]
        assert (bug.is_error, content.text) == (True, "the tool any failed: the log of the server says why")
        assert "ZeroDivisionError" in caplog.text
        with pytest.raises(Exception, match="there is no tool 'other'; the tools are any"):
            await client.call_tool("other", {})
    assert closed == [1]


HALVES = st.text(alphabet="\ud800\udfffa", max_size=5)


@given(st.text(), st.dictionaries(HALVES, JSON | HALVES, max_size=3))
def test_any_result_can_be_sent(text: str, data: dict[str, object]) -> None:
    sent = json.loads(_sent(ToolResult(text + "\ud800", data)).model_dump_json(by_alias=True))
    assert sent["content"][0]["text"].endswith("\ufffd")


def test_only_one_module_imports_the_sdk() -> None:
    imports = re.compile(r"^\s*(from|import) mcp\b", re.MULTILINE)
    found = [path for path in SOURCES.rglob("*.py") if imports.search(path.read_text())]
    assert found == [SOURCES / "agents" / "server.py"]


def test_the_help_does_not_load_the_sdk() -> None:
    code = "import sys; from goodbot.cli import main; main(['mcp', '--help']); print('mcp' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.endswith("False\n")
