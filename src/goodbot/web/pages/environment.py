"""Makes the environment of templates that all HTML of this package shares. It needs jinja2 only."""

from gettext import NullTranslations
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined


def plain_environment(translations: NullTranslations) -> Environment:
    """Makes the environment of templates in the language of `translations`, with the filters of jinja2 only."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parents[1] / "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    environment.policies["ext.i18n.trimmed"] = True
    # Not newstyle, which would mark the result of `_(text)` as safe HTML, whatever the text is.
    environment.install_gettext_translations(translations, newstyle=False)  # type: ignore[attr-defined]
    return environment
