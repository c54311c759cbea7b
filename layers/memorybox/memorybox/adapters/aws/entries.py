"""The items of the index, as they are written and read.

An item `file#` has `path_lower` and `version`, and as they come: `seen` (NULL: recorded as gone;
missing: not recorded yet), `settled`, and of a claim `fence`, `holder` and `ends`. Parts of more
than INLINE bytes are cut into items `filepart#`, so that every update of the entry stays cheap and
a hundred fit in a transaction. An item `pack#` is a pointer, the item `cursor` the place.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict
from datetime import date
from struct import Struct
from typing import Any

from memorybox.adapters.aws import keys
from memorybox.adapters.aws.values import Item, moment, stamp
from memorybox.search.model import (
    NO_REV,
    Claim,
    Indexed,
    PackPointer,
    PackRef,
    Part,
    Recipe,
    Seen,
    Settled,
    Skipped,
    SkipReason,
    TailEntry,
    Words,
    parts_in,
)
from memorybox.search.store import IndexState, StoredCursor

INLINE = 30_000
PIECE = 350_000  # an item has at most 400 KB

FORMAT = 2
"""Of the parts. A result of another one counts as none: the file is indexed again."""

_HEAD = Struct("<II16sI")  # start, end, identity, bytes of words; then the vector and the words


class Torn(Exception):
    """The pieces at hand are not those of this version of the entry."""


def seen_map(seen: Seen) -> Item:
    return {
        "path_display": seen.path_display,
        "rev": seen.rev,
        "content_hash": seen.content_hash,
        "size": seen.size,
        "modified": stamp(seen.modified),
    }


def settled_map(settled: Settled, *, mark: str) -> tuple[Item, list[bytes]]:
    """The attribute `settled`, and the pieces that do not fit in it. `mark` is new each time."""
    about: dict[str, Any] = {"rev": settled.rev, "content_hash": settled.content_hash}
    if isinstance(settled, Skipped):
        until = settled.until and settled.until.isoformat()
        about |= {"reason": settled.reason.value, "until": until}
        if settled.recipe:
            about["under"] = asdict(settled.recipe)
    held = parts_in(settled)
    if held is None:
        return about, []
    parts = _packed(held)
    about |= {"recipe": asdict(held.recipe), "format": FORMAT, "mark": mark}
    if len(parts) <= INLINE:
        return about | {"parts": parts, "pieces": 0}, []
    pieces = [parts[at : at + PIECE] for at in range(0, len(parts), PIECE)]
    return about | {"pieces": len(pieces)}, pieces


def pointer_map(pointer: PackPointer) -> Item:
    return {
        "workspace": pointer.workspace,
        "generation": pointer.generation,
        "packs": [asdict(ref) for ref in pointer.packs],
    }


def pieces_of(item: Item) -> int:
    """How many pieces the item has beside it."""
    pieces: int = (item.get("settled") or {}).get("pieces", 0)
    return pieces


def entry_of(item: Item, pieces: Mapping[int, Item]) -> TailEntry:
    """The entry of an item and its pieces by number. Raises Torn."""
    path_lower: str = item["path_lower"]
    seen, settled = item.get("seen"), item.get("settled")
    return TailEntry(
        path_lower=path_lower,
        version=item["version"],
        seen=_seen(path_lower, seen) if seen else None,
        settled=_settled(settled, pieces) if settled else None,
        claim=_claim(item) if "holder" in item else None,
    )


def entry_left(item: Item, pieces: Mapping[int, Item]) -> TailEntry:
    """The same, but where pieces are missing without its result: the file is indexed again."""
    try:
        return entry_of(item, pieces)
    except Torn:
        return entry_of({**item, "settled": None}, {})


def state_of(
    items: Mapping[str, Item], entry: Callable[[Item, Mapping[int, Item]], TailEntry] = entry_of
) -> IndexState:
    """Everything of the index, from all its items by their sort key. Raises what `entry` does."""

    def whole(item: Item) -> TailEntry:
        path_lower = item["path_lower"]
        numbered = {n: keys.piece(path_lower, n) for n in range(1, pieces_of(item) + 1)}
        return entry(item, {n: items[sk] for n, sk in numbered.items() if sk in items})

    files = [item for sk, item in items.items() if sk.startswith("file#")]
    pointers = [_pointer(item) for sk, item in items.items() if sk.startswith("pack#")]
    return IndexState(
        cursor=_cursor(items.get(keys.CURSOR)),
        tail={item["path_lower"]: whole(item) for item in files if "seen" in item},
        unlisted={item["path_lower"] for item in files if "seen" not in item},
        packs={pointer.workspace: pointer for pointer in pointers},
    )


def _cursor(item: Item | None) -> StoredCursor:
    return StoredCursor(item["place"], item["version"]) if item else StoredCursor(None, 0)


def _pointer(item: Item) -> PackPointer:
    return PackPointer(
        workspace=item["workspace"],
        generation=item["generation"],
        packs=tuple(PackRef(**ref) for ref in item["packs"]),
    )


def _packed(indexed: Indexed) -> bytes:
    packed: list[bytes] = []
    for part in indexed.parts:
        words = part.words.to_bytes()
        packed += [_HEAD.pack(part.start, part.end, part.identity, len(words)), part.vector, words]
    return b"".join(packed)


def _seen(path_lower: str, seen: Item) -> Seen:
    return Seen(
        path_lower=path_lower,
        path_display=seen["path_display"],
        rev=seen["rev"],
        content_hash=seen["content_hash"],
        size=seen["size"],
        modified=moment(seen["modified"]),
    )


def _claim(item: Item) -> Claim:
    return Claim(item["holder"], item["fence"], moment(item["ends"]))


def _settled(settled: Item, pieces: Mapping[int, Item]) -> Settled | None:
    rev, content_hash = settled["rev"], settled["content_hash"]
    if "reason" in settled:
        until = settled["until"]
        when = until and date.fromisoformat(until)
        kept = _indexed(NO_REV, "", settled, pieces)
        under = Recipe(**settled["under"]) if "under" in settled else None
        return Skipped(rev, content_hash, SkipReason(settled["reason"]), when, kept, under)
    return _indexed(rev, content_hash, settled, pieces)


def _indexed(
    rev: str, content_hash: str, settled: Item, pieces: Mapping[int, Item]
) -> Indexed | None:
    if settled.get("format") != FORMAT:
        return None
    recipe = Recipe(**settled["recipe"])
    packed = settled["parts"] if "parts" in settled else _joined(settled, pieces)
    return Indexed(rev, content_hash, recipe, tuple(_parts(packed, recipe.dims)))


def _joined(settled: Item, pieces: Mapping[int, Item]) -> bytes:
    parts: list[bytes] = []
    for number in range(1, settled["pieces"] + 1):
        if pieces.get(number, {}).get("mark") != settled["mark"]:
            raise Torn
        parts.append(pieces[number]["parts"])
    return b"".join(parts)


def _parts(packed: bytes, vector_bytes: int) -> Iterator[Part]:
    at = 0
    while at < len(packed):
        start, end, identity, words_bytes = _HEAD.unpack_from(packed, at)
        vector = at + _HEAD.size
        words = vector + vector_bytes
        at = words + words_bytes
        yield Part(start, end, identity, packed[vector:words], Words.from_bytes(packed[words:at]))
