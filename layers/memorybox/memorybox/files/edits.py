"""Apply the edits of a patch to a text: each old_text exactly once, in order, literally."""

import re
from collections.abc import Iterator, Sequence
from itertools import islice

from memorybox.files.errors import EditAmbiguous, EditEmpty, EditNotFound
from memorybox.files.model import Edit, FileRef

_LINE_END = re.compile(r"\r\n|\r|\n")
_BARE_LF = re.compile(r"(?<!\r)\n")
_STRAIGHTENED = str.maketrans(
    dict.fromkeys("\u2018\u2019\u201a\u201b", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f", '"')
)
_MOST_LINES = 5


def apply(edits: Sequence[Edit], text: str, ref: FileRef) -> str:
    """`text` after all edits, each working on the result of those before it.

    Everything outside the matches stays as it is. In a text whose line ends are all CRLF, an
    old_text that is not found is tried again with its line ends as CRLF, and new_text follows.
    Raises EditEmpty, EditNotFound or EditAmbiguous for the first edit that does not fit.
    """
    for number, edit in enumerate(edits, 1):
        if not edit.old_text:
            raise EditEmpty(number, len(edits))
        fitting = edit
        if edit.old_text not in text and _is_crlf(text):
            fitting = Edit(_with_crlf(edit.old_text), _with_crlf(edit.new_text))
        start = text.find(fitting.old_text)
        if start < 0:
            raise EditNotFound(ref, number, len(edits), _hint(text, edit.old_text))
        if text.find(fitting.old_text, start + 1) >= 0:
            starts = list(_occurrences(text, fitting.old_text))
            raise EditAmbiguous(ref, number, len(edits), len(starts), _lines(text, starts))
        text = text[:start] + fitting.new_text + text[start + len(fitting.old_text) :]
    return text


def _is_crlf(text: str) -> bool:
    ends = {end[0] for end in _LINE_END.finditer(text)}
    return ends == {"\r\n"}


def _with_crlf(text: str) -> str:
    return _BARE_LF.sub("\r\n", text)


def _occurrences(text: str, wanted: str) -> Iterator[int]:
    """Every start of `wanted`, overlapping ones too, in linear time (Knuth, Morris, Pratt 1977).

    Repeated `str.find` would take hours on a long run of one letter.
    """
    fallback = [0] * len(wanted)
    matched = 0
    for at in range(1, len(wanted)):
        while matched and wanted[at] != wanted[matched]:
            matched = fallback[matched - 1]
        matched += wanted[at] == wanted[matched]
        fallback[at] = matched
    matched = 0
    for at, character in enumerate(text):
        while matched and (matched == len(wanted) or character != wanted[matched]):
            matched = fallback[matched - 1]
        matched += character == wanted[matched]
        if matched == len(wanted):
            yield at - matched + 1


def _lines(text: str, starts: Sequence[int]) -> str:
    numbers = dict.fromkeys(_line_numbers(text, starts))
    shown = [str(number) for number in islice(numbers, _MOST_LINES)]
    return ", ".join(shown + ["…"] * (len(numbers) > _MOST_LINES))


def _line_numbers(text: str, starts: Sequence[int]) -> Iterator[int]:
    ends = (end.end() for end in _LINE_END.finditer(text))
    line, following = 1, next(ends, len(text) + 1)
    for start in starts:
        while following <= start:
            line, following = line + 1, next(ends, len(text) + 1)
        yield line


def _hint(text: str, wanted: str) -> str:
    if "\r\n" in text and "\n" in wanted:
        return "The file has CRLF line ends."
    if "\t" in text and " " in wanted and _spaced(wanted) in _spaced(text):
        return "The file has tabs where old_text has spaces."
    if wanted.translate(_STRAIGHTENED) in text.translate(
        _STRAIGHTENED
    ) and wanted == wanted.translate(_STRAIGHTENED):
        return "The file has curly quotes where old_text has straight ones."
    return "Read the file again and copy the text exactly."


def _spaced(text: str) -> str:
    return re.sub(r"[ \t]+", " ", text)
