"""Reading and changing files, with other writers about."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from memorybox.files.commands import Attempt
from memorybox.files.errors import (
    FileBusy,
    FileChanged,
    FileExists,
    FolderInTheWay,
    NothingToReplace,
    NotTextToChange,
    OutcomeUnknown,
    WorkspaceNotAllowed,
)
from memorybox.files.hashing import content_hash
from memorybox.files.leases import TurnNeverCame
from memorybox.files.model import Edit, FileEntry, FileRef, Rev
from memorybox.files.service import MOST_TRIES, Files
from tests.fakes.clock import FakeClock
from tests.fakes.files import InMemoryFileStore

REF = FileRef.parse("garden", "tomatoes.md")


class FreeLeases:
    """Nobody else writes."""

    @contextmanager
    def writer(self) -> Iterator[None]:
        yield


class TakenLeases:
    """Somebody else writes all the time."""

    @contextmanager
    def writer(self) -> Iterator[None]:
        raise TurnNeverCame
        yield


def ignore(_: Attempt) -> None:
    """Keep no note of an upload."""


def files_over(store: InMemoryFileStore) -> Files:
    return Files(store, FreeLeases(), pause=lambda _: True)


def test_the_story_of_a_note() -> None:
    store = InMemoryFileStore(FakeClock())
    files = files_over(store)

    first = files.write(REF, "# T\n\n- 6 seedlings\n", expected=None, note=ignore)
    second = files.append(REF, "- fruit\n", note=ignore)
    read = files.read(REF, at_most=1_000)
    third = files.patch(REF, [Edit("6 seed", "8 seed")], expected=second.entry.rev, note=ignore)

    assert read == second
    assert read.data == b"# T\n\n- 6 seedlings\n- fruit\n"
    assert third.data == b"# T\n\n- 8 seedlings\n- fruit\n"
    assert len({first.entry.rev, second.entry.rev, third.entry.rev}) == 3


def test_append_keeps_what_another_app_wrote_in_between() -> None:
    others = iter([b"theirs\n", b"theirs again\n"])
    steps = iter(range(1_000))

    def another_writer() -> None:
        if next(steps) in {2, 5} and (text := next(others, None)):
            store.outside.write("/garden/tomatoes.md", text)

    store = InMemoryFileStore(FakeClock(), another_writer)
    store.outside.write("/garden/tomatoes.md", b"first\n")

    written = files_over(store).append(REF, "ours\n", note=ignore)

    assert written.data == b"theirs again\nours\n"
    assert store.read(REF, 100).data == written.data


def test_append_gives_up_after_eight_readings_and_has_written_nothing() -> None:
    writes = iter(range(1_000))

    def restless_writer() -> None:
        store.outside.write("/garden/tomatoes.md", f"theirs {next(writes)}\n".encode())

    store = InMemoryFileStore(FakeClock(), restless_writer)
    tries: list[int] = []

    def pause(attempt: int) -> bool:
        tries.append(attempt)
        return True

    with pytest.raises(FileBusy):
        Files(store, FreeLeases(), pause).append(REF, "ours\n", note=ignore)
    assert tries == list(range(MOST_TRIES))
    assert b"ours" not in store.read(REF, 100).data


def test_a_writer_whose_turn_never_comes_writes_nothing() -> None:
    store = InMemoryFileStore(FakeClock())
    with pytest.raises(FileBusy):
        Files(store, TakenLeases(), pause=lambda _: True).append(REF, "x", note=ignore)
    assert store.look("/garden/tomatoes.md") is None


def test_equal_text_is_not_uploaded_again() -> None:
    store = InMemoryFileStore(FakeClock())
    files = files_over(store)
    rev = files.write(REF, "text", expected=None, note=ignore).entry.rev
    uploads: list[Attempt] = []

    written = files.write(REF, "text", expected=rev, note=uploads.append)
    appended = files.append(REF, "", note=uploads.append)
    patched = files.patch(REF, [Edit("text", "text")], expected=rev, note=uploads.append)

    assert {written.entry.rev, appended.entry.rev, patched.entry.rev} == {rev}
    assert uploads == []


def test_a_stale_rev_is_refused_though_the_text_is_the_stored_one() -> None:
    store = InMemoryFileStore(FakeClock())
    files = files_over(store)
    old = files.write(REF, "a", expected=None, note=ignore).entry.rev
    current = files.append(REF, "b", note=ignore).entry.rev

    with pytest.raises(FileChanged) as refusal:
        files.write(REF, "ab", expected=old, note=ignore)

    assert str(refusal.value) == (
        f'The file "tomatoes.md" in workspace "garden" is at rev "{current}", not "{old}". '
        "It changed since you read it. Nothing was written."
    )


def test_a_deleted_file_stays_deleted() -> None:
    store = InMemoryFileStore(FakeClock())
    files = files_over(store)
    rev = files.write(REF, "a", expected=None, note=ignore).entry.rev
    store.outside.remove("/garden/tomatoes.md")

    with pytest.raises(NothingToReplace):
        files.write(REF, "a", expected=rev, note=ignore)
    with pytest.raises(NothingToReplace):
        files.patch(REF, [Edit("a", "b")], expected=rev, note=ignore)
    assert store.look("/garden/tomatoes.md") is None


def test_a_folder_is_not_replaced() -> None:
    store = InMemoryFileStore(FakeClock())
    store.outside.make_folder("/garden/tomatoes.md")
    with pytest.raises(FolderInTheWay):
        files_over(store).write(REF, "a", expected=Rev("0" * 9), note=ignore)


def test_a_name_in_another_letter_case_is_the_same_file() -> None:
    store = InMemoryFileStore(FakeClock())
    files = files_over(store)
    files.write(REF, "a", expected=None, note=ignore)
    with pytest.raises(FileExists):
        files.write(FileRef.parse("GARDEN", "Tomatoes.MD"), "a", expected=None, note=ignore)


def test_bytes_that_are_no_text_are_not_changed() -> None:
    store = InMemoryFileStore(FakeClock())
    entry = store.outside.write("/garden/tomatoes.md", b"caf\xe9")
    with pytest.raises(NotTextToChange):
        files_over(store).append(REF, "x", note=ignore)
    assert store.look("/garden/tomatoes.md") == entry


def test_an_odd_workspace_gets_new_files_only_if_it_exists() -> None:
    store = InMemoryFileStore(FakeClock())
    files = files_over(store)
    ref = FileRef.parse("odd\nname", "a.md")

    with pytest.raises(WorkspaceNotAllowed):
        files.write(ref, "x", expected=None, note=ignore)
    store.outside.make_folder("/odd\nname")
    files.write(ref, "x", expected=None, note=ignore)

    assert [entry.path for entry in files.list("odd\nname")] == ["a.md"]


def test_an_upload_that_was_cut_short_is_found_by_its_revision() -> None:
    store = InMemoryFileStore(FakeClock())
    files = files_over(store)
    base = files.write(REF, "a", expected=None, note=ignore).entry.rev
    attempts: list[Attempt] = []
    ours = files.append(REF, "b", note=attempts.append)
    store.outside.write("/garden/tomatoes.md", b"abc")

    recovered = files.recover(REF, attempts[0])

    assert attempts == [Attempt(content_hash(b"ab"), base)]
    assert recovered is not None
    rev, stored = recovered
    assert (rev, stored.data) == (ours.entry.rev, b"abc")
    assert files.recover(REF, Attempt(content_hash(b"other"), base)) is None


def test_an_unforeseen_end_of_an_upload_leaves_the_outcome_open() -> None:
    class BrokenStore(InMemoryFileStore):
        def create(self, ref: FileRef, data: bytes) -> FileEntry:
            super().create(ref, data)
            raise KeyError("a bug")

    with pytest.raises(OutcomeUnknown):
        files_over(BrokenStore(FakeClock())).append(REF, "x", note=ignore)
