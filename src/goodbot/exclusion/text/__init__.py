"""How names, paths and numbers are read and compared."""
