"""Writes the decisions of the gate as static configuration for Web servers, with comments about what that lacks."""

from goodbot.gate.export.formats import FORMATS as FORMATS
from goodbot.gate.export.formats import Format as Format
from goodbot.gate.export.formats import exported as exported
from goodbot.gate.export.site import ExportedSite as ExportedSite
