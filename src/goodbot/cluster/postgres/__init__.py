"""The frontier that several machines share, in a PostgreSQL database. Importing it raises InputError if psycopg is
missing, so only functions that need it import it."""

from goodbot.errors import InputError

try:
    import psycopg  # noqa: F401
except ModuleNotFoundError as error:
    raise InputError("a frontier in PostgreSQL needs psycopg: pip install '.[postgres]'") from error
