"""How do agents of other people use goodbot? Through the tools here, which `server` offers as an MCP server."""
