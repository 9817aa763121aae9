"""Text from outside, made fit for every database.

PostgreSQL refuses U+0000 in text, and no encoder takes half a surrogate pair; both can stand in a name or a title.
"""

from __future__ import annotations


def storable(text: str) -> str:
    """Give ``text`` back with U+FFFD in place of what no database keeps; everything else survives unchanged."""
    return text.replace("\0", "\ufffd").encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
