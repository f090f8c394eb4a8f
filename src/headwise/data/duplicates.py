"""When two texts count as the same."""


def normal_text(text: str) -> str:
    """A text for comparison: case folded, every run of white space one blank, none at the ends."""
    return " ".join(text.casefold().split())
