"""What all pages share: templates, languages, formats, forms, errors."""
