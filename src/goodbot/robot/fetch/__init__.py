"""Send requests and receive answers."""
