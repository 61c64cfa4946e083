"""The HTTP server, and what surrounds every request: limits, headers, logs, figures."""
