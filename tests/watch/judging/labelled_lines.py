"""The lines of a log in which it is known who is who."""

from dataclasses import dataclass, field
from datetime import UTC, datetime

CHROME = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36"
)
FIREFOX = "Mozilla/5.0 (X11; Linux x86_64; rv:143.0) Gecko/20100101 Firefox/143.0"
SAFARI = "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.6"
BROWSERS = [CHROME, FIREFOX, SAFARI]
START = int(datetime(2026, 9, 15, tzinfo=UTC).timestamp())
"""Near the date of the bundled address lists, so that they are fresh."""

SITE = "https://shop.example/"
PAGES = [f"/{folder}/{name}.html" for folder in ("news", "shop", "help", "blog") for name in range(60)]


@dataclass
class LabelledLog:
    """The lines, and who is behind each address."""

    lines: list[tuple[float, str]] = field(default_factory=list)
    people: set[str] = field(default_factory=set)
    crawlers: dict[str, str] = field(default_factory=dict)
    """Address → the name of the undeclared crawler."""

    def add(
        self,
        at: float,
        address: str,
        path: str,
        agent: str,
        referrer: str = "-",
        status: int = 200,
        size: int | None = None,
    ) -> None:
        """Adds a request."""
        time = datetime.fromtimestamp(at, UTC).strftime("%d/%b/%Y:%H:%M:%S +0000")
        size = 500 + hash_of(path) % 20_000 if size is None else size
        self.lines.append((at, f'{address} - - [{time}] "GET {path} HTTP/1.1" {status} {size} "{referrer}" "{agent}"'))

    def text(self) -> bytes:
        """Returns the log, in the order of time."""
        return "".join(f"{line}\n" for _, line in sorted(self.lines)).encode()


def hash_of(text: str) -> int:
    """Returns a number that is the same in every run."""
    return sum(place * ord(letter) for place, letter in enumerate(text, 1))
