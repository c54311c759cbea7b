"""The tail of the index, the pack pointers and the cursor on DynamoDB."""

from collections.abc import Iterable, Sequence
from contextlib import suppress
from datetime import timedelta
from itertools import chain
from typing import Any

from memorybox.adapters.aws import keys
from memorybox.adapters.aws.budget import DynamoBudget
from memorybox.adapters.aws.entries import (
    Torn,
    entry_left,
    entry_of,
    pieces_of,
    pointer_map,
    seen_map,
    settled_map,
    state_of,
)
from memorybox.adapters.aws.session import Session
from memorybox.adapters.aws.table import (
    Cancelled,
    ConditionFailed,
    Write,
    delete,
    put,
    update,
)
from memorybox.adapters.aws.values import Item, stamp
from memorybox.deadline import Deadline
from memorybox.files.model import Cursor
from memorybox.search.budget import Spending
from memorybox.search.model import PackPointer, Seen, Settled, TailEntry
from memorybox.search.store import CursorMoved, IndexLost, IndexState, Sighting, StoredCursor

GRACE = timedelta(seconds=5)
"""How long a claim outlives the deadline of its holder, whose last write may be on its way."""

_TOGETHER = 97  # of the 100 writes of a transaction; the cursor and two leases may come along
_LOADS_FOR_ALL = 2
"""After them, pieces that are not there are not waited for."""

_HELD = "holder = :owner AND fence = :fence"
_FREE = "attribute_not_exists(holder) OR ends <= :now"


class DynamoIndexStore:
    """The port IndexStore."""

    def __init__(self, session: Session, budget: DynamoBudget) -> None:
        self._session = session
        self._budget = budget
        self._pieces: dict[str, int] = {}
        """Beside each item, as it was read last, whether or not they could be made use of."""

    def load(self) -> IndexState:
        for _ in range(_LOADS_FOR_ALL):
            with suppress(Torn):  # an entry was stored between two pages of the query
                return state_of(self._items())
        return state_of(self._items(), entry_left)

    def record(
        self,
        sightings: Iterable[Sighting],
        *,
        seen_at: StoredCursor,
        then: Cursor | None = None,
        packs: Sequence[PackPointer] = (),
    ) -> StoredCursor:
        latest = list({sighting.path_lower: sighting for sighting in sightings}.values())
        notes, together = list(map(self._noting, latest)), _TOGETHER - len(packs)
        while len(notes) > together:
            chunk, notes = notes[:together], notes[together:]
            seen_at = self._step(chunk, seen_at=seen_at, then=seen_at.cursor)
        notes += map(self._pointing, packs)
        return self._step(notes, seen_at=seen_at, then=then or seen_at.cursor)

    def discard(self, pointer: PackPointer, *, seen_at: StoredCursor) -> StoredCursor:
        moved = StoredCursor(None, self._next(seen_at))
        unpoint = delete(
            self._session.key(keys.pack(pointer.workspace)),
            "generation = :generation",
            generation=pointer.generation,
        )
        try:
            self._session.transact(self._moving(seen_at, moved), unpoint)
        except Cancelled:
            raise CursorMoved from None
        return moved

    def claim(self, path_lower: str, *, owner: str, deadline: Deadline) -> TailEntry | None:
        now = self._session.now()
        try:
            item = self._session.apply(
                update(
                    self._key(path_lower),
                    "SET path_lower = :path, version = if_not_exists(version, :new),"
                    " fence = if_not_exists(fence, :zero) + :one, holder = :owner, ends = :ends",
                    f"{_FREE} OR holder = :owner",
                    path=path_lower,
                    new=stamp(now),
                    zero=0,
                    one=1,
                    owner=owner,
                    ends=stamp(self._session.ends(deadline) + GRACE),
                    now=stamp(now),
                )
            )
        except ConditionFailed:
            return None
        self._pieces[path_lower] = pieces_of(item)
        return self._whole(item)

    def store(
        self, entry: TailEntry, settled: Settled, *, spending: Spending | None = None
    ) -> None:
        if not self._commit(self._storing(entry, settled), spending):
            raise IndexLost

    def unclaim(self, entry: TailEntry, *, spending: Spending | None = None) -> None:
        freeing = update(
            self._key(entry.path_lower), "REMOVE holder, ends", _HELD, **_holding(entry)
        )
        self._commit([freeing], spending)

    def point(self, pointer: PackPointer) -> bool:
        try:
            self._session.apply(self._pointing(pointer))
        except ConditionFailed as failed:
            # Its key is random, so if it is there, it is our own answer that was lost.
            return failed.item == self._pointed(pointer)
        return True

    def forget(self, entries: Iterable[TailEntry]) -> None:
        alone: list[list[Write]] = []
        together: list[list[Write]] = []
        for entry in entries:
            writes = self._forgetting(entry)
            (together if len(writes) == 1 else alone).append(writes)
        for writes in alone:  # a transaction has at most 4 MB, and these are large
            self._forget([writes])
        for start in range(0, len(together), _TOGETHER):
            self._forget(together[start : start + _TOGETHER])

    def _items(self) -> dict[str, Item]:
        found = self._session.query(
            "sk BETWEEN :first AND :last", first=keys.INDEX_FIRST, last=keys.INDEX_LAST
        )
        items = {item["sk"]: item for item in found}
        self._pieces |= {
            at["path_lower"]: pieces_of(at) for at in items.values() if "settled" in at
        }
        return items

    def _key(self, path_lower: str) -> Item:
        return self._session.key(keys.file(path_lower))

    def _pointed(self, pointer: PackPointer) -> Item:
        return {**self._session.key(keys.pack(pointer.workspace)), **pointer_map(pointer)}

    def _pointing(self, pointer: PackPointer) -> Write:
        follows = "generation = :before"
        if pointer.generation == 1:
            follows += " OR attribute_not_exists(generation)"
        return put(self._pointed(pointer), follows, before=pointer.generation - 1)

    def _step(
        self, writes: Sequence[Write], *, seen_at: StoredCursor, then: Cursor | None
    ) -> StoredCursor:
        moved = StoredCursor(then, self._next(seen_at))
        try:
            self._session.transact(self._moving(seen_at, moved), *writes)
        except Cancelled:
            raise CursorMoved from None
        return moved

    def _next(self, seen_at: StoredCursor) -> int:
        """A first version is the present time: never again that of an index that was deleted."""
        return (seen_at.version or stamp(self._session.now())) + 1

    def _moving(self, seen_at: StoredCursor, moved: StoredCursor) -> Write:
        key, change = self._session.key(keys.CURSOR), "SET place = :place, version = :next"
        values: dict[str, Any] = {"place": moved.cursor, "next": moved.version}
        if seen_at.version == 0:
            return update(key, change, "attribute_not_exists(version)", **values)
        return update(key, change, "version = :version", version=seen_at.version, **values)

    def _noting(self, sighting: Sighting) -> Write:
        """A version starts at the present time: never again at that of an entry forgotten."""
        return update(
            self._key(sighting.path_lower),
            "SET path_lower = :path, seen = :seen, version = if_not_exists(version, :new) + :one",
            path=sighting.path_lower,
            seen=seen_map(sighting) if isinstance(sighting, Seen) else None,
            new=stamp(self._session.now()),
            one=1,
        )

    def _storing(self, entry: TailEntry, settled: Settled) -> list[Write]:
        holding = _holding(entry)
        mark = "{owner}.{fence}".format(**holding)
        about, pieces = settled_map(settled, mark=mark)
        return [
            update(
                self._key(entry.path_lower),
                "SET settled = :settled, version = version + :one REMOVE holder, ends",
                _HELD,
                settled=about,
                one=1,
                **holding,
            ),
            *(
                put({**self._piece(entry, number), "mark": mark, "parts": piece})
                for number, piece in enumerate(pieces, 1)
            ),
            *(
                delete(self._piece(entry, number + 1))
                for number in range(len(pieces), self._pieces.get(entry.path_lower, 0))
            ),
        ]

    def _forgetting(self, entry: TailEntry) -> list[Write]:
        unchanged = f"version = :version AND ({_FREE})"
        pieces = self._pieces.get(entry.path_lower, 0)
        return [
            delete(
                self._key(entry.path_lower),
                unchanged,
                version=entry.version,
                now=stamp(self._session.now()),
            ),
            *(delete(self._piece(entry, number + 1)) for number in range(pieces)),
        ]

    def _forget(self, entries: list[list[Write]]) -> None:
        try:
            self._session.transact(*chain.from_iterable(entries))
        except Cancelled:
            if len(entries) > 1:
                for writes in entries:
                    self._forget([writes])

    def _commit(self, writes: list[Write], spending: Spending | None) -> bool:
        """Do the writes and settle in one step. If the writes cannot be done, settle alone."""
        try:
            if spending:
                self._budget.settle_with(writes, spending)
            else:
                self._session.transact(*writes)
        except Cancelled:
            if spending:
                self._budget.settle(spending)
            return False
        return True

    def _piece(self, entry: TailEntry, number: int) -> Item:
        return self._session.key(keys.piece(entry.path_lower, number))

    def _whole(self, item: Item) -> TailEntry:
        """The entry of an item that was read alone. Pieces that went missing are not waited for."""
        path_lower, numbers = item["path_lower"], range(1, pieces_of(item) + 1)
        if not numbers:
            return entry_of(item, {})
        found = self._session.get_together([keys.piece(path_lower, n) for n in numbers])
        return entry_left(
            item, {n: piece for n, piece in zip(numbers, found, strict=True) if piece}
        )


def _holding(entry: TailEntry) -> dict[str, Any]:
    if entry.claim is None:
        raise ValueError("the entry was not claimed")
    return {"owner": entry.claim.owner, "fence": entry.claim.fence}
