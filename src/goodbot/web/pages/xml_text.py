"""Text that XML can hold, and XML as bytes."""

import re
from typing import Final
from xml.etree import ElementTree as ET

_FORBIDDEN: Final = re.compile("[^\t\n\r\u0020-\u007e\u00a0-\u202c\u202f-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Replaces characters by U+FFFD that XML 1.0 forbids or discourages (§2.2: controls, lone surrogates), and those
    that override the direction of letters."""
    return _FORBIDDEN.sub("\ufffd", text)


def xml_bytes(root: ET.Element) -> bytes:
    """Returns a document in UTF-8, with its declaration."""
    document: bytes = ET.tostring(root, encoding="utf-8", xml_declaration=True)
    return document


def add(parent: ET.Element, tag: str, text: str = "", **attributes: str) -> ET.Element:
    """Adds an element to another one. `text` and attributes may contain any characters."""
    element = ET.SubElement(parent, tag, {name: xml_text(value) for name, value in attributes.items()})
    element.text = xml_text(text) or None
    return element
