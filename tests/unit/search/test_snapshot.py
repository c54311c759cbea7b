from collections.abc import Collection, Sequence
from datetime import date

import pytest

from memorybox.search.model import Entry, Indexed, Recipe, Skipped, SkipReason, TailEntry
from memorybox.search.pack import Pack, build_pack
from memorybox.search.snapshot import Fold, Snapshot
from tests.unit.search.builders import (
    DIMS,
    RECIPE,
    indexed,
    note,
    pack_of,
    packed,
    part,
    seen,
    tail,
)

TODAY = date(2026, 11, 30)


def paths(snapshot: Snapshot, scope: str | None = None) -> list[str]:
    return sorted(file.path_lower for file in snapshot.files(scope))


def over_budget(path: str) -> Entry:
    """Skipped until the next month."""
    file = seen(path)
    until = date(2026, 12, 1)
    return Entry(file, Skipped(file.rev, file.content_hash, SkipReason.OVER_BUDGET, until))


def too_large(path: str) -> Entry:
    file = seen(path)
    return Entry(file, Skipped(file.rev, file.content_hash, SkipReason.TOO_LARGE))


def test_files_come_from_packs_and_tail_each_once() -> None:
    snapshot = Snapshot(
        tail=tail(note("/garden/b.md", "new", rev="2"), Entry(seen("/garden/c.md"))),
        packs={
            "garden": packed(note("/garden/a.md", "a"), note("/garden/b.md", "old")),
            "work": packed(note("/work/w.md", "w")),
        },
    )

    assert paths(snapshot) == ["/garden/a.md", "/garden/b.md", "/garden/c.md", "/work/w.md"]
    assert paths(snapshot, "garden") == ["/garden/a.md", "/garden/b.md", "/garden/c.md"]
    assert paths(snapshot, "attic") == []


def test_an_entry_is_the_tails_before_it_is_the_packs() -> None:
    old, new = note("/garden/a.md", "old"), note("/garden/a.md", "new", rev="2")
    other = note("/garden/b.md", "b")
    snapshot = Snapshot(tail(new), {"garden": packed(old, other)})

    assert snapshot.entry("/garden/a.md") == new
    assert snapshot.entry("/garden/b.md") == other
    assert snapshot.entry("/garden/c.md") is None
    assert snapshot.entry("/attic/c.md") is None


def test_what_is_gone_hides_itself_and_all_below_but_no_neighbour() -> None:
    names = ("beds", "beds.md", "beds/plan.md", "beds/soil/ph.md", "beds2/x.md", "beds!.md")
    pack = packed(*(note(f"/garden/{name}", "x") for name in names))

    snapshot = Snapshot(tail("/garden/beds"), {"garden": pack})

    assert paths(snapshot) == ["/garden/beds!.md", "/garden/beds.md", "/garden/beds2/x.md"]
    assert snapshot.entry("/garden/beds/plan.md") is None


def test_a_workspace_that_is_gone_hides_its_whole_pack() -> None:
    snapshot = Snapshot(
        tail("/garden"),
        {"garden": packed(note("/garden/a.md", "a")), "work": packed(note("/work/w.md", "w"))},
    )

    assert paths(snapshot) == ["/work/w.md"]


def test_a_file_replaces_a_folder_at_its_path() -> None:
    pack = packed(note("/garden/x.md/inner.md", "inner"))

    assert paths(Snapshot(tail(note("/garden/x.md", "x")), {"garden": pack})) == ["/garden/x.md"]


def test_a_file_that_came_back_below_a_folder_that_was_gone_is_there() -> None:
    pack = packed(note("/garden/beds/a.md", "a"), note("/garden/beds/b.md", "b"))
    back = Entry(seen("/garden/beds/a.md"))

    for entries in (tail("/garden/beds", back), tail(back, "/garden/beds")):
        snapshot = Snapshot(entries, {"garden": pack})
        assert paths(snapshot) == ["/garden/beds/a.md"]
        assert snapshot.due(RECIPE, TODAY) == []


def test_an_echo_of_what_is_packed_is_not_due_and_keeps_its_parts() -> None:
    entry = note("/garden/a.md", "a")
    respelled = seen("/Garden/A.md", content=entry.seen.content_hash)
    snapshot = Snapshot(tail(Entry(respelled)), {"garden": packed(entry)})

    assert snapshot.due(RECIPE, TODAY) == []
    assert snapshot.entry("/garden/a.md") == Entry(respelled, entry.settled)
    assert list(snapshot.files()) == [respelled]


def test_due_is_what_has_no_parts_of_its_present_rev() -> None:
    entry = note("/garden/changed.md", "old")
    changed = Entry(seen("/garden/changed.md", rev="2"), entry.settled)
    new = Entry(seen("/garden/new.md"))
    snapshot = Snapshot(
        tail(changed, new, "/garden/gone.md", note("/garden/done.md", "done")),
        {"garden": packed(note("/garden/gone.md", "gone"), note("/garden/packed.md", "packed"))},
    )

    assert snapshot.due(RECIPE, TODAY) == [changed.seen, new.seen]
    assert snapshot.due(RECIPE, TODAY, "work") == []


def test_another_recipe_makes_every_file_due_but_the_skipped() -> None:
    other = Recipe("another model", DIMS, splitting=1, terms=1)
    snapshot = Snapshot(
        tail(note("/garden/b.md", "b"), indexed("/garden/done.md", recipe=other)),
        {"garden": packed(note("/garden/a.md", "a"), too_large("/garden/large.md"))},
    )

    assert snapshot.due(other, TODAY) == [seen("/garden/a.md"), seen("/garden/b.md")]


def test_skipped_files_are_named_until_they_are_due_again() -> None:
    later, never = over_budget("/garden/later.md"), too_large("/garden/never.md")
    for snapshot in (
        Snapshot(tail(later, never), {}),
        Snapshot({}, {"garden": packed(later, never)}),
    ):
        november = snapshot.skipped(RECIPE, TODAY)
        december = snapshot.skipped(RECIPE, date(2026, 12, 1))

        assert november == [(later.seen, later.settled), (never.seen, never.settled)]
        assert december == [(never.seen, never.settled)]
        assert snapshot.due(RECIPE, TODAY) == []
        assert snapshot.due(RECIPE, date(2026, 12, 1)) == [later.seen]
        assert snapshot.skipped(RECIPE, TODAY, "work") == []


def test_vectors_are_found_wherever_the_account_has_them() -> None:
    in_pack = part("/garden/a.md", "packed", (1, 0, 0, 0))
    hidden = part("/garden/b.md", "hidden", (0, 1, 0, 0))
    in_tail = part("/work/c.md", "tail", (0, 0, 1, 0))
    nowhere = part("/work/d.md", "nowhere", (0, 0, 0, 1))
    changed = indexed("/work/c.md", in_tail)
    snapshot = Snapshot(
        tail(Entry(seen("/work/c.md", rev="2"), changed.settled), "/garden/b.md"),
        {"garden": packed(indexed("/garden/a.md", in_pack), indexed("/garden/b.md", hidden))},
    )

    found = snapshot.vectors(p.identity for p in (in_pack, hidden, in_tail, nowhere))

    assert found == {p.identity: p.vector for p in (in_pack, hidden, in_tail)}
    assert snapshot.vectors([]) == {}


def test_a_moved_file_is_found_by_its_content() -> None:
    moved, copied = note("/garden/old.md", "moved"), note("/work/copy.md", "copied")
    snapshot = Snapshot(tail("/garden/old.md", copied), {"garden": packed(moved)})

    hashes = [moved.seen.content_hash, copied.seen.content_hash, "unknown"]
    assert snapshot.by_content(hashes, RECIPE) == {
        moved.seen.content_hash: ("/garden/old.md", moved.settled),
        copied.seen.content_hash: ("/work/copy.md", copied.settled),
    }
    other = Recipe("another model", DIMS, splitting=1, terms=1)
    assert snapshot.by_content(hashes, other) == {}


def test_parts_of_older_rules_do_not_serve_for_a_moved_file() -> None:
    older = Recipe("model", DIMS, splitting=1, terms=0)
    outdated = indexed("/garden/a.md", part("/garden/a.md", "x"), recipe=older)
    snapshot = Snapshot({}, {"garden": packed(outdated)})

    assert snapshot.by_content([outdated.seen.content_hash], RECIPE) == {}


def test_a_fold_holds_what_is_settled_and_drops_what_is_gone() -> None:
    kept, replaced, gone = (note(f"/garden/{name}.md", name) for name in ("kept", "old", "gone"))
    new, skipped = note("/garden/old.md", "new", rev="2"), too_large("/garden/large.md")
    elsewhere = note("/work/w.md", "w")
    entries = tail(new, skipped, "/garden/gone.md", elsewhere)
    snapshot = Snapshot(entries, {"garden": packed(kept, replaced, gone)})

    fold = snapshot.fold("garden", RECIPE, TODAY, merged={1})

    del entries["/work/w.md"]
    assert fold == Fold([new, skipped, kept], {}, list(entries.values()))


def test_a_fold_leaves_due_files_in_the_tail_and_their_old_vectors_in_the_pack() -> None:
    old = note("/garden/a.md", "old")
    due = Entry(seen("/garden/a.md", rev="2"))
    snapshot = Snapshot(tail(due), {"garden": packed(old)})

    fold = snapshot.fold("garden", RECIPE, TODAY, merged={1})

    assert fold == Fold([old], {}, [])
    folded = Snapshot(tail(due), {"garden": packed(*fold.entries)})
    assert folded.due(RECIPE, TODAY) == [due.seen]
    assert folded.entry("/garden/a.md") == due


def test_a_fold_takes_an_echo_in() -> None:
    entry = note("/garden/a.md", "a")
    respelled = seen("/Garden/A.md", content=entry.seen.content_hash)
    echo = tail(Entry(respelled))

    fold = Snapshot(echo, {"garden": packed(entry)}).fold("garden", RECIPE, TODAY, merged={1})

    assert fold == Fold([Entry(respelled, entry.settled)], {}, list(echo.values()))


def test_a_fold_makes_the_first_pack_of_a_workspace() -> None:
    entry = note("/garden/a.md", "a")

    fold = Snapshot(tail(entry), {}).fold("garden", RECIPE, TODAY, merged={1})

    assert fold.entries == [entry]


def test_a_fold_under_a_new_recipe_forgets_no_file() -> None:
    newer = Recipe("model", DIMS, splitting=2, terms=1)
    waiting = note("/garden/waiting.md", "waiting")
    done = indexed("/garden/done.md", part("/garden/done.md", "done"), recipe=newer)
    snapshot = Snapshot(tail(done), {"garden": packed(waiting, note("/garden/done.md", "done"))})

    pack = Pack.open(build_pack(newer, snapshot.fold("garden", newer, TODAY, merged={1}).entries))

    after = Snapshot({}, {"garden": [pack]})
    assert after.entry("/garden/done.md") == done
    assert after.due(newer, TODAY) == [waiting.seen]
    assert isinstance(waiting.settled, Indexed)
    [kept] = waiting.settled.parts
    assert after.vectors([kept.identity]) == {kept.identity: kept.vector}


def after_fold(before: Snapshot, merged: Collection[int], number: int = 9) -> Snapshot:
    fold = before.fold("garden", RECIPE, TODAY, merged)
    folded = {at.path_lower for at in fold.folded}
    kept = [pack for pack in before.packs["garden"] if pack.number not in merged]
    pack = pack_of(*fold.entries, number=number, hides=fold.hides)
    return Snapshot(
        {path: at for path, at in before.tail.items() if path not in folded},
        {"garden": [*kept, pack]},
    )


@pytest.mark.parametrize("merged", [(), (1,), (2,), (3,), (1, 2), (1, 3), (2, 3), (1, 2, 3)])
def test_folding_changes_nothing_that_can_be_asked(merged: Sequence[int]) -> None:
    changed, back = (
        note("/garden/changed.md", "younger", rev="2"),
        note("/garden/beds/back.md", "b"),
    )
    respelt = seen("/Garden/Kept.md", content=seen("/garden/kept.md").content_hash)
    before = Snapshot(
        tail(
            "/garden/beds",
            note("/garden/beds/new.md", "new"),
            Entry(seen("/garden/due.md", rev="2")),
            over_budget("/garden/later.md"),
            Entry(respelt),
            Entry(seen("/garden/shown again.md")),
            Entry(back.seen),
        ),
        {
            "garden": [
                pack_of(
                    note("/garden/beds/old.md", "old"),
                    note("/garden/changed.md", "older"),
                    note("/garden/kept.md", "kept"),
                    note("/garden/twice.md", "first"),
                ),
                pack_of(
                    back,
                    changed,
                    note("/garden/due.md", "due"),
                    note("/garden/twice.md", "second", rev="2"),
                    number=2,
                    hides={1: [1, 3]},
                ),
                pack_of(
                    note("/garden/shown again.md", "shown"),
                    note("/garden/twice.md", "third", rev="3"),
                    too_large("/garden/large.md"),
                    number=3,
                    hides={1: [3], 2: [3]},
                ),
            ]
        },
    )

    after = after_fold(before, merged)

    assert list(after.tail) == ["/garden/due.md"]
    for now in (after, after_fold(after, {pack.number for pack in after.packs["garden"]}, 10)):
        assert paths(now) == paths(before)
        assert [now.entry(path) for path in paths(now)] == [
            before.entry(path) for path in paths(before)
        ]
        assert now.due(RECIPE, TODAY) == before.due(RECIPE, TODAY)
        assert now.skipped(RECIPE, TODAY) == before.skipped(RECIPE, TODAY)


def test_of_a_file_in_several_packs_the_row_that_no_other_hides_stands() -> None:
    old, new = note("/garden/a.md", "old"), note("/garden/a.md", "new", rev="2")
    packs = [pack_of(note("/garden/b.md", "b"), old), pack_of(new, number=2, hides={1: [0]})]

    snapshot = Snapshot({}, {"garden": packs})

    assert paths(snapshot) == ["/garden/a.md", "/garden/b.md"]
    assert snapshot.entry("/garden/a.md") == new


def test_a_path_that_a_pack_hides_is_not_there_but_its_vectors_are() -> None:
    old = note("/garden/a.md", "old")
    packs = [pack_of(old, note("/garden/b.md", "b")), pack_of(number=2, hides={1: [0]})]

    snapshot = Snapshot({}, {"garden": packs})

    assert paths(snapshot) == ["/garden/b.md"]
    assert snapshot.entry("/garden/a.md") is None
    assert isinstance(old.settled, Indexed)
    assert snapshot.by_content([old.seen.content_hash], RECIPE) == {
        old.seen.content_hash: ("/garden/a.md", old.settled)
    }


def test_what_is_shown_once_more_after_it_was_hidden_is_due() -> None:
    old = note("/garden/a.md", "old")
    packs = [pack_of(old), pack_of(number=2, hides={1: [0]})]

    assert Snapshot(tail(Entry(old.seen)), {"garden": packs}).due(RECIPE, TODAY) == [old.seen]


def test_a_fold_leaves_what_is_shown_once_more_as_it_was_in_its_pack() -> None:
    entries = note("/garden/a.md", "a"), note("/garden/b.md", "b")
    shown = tail(*(Entry(entry.seen) for entry in entries))

    fold = Snapshot(shown, {"garden": packed(*entries)}).fold("garden", RECIPE, TODAY, merged=())

    assert fold == Fold([], {}, list(shown.values()))


def test_a_tail_entry_without_a_file_has_no_entry() -> None:
    assert TailEntry("/garden/a.md", version=3).entry is None
