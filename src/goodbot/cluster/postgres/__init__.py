"""The frontier that several machines share, in a PostgreSQL database."""
