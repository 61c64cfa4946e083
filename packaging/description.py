"""Makes the description of the package for an index, which is README.md without what leads to other files.

Links to files of the project, and pictures, would lead nowhere there: the project has no public address yet.
"""

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")
_ALL_LINKS = re.compile(r"^(?:Next: )?(?:(?<!\S)\[[^\]]+\]\((?!https?:)[^)]*\)[\s,.·]*)+$\n*", re.MULTILINE)
"""A paragraph that only lists links."""


class Description(MetadataHookInterface):
    """Runs when the metadata of the package are made."""

    PLUGIN_NAME = "custom"

    def update(self, metadata: dict[str, Any]) -> None:
        """Sets the readme."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": description(text)}


def description(readme: str) -> str:
    """Returns the text of a README with no relative links and pictures."""
    return _LINK.sub(r"\1", _ALL_LINKS.sub("", _PICTURE.sub("", readme)))
