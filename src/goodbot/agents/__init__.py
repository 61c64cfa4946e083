"""Gives AI agents tools to read the Web. `server` offers them as an MCP server."""
