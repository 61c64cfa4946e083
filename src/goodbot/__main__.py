"""`python -m goodbot`."""

from goodbot.cli import main

raise SystemExit(main())
