"""Letters of other scripts that look like Latin ones."""

_CYRILLIC = dict(zip("аеорсухіјѕһԁАВЕКМНОРСТХУІЈЅ", "aeopcyxijshdABEKMHOPCTXYIJS", strict=True))
_GREEK = dict(zip("ονΑΒΕΖΗΙΚΜΝΟΡΤΥΧ", "ovABEZHIKMNOPTYX", strict=True))
_LATIN = str.maketrans(_CYRILLIC | _GREEK)


def with_latin_letters(name: str) -> str:
    """A name of Latin letters and others that look like them, with Latin ones for these; a name without
    Latin letters, as of another language, is unchanged."""
    if name.isascii() or not any(letter.isascii() and letter.isalpha() for letter in name):
        return name
    return name.translate(_LATIN)
