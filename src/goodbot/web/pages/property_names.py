"""Names languages and types of documents for people. Pure."""

from typing import Final

from goodbot.web.pages.translations import translatable

MAX_TYPE_CHARS: Final = 60

_LANGUAGES: Final = {
    "ar": "العربية",
    "az": "azərbaycanca",
    "be": "беларуская",
    "bg": "български",
    "bn": "বাংলা",
    "ca": "català",
    "cs": "čeština",
    "cy": "Cymraeg",
    "da": "dansk",
    "de": "Deutsch",
    "el": "ελληνικά",
    "en": "English",
    "eo": "Esperanto",
    "es": "español",
    "et": "eesti",
    "eu": "euskara",
    "fa": "فارسی",
    "fi": "suomi",
    "fr": "français",
    "ga": "Gaeilge",
    "gl": "galego",
    "he": "עברית",
    "hi": "हिन्दी",
    "hr": "hrvatski",
    "hu": "magyar",
    "hy": "հայերեն",
    "id": "Bahasa Indonesia",
    "is": "íslenska",
    "it": "italiano",
    "ja": "日本語",
    "ka": "ქართული",
    "kk": "қазақ тілі",
    "ko": "한국어",
    "la": "Latina",
    "lt": "lietuvių",
    "lv": "latviešu",
    "mk": "македонски",
    "ms": "Bahasa Melayu",
    "nl": "Nederlands",
    "no": "norsk",
    "pl": "polski",
    "pt": "português",
    "ro": "română",
    "ru": "русский",
    "sk": "slovenčina",
    "sl": "slovenščina",
    "sq": "shqip",
    "sr": "српски",
    "sv": "svenska",
    "sw": "Kiswahili",
    "ta": "தமிழ்",
    "te": "తెలుగు",
    "th": "ไทย",
    "tr": "Türkçe",
    "uk": "українська",
    "ur": "اردو",
    "uz": "oʻzbekcha",
    "vi": "Tiếng Việt",
    "zh": "中文",
}

_TYPES: Final = {
    "html": translatable("web pages"),
    "application/pdf": "PDF",
    "pdf": "PDF",
    "md": "Markdown",
    "text/markdown": "Markdown",
    "txt": translatable("plain text"),
    "text/plain": translatable("plain text"),
    "text/html": "HTML",
    "application/xhtml+xml": "XHTML",
    "application/xml": "XML",
    "text/xml": "XML",
    "application/json": "JSON",
    "text/css": "CSS",
    "text/csv": "CSV",
    "application/rtf": "RTF",
    "application/msword": "Word",
    "application/vnd.openxmlformats-officedocument.wordprocessingml.document": "Word",
    "application/vnd.ms-excel": "Excel",
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet": "Excel",
    "application/vnd.ms-powerpoint": "PowerPoint",
    "application/vnd.openxmlformats-officedocument.presentationml.presentation": "PowerPoint",
    "application/vnd.oasis.opendocument.text": "OpenDocument",
}
"""Names of types, as filters call them and as media types."""


def language_name(code: str) -> str:
    """Returns the name of a language in that language, or its code."""
    return _LANGUAGES.get(code, code) or translatable("another language")


def type_name(name: str) -> str:
    """Returns the name of a type, which is an extension or a media type, for people."""
    return _TYPES.get(name) or (name if "/" in name else name.upper())[:MAX_TYPE_CHARS]
