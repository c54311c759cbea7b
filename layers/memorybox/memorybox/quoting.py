"""How a name or value of somebody else is shown inside a text of ours."""

import unicodedata
from itertools import accumulate

LONGEST = 200
_HIDDEN = frozenset(
    {"Cc", "Cf", "Cs", "Zl", "Zp"}
)  # control, format, half a pair, line and paragraph ends


def visible(text: str) -> str:
    """`text` with every character that could hide or forge something as a `\\uXXXX` escape.

    Control, bidi and zero-width characters, U+2028, U+2029 and lone surrogates are escaped; beyond
    the BMP as a pair, so that the result is also right inside a JSON string.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(c) if unicodedata.category(c) in _HIDDEN else c for c in text)


def quoted(text: str) -> str:
    """`text` between double quotes, made visible and cut at 200 characters with `…`."""
    return f'"{shortened(text)}"'


def shortened(text: str) -> str:
    """`text` made visible and cut at 200 characters, never inside an escape, with `…`."""
    if len(shown := visible(text)) <= LONGEST:
        return shown
    lengths = accumulate(len(visible(character)) for character in text[:LONGEST])
    return visible(text[: sum(length <= LONGEST for length in lengths)]) + "…"


def json_string(text: str) -> str:
    """`text` as one JSON string: letters of any script as they are, hidden characters escaped."""
    return '"' + visible(text.replace("\\", "\\\\").replace('"', '\\"')) + '"'


def _escape(character: str) -> str:
    units = character.encode("utf-16-be", "surrogatepass").hex()
    return "".join(f"\\u{units[at : at + 4]}" for at in range(0, len(units), 4))
