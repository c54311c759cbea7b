"""The texts that tools answer, to the byte."""

import json
from collections.abc import Iterable, Iterator
from datetime import datetime
from itertools import islice
from typing import assert_never

from memorybox.files.model import FileEntry, Rev, StoredFile
from memorybox.mcp.messages import result_frame
from memorybox.mcp.toolset import ToolResult
from memorybox.quoting import json_string, quoted, visible
from memorybox.search.model import SkipReason
from memorybox.search.results import (
    DeploymentSpent,
    IndexedNow,
    IndexOutcome,
    NoText,
    NoTime,
    OverBudget,
    SearchResult,
    ServiceSilent,
    TextNotTaken,
    TooLarge,
    Unindexed,
)

MOST_NAMED = 20
"""How many files that are not indexed a search names."""


def listed(entries: Iterable[FileEntry]) -> str:
    """Valid JSON with one file a line."""
    lines = ",\n".join(_file_line(entry) for entry in entries)
    return f'{{"files":[\n{lines}\n]}}' if lines else '{"files":[]}'


def _file_line(entry: FileEntry) -> str:
    return (
        f'  {{"workspace":{json_string(entry.workspace)},"path":{json_string(entry.path)},'
        f'"size":{entry.size},"modified":"{_timestamp(entry.modified)}"}}'
    )


def _timestamp(moment: datetime) -> str:
    return moment.strftime("%Y-%m-%dT%H:%M:%SZ")


def heading(stored: StoredFile) -> str:
    """What stands before the text of a file."""
    return f"rev: {stored.entry.rev}\nsize: {len(stored.data)} bytes"


def written(rev: Rev, outcome: IndexOutcome) -> str:
    return f"rev: {rev}\n{index_line(outcome)}"


def index_line(outcome: IndexOutcome) -> str:  # noqa: PLR0911 - one line for each outcome
    """Whether a file that was just written can be found, in one sentence."""
    match outcome:
        case IndexedNow(parts=1):
            return "Indexed for search."
        case IndexedNow(parts=parts):
            return f"Indexed for search in {parts} parts."
        case TooLarge():
            return "Not indexed for search: the file is over 1,000,000 bytes."
        case OverBudget(until=until):
            return (
                f"Not indexed for search until {until} (UTC): the file does not fit in what is "
                "left of this month's embedding tokens."
            )
        case NoText():
            return "Not indexed for search: the file has no text."
        case ServiceSilent():
            return (
                "Not indexed for search yet: the embedding service did not answer. "
                "The next search indexes it."
            )
        case NoTime():
            return "Not indexed for search yet: there was no time left. The next search indexes it."
        case TextNotTaken():
            return "Not indexed for search: the embedding service could not take this text."
        case DeploymentSpent(until=until):
            return (
                f"Not indexed for search until {until} (UTC): this service has used up its own "
                "embedding limit."
            )
        case _:
            assert_never(outcome)


def found(result: SearchResult, workspace: str | None) -> str:
    """The hits, best first; then, after an empty line, what was not searched."""
    hits = [
        f"{number}. {visible(hit.workspace)}/{visible(hit.path)}  score {_score(hit.score)}"
        for number, hit in enumerate(result.hits, 1)
    ]
    remarks = list(_remarks(result))
    return "\n".join((hits or [_nothing(workspace)]) + (["", *remarks] if remarks else []))


def _score(score: float) -> str:
    return f"{score:.3f}".replace("-0.000", "0.000")


def _nothing(workspace: str | None) -> str:
    if workspace is None:
        return "No indexed file in any workspace."
    return f"No indexed file in workspace {quoted(workspace)}."


def _remarks(result: SearchResult) -> Iterator[str]:
    if result.is_by_words_alone:
        yield "Ranked by words alone: the embedding service did not answer."
    for file in islice(result.unindexed, MOST_NAMED):
        yield f"Not indexed: {visible(file.workspace)}/{visible(file.path)} ({_reason(file)})"
    if (more := len(result.unindexed) - MOST_NAMED) > 0:
        yield f"Not indexed: {more} more files for such reasons."
    if result.pending == 1:
        yield "1 file is not indexed yet. Search again to go on."
    elif result.pending:
        yield f"{result.pending} files are not indexed yet. Search again to go on."


def _reason(file: Unindexed) -> str:
    match file.reason:
        case SkipReason.TOO_LARGE:
            return "over 1,000,000 bytes"
        case SkipReason.NOT_UTF8:
            return "not UTF-8 text"
        case SkipReason.OVER_BUDGET:
            return f"does not fit in this month's embedding tokens; next try on {file.until} UTC"
        case SkipReason.REFUSED:
            return "the embedding service could not take it"
        case SkipReason.NOT_DOWNLOADABLE:
            return "Dropbox does not let it be downloaded"
        case _:
            assert_never(file.reason)


def wire_size(result: ToolResult) -> int:
    """Bytes of the result in the response of the function: JSON inside a JSON string.

    Lambda counts its limit of 6 MB there: a `"` of a note costs 4 bytes, a line end 3, a control
    character 7.
    """
    return len(json.dumps(result_frame(0, result.describe()).decode(), ensure_ascii=False).encode())
