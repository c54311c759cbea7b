"""What every FileStore promises: in memory, on the emulator and, with a token, on Dropbox.

With DROPBOX_TEST_TOKEN set, each test works in a folder of its own in that app folder.
"""

import os
import random
import secrets
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC
from random import Random
from typing import Any, Protocol, TypeVar

import dropbox as sdk
import pytest

from local.dropbox.accounts import Account
from local.dropbox.faults import Effect, Fault, route_error
from local.dropbox.knobs import Content
from local.dropbox.server import DropboxEmulator
from memorybox.adapters.dropbox.client import Client
from memorybox.adapters.dropbox.files import DropboxFileStore
from memorybox.adapters.dropbox.session import new_session
from memorybox.clock import SystemClock
from memorybox.deadline import Deadline
from memorybox.files.errors import (
    CursorReset,
    FileChanged,
    FileExists,
    FileInTheWay,
    FileMissing,
    FileTooLarge,
    FolderInTheWay,
    NameNotTaken,
    NotDownloadable,
    NothingToReplace,
    OutcomeUnknown,
)
from memorybox.files.hashing import content_hash
from memorybox.files.model import (
    Change,
    ChangePage,
    Cursor,
    Entry,
    FileEntry,
    FileRef,
    FolderEntry,
    Removed,
    Rev,
    StoredFile,
)
from memorybox.files.store import FileStore
from tests.fakes.files import InMemoryFileStore

LARGE = 1_000_000
OLD = Rev("0165f1c6000000000000033b284821")

T = TypeVar("T")


class Outside(Protocol):
    """Another app, or the user, at work in the same folder."""

    def write(self, location: str, data: bytes) -> object: ...

    def make_folder(self, location: str) -> None: ...

    def remove(self, location: str) -> None: ...

    def move(self, source: str, target: str) -> None: ...

    def keep_from_download(self, location: str) -> None: ...

    def reset_cursors(self) -> None: ...


@dataclass(frozen=True, slots=True)
class EmulatedOutside:
    dropbox: DropboxEmulator
    account: Account

    def write(self, location: str, data: bytes) -> object:
        return self.account.put(location, data)

    def make_folder(self, location: str) -> None:
        self.account.make_folder(location)

    def remove(self, location: str) -> None:
        self.account.delete(location)

    def move(self, source: str, target: str) -> None:
        self.account.move(source, target)

    def keep_from_download(self, location: str) -> None:
        self.account.set(content={location: Content.UNSUPPORTED})

    def reset_cursors(self) -> None:
        answer = route_error("reset")
        self.dropbox.faults.add(
            Fault(
                "files/list_folder/continue", Effect.ANSWER, self.account.account_id, answer=answer
            )
        )


@dataclass(frozen=True, slots=True)
class RealOutside:
    api: Any

    def write(self, location: str, data: bytes) -> object:
        return self.api.files_upload(data, location, mode=sdk.files.WriteMode.overwrite)

    def make_folder(self, location: str) -> None:
        self.api.files_create_folder_v2(location)

    def remove(self, location: str) -> None:
        self.api.files_delete_v2(location)

    def move(self, source: str, target: str) -> None:
        self.api.files_move_v2(source, target)

    def keep_from_download(self, location: str) -> None:
        pytest.skip("Dropbox has no call for that")

    def reset_cursors(self) -> None:
        pytest.skip("Dropbox has no call for that")


@dataclass(frozen=True, slots=True)
class Folder:
    """A workspace in an app folder, seen by the store and by another app."""

    store: FileStore
    outside: Outside
    workspace: str = "garden"

    def ref(self, path: str) -> FileRef:
        return FileRef.parse(self.workspace, path)

    def at(self, path: str) -> str:
        return f"/{self.workspace}/{path}"

    def put(self, path: str, data: bytes = b"text") -> FileEntry:
        """A file that another app has made or replaced."""
        self.outside.write(self.at(path), data)
        return self.file(path)

    def file(self, path: str) -> FileEntry:
        entry = self.store.look(self.at(path))
        assert isinstance(entry, FileEntry)
        return entry

    def holds(self, path: str) -> bytes:
        return self.store.read(self.ref(path), LARGE).data


@pytest.fixture(params=["memory", "emulator", "dropbox"])
def folder(request: pytest.FixtureRequest) -> Iterator[Folder]:
    match request.param:
        case "memory":
            store = InMemoryFileStore(SystemClock())
            yield Folder(store, store.outside)
        case "emulator":
            emulator: DropboxEmulator = request.getfixturevalue("dropbox")
            account = emulator.add_account()
            account.set(page_size=3, empty_pages=1, children_after_delete=True)
            token = emulator.token(account)
            with new_session(emulator.base_url) as session:
                outside = EmulatedOutside(emulator, account)
                yield Folder(_dropbox_store(session, token), outside)
        case "dropbox":
            yield from _real_folder()


def _real_folder() -> Iterator[Folder]:
    token = os.environ.get("DROPBOX_TEST_TOKEN")
    if not token:
        pytest.skip("no DROPBOX_TEST_TOKEN")
    workspace = f"contract-{secrets.token_hex(4)}"
    with new_session() as session:
        outside = RealOutside(sdk.Dropbox(token, session=session))
        yield Folder(_dropbox_store(session, token), outside, workspace)
        with suppress(sdk.exceptions.ApiError):
            outside.remove(f"/{workspace}")


def _dropbox_store(session: Any, token: str) -> DropboxFileStore:
    def tokens(*, refused: str | None = None) -> str:
        return token

    deadline = Deadline.after(25, SystemClock())
    return DropboxFileStore(Client(session, tokens, deadline, random.random))


def pages(store: FileStore, cursor: Cursor | None, location: str = "") -> Iterator[ChangePage]:
    """All pages from a cursor on. Only `has_more` ends them."""
    while True:
        page = store.changes(cursor, location)
        yield page
        if not page.has_more:
            return
        cursor = page.cursor


def caught_up(store: FileStore) -> Cursor:
    *_, last = pages(store, None)
    return last.cursor


def applied(changes: Iterator[Change], state: dict[str, Entry]) -> dict[str, Entry]:
    """The state after the changes, by the rules of files/list_folder/continue."""
    for change in changes:
        if not isinstance(change, FolderEntry):
            below = change.path_lower + "/"
            state = {path: entry for path, entry in state.items() if not path.startswith(below)}
        state.pop(change.path_lower, None)
        if not isinstance(change, Removed):
            state[change.path_lower] = change
    return state


def outcomes(calls: list[Callable[[], T]]) -> list[T | type[Exception]]:
    """What calls that run at once return or raise."""

    def outcome(call: Callable[[], T]) -> T | type[Exception]:
        try:
            return call()
        except Exception as error:  # noqa: BLE001  # the kind of error is what is asked for
            return type(error)

    with ThreadPoolExecutor(len(calls)) as pool:
        return list(pool.map(outcome, calls))


# Creating.


def test_a_new_file_is_there_with_the_metadata_that_create_returned(folder: Folder) -> None:
    entry = folder.store.create(folder.ref("Plan.md"), b"# Plan\n")

    assert folder.store.look(folder.at("Plan.md")) == entry
    assert folder.store.read(folder.ref("Plan.md"), LARGE) == StoredFile(entry, b"# Plan\n")
    assert (entry.path_lower, entry.path) == (folder.at("plan.md"), "Plan.md")
    assert (entry.size, entry.content_hash) == (7, content_hash(b"# Plan\n"))
    assert (entry.modified.tzinfo, entry.modified.microsecond) == (UTC, 0)


def test_create_makes_the_folders_that_are_missing(folder: Folder) -> None:
    folder.store.create(folder.ref("beds/deep/plan.md"), b"x")

    assert folder.store.look(folder.at("beds/deep")) == FolderEntry(
        folder.at("beds/deep"), folder.at("beds/deep")
    )


@pytest.mark.parametrize("path", ["plan.md", "PLAN.md"])
@pytest.mark.parametrize("data", [b"text", b"other text"])
def test_create_refuses_a_name_that_is_taken_even_by_the_same_bytes(
    folder: Folder, path: str, data: bytes
) -> None:
    before = folder.put("plan.md", b"text")

    with pytest.raises(FileExists):
        folder.store.create(folder.ref(path), data)
    assert folder.file("plan.md") == before


def test_of_creators_at_once_exactly_one_wins_and_no_second_file_appears(folder: Folder) -> None:
    ref = folder.ref("log.md")
    found = outcomes(
        [lambda text=text: folder.store.create(ref, text).size for text in (b"1", b"22", b"333")]  # type: ignore[misc]
    )

    assert sorted(map(str, found))[1:] == [str(FileExists), str(FileExists)]
    assert len(folder.holds("log.md")) in found
    assert _files(folder.store.entries(folder.at("")[:-1])) == {folder.at("log.md")}


def test_create_where_a_folder_is_says_so(folder: Folder) -> None:
    folder.outside.make_folder(folder.at("plan.md"))

    with pytest.raises(FolderInTheWay):
        folder.store.create(folder.ref("plan.md"), b"x")


@pytest.mark.parametrize(
    ("blocking", "path", "named"),
    [("beds", "beds/plan.md", "beds"), ("a/b", "a/b/c/d.md", "a/b")],
)
def test_create_below_a_file_names_that_file(
    folder: Folder, blocking: str, path: str, named: str
) -> None:
    folder.put(blocking)
    ref = folder.ref(path)

    with pytest.raises(FileInTheWay) as caught:
        folder.store.create(ref, b"x")
    assert str(caught.value) == str(FileInTheWay(ref, named))


def test_create_in_a_workspace_that_is_a_file_names_the_workspace(folder: Folder) -> None:
    folder.outside.write(f"/{folder.workspace}", b"x")
    ref = folder.ref("plan.md")

    with pytest.raises(FileInTheWay) as caught:
        folder.store.create(ref, b"x")
    assert str(caught.value) == str(FileInTheWay(ref, folder.workspace))


@pytest.mark.parametrize("path", ["desktop.ini/plan.md", "Thumbs.db/plan.md"])
def test_names_that_dropbox_keeps_for_itself_are_not_taken(folder: Folder, path: str) -> None:
    with pytest.raises(NameNotTaken):
        folder.store.create(folder.ref(path), b"x")


@pytest.mark.parametrize(
    "path",
    [
        "50% plan.md",
        "note #1.md",
        "what?.md",
        "a%3Db.md",
        "it's “fine”.md",
        "[Java] list.md",
        "~$plan.md",
        "トマト.md",
        "x (Ann's conflicted copy 2026-11-30).md",
        ".trash/old.md",
        "🍅.md",
        "İstanbul Straße.md",
    ],
)
def test_names_are_literal(folder: Folder, path: str) -> None:
    entry = folder.store.create(folder.ref(path), b"x")

    assert entry.path == path
    assert folder.holds(path) == b"x"


# Replacing.


def test_replace_gives_a_new_rev_and_exactly_the_new_bytes(folder: Folder) -> None:
    before = folder.put("plan.md", b"old")

    entry = folder.store.replace(folder.ref("plan.md"), b"new", base=before.rev)

    assert entry.rev != before.rev
    assert folder.store.read(folder.ref("plan.md"), LARGE) == StoredFile(entry, b"new")


@pytest.mark.parametrize("data", [b"mine", b"theirs"])
def test_replace_at_an_old_rev_names_both_revs_and_writes_nothing(
    folder: Folder, data: bytes
) -> None:
    old = folder.put("plan.md", b"text")
    current = folder.put("plan.md", b"theirs")
    ref = folder.ref("plan.md")

    with pytest.raises(FileChanged) as caught:
        folder.store.replace(ref, data, base=old.rev)
    assert str(caught.value) == str(FileChanged(ref, current=current.rev, expected=old.rev))
    assert folder.file("plan.md") == current


def test_replace_leaves_a_deleted_file_deleted(folder: Folder) -> None:
    before = folder.put("plan.md")
    folder.outside.remove(folder.at("plan.md"))

    with pytest.raises(NothingToReplace):
        folder.store.replace(folder.ref("plan.md"), b"new", base=before.rev)
    assert folder.store.look(folder.at("plan.md")) is None


def test_replace_where_nothing_ever_was_makes_nothing(folder: Folder) -> None:
    with pytest.raises(NothingToReplace):
        folder.store.replace(folder.ref("plan.md"), b"new", base=OLD)
    assert folder.store.look(folder.at("plan.md")) is None


def test_replace_says_that_a_folder_has_taken_the_name(folder: Folder) -> None:
    before = folder.put("plan.md")
    folder.outside.remove(folder.at("plan.md"))
    folder.outside.make_folder(folder.at("plan.md"))

    with pytest.raises(FolderInTheWay):
        folder.store.replace(folder.ref("plan.md"), b"new", base=before.rev)


def test_replace_says_that_a_file_has_taken_the_place_of_the_folder(folder: Folder) -> None:
    before = folder.put("beds/plan.md")
    folder.outside.remove(folder.at("beds"))
    folder.put("beds")
    ref = folder.ref("beds/plan.md")

    with pytest.raises(FileInTheWay) as caught:
        folder.store.replace(ref, b"new", base=before.rev)
    assert str(caught.value) == str(FileInTheWay(ref, "beds"))


def test_of_replacers_of_one_rev_exactly_one_wins(folder: Folder) -> None:
    before = folder.put("plan.md", b"")
    ref = folder.ref("plan.md")

    found = outcomes(
        [
            lambda text=text: folder.store.replace(ref, text, base=before.rev).size  # type: ignore[misc]
            for text in (b"1", b"22", b"333")
        ]
    )

    assert sorted(map(str, found))[1:] == [str(FileChanged), str(FileChanged)]
    assert len(folder.holds("plan.md")) in found


def test_replace_under_another_spelling_changes_the_same_file(folder: Folder) -> None:
    before = folder.put("Beds/Plan.md", b"old")

    entry = folder.store.replace(folder.ref("BEDS/plan.MD"), b"new", base=before.rev)

    assert entry.path_lower == before.path_lower
    assert folder.holds("Beds/Plan.md") == b"new"


def test_the_rev_from_before_a_rename_replaces_nothing(folder: Folder) -> None:
    before = folder.put("plan.md")
    folder.outside.move(folder.at("plan.md"), folder.at("plans.md"))

    with pytest.raises(NothingToReplace):
        folder.store.replace(folder.ref("plan.md"), b"new", base=before.rev)
    with pytest.raises(FileChanged):
        folder.store.replace(folder.ref("plans.md"), b"new", base=before.rev)


# Reading.


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"a\r\nb\rc\n\n",
        b"\xef\xbb\xbf# With a mark\n",
        "Tomatoes \U0001f345 and e\u0301, not \u00e9\u2028\u0085".encode(),
        b"\x00\x1a\x7f",
        b"caf\xe9 \xff\xfe",
        bytes(range(256)) * 400,
    ],
)
def test_bytes_come_back_as_they_were_given(folder: Folder, data: bytes) -> None:
    created = folder.store.create(folder.ref("a.md"), data)
    assert folder.holds("a.md") == data

    folder.store.replace(folder.ref("a.md"), data + b"\n", base=created.rev)
    assert folder.holds("a.md") == data + b"\n"


def test_a_file_that_is_missing_or_a_folder_cannot_be_read(folder: Folder) -> None:
    folder.outside.make_folder(folder.at("beds.md"))

    for path in ("plan.md", "nowhere/plan.md", "beds.md"):
        with pytest.raises(FileMissing):
            folder.store.read(folder.ref(path), LARGE)


def test_a_file_is_read_up_to_the_limit_and_not_beyond(folder: Folder) -> None:
    folder.put("plan.md", b"12345")

    assert folder.store.read(folder.ref("plan.md"), 5).data == b"12345"
    with pytest.raises(FileTooLarge) as caught:
        folder.store.read(folder.ref("plan.md"), 4)
    assert caught.value.size == 5


def test_the_files_of_a_folder_come_together_by_what_they_hold(folder: Folder) -> None:
    plan, copy = folder.put("beds/plan.md", b"a plan"), folder.put("beds/deep/copy.md", b"a plan")
    tall = folder.put("Beds/Tall \u00e4 \U0001f345.md", "tomatoes \U0001f345".encode())
    other = folder.put("beds2/other.md", b"elsewhere")
    unwanted = folder.put("beds/unwanted.md", b"not asked for")

    found = folder.store.contents(
        folder.at("beds"), {plan.content_hash, tall.content_hash, other.content_hash}, LARGE
    )

    assert plan.content_hash == copy.content_hash != unwanted.content_hash
    assert found == {
        plan.content_hash: b"a plan",
        tall.content_hash: "tomatoes \U0001f345".encode(),
    }


def test_a_folder_that_is_missing_or_too_large_gives_nothing(folder: Folder) -> None:
    plan = folder.put("beds/plan.md", os.urandom(5_000))  # no zip makes it smaller

    assert folder.store.contents(folder.at("nowhere"), {plan.content_hash}, LARGE) == {}
    assert folder.store.contents(folder.at("beds/plan.md"), {plan.content_hash}, LARGE) == {}
    assert folder.store.contents(folder.at("beds"), {plan.content_hash}, 4_000) == {}


def test_a_file_that_dropbox_gives_no_bytes_of_is_listed_as_such(folder: Folder) -> None:
    folder.put("cloud.md")
    folder.outside.keep_from_download(folder.at("cloud.md"))

    with pytest.raises(NotDownloadable):
        folder.store.read(folder.ref("cloud.md"), LARGE)
    (entry,) = (e for e in folder.store.entries(folder.at("")[:-1]) if isinstance(e, FileEntry))
    assert not entry.is_downloadable


@pytest.mark.parametrize(
    ("stored", "asked"),
    [("Tomatoes.md", "TOMATOES.MD"), ("ΣΣΣ.md", "\u03c3\u03c3\u03c3.md"), ("Ärger.md", "äRGER.md")],
)
def test_names_ignore_case(folder: Folder, stored: str, asked: str) -> None:
    folder.put(stored, b"x")

    assert folder.holds(asked) == b"x"
    assert folder.file(asked).path == stored


def test_names_are_kept_composed_and_not_found_decomposed(folder: Folder) -> None:
    ref = folder.ref("cafe\u0301.md")
    folder.store.create(ref, b"x")

    assert folder.file("caf\u00e9.md").path == "caf\u00e9.md"
    with pytest.raises(FileMissing):
        folder.store.read(ref.verbatim, LARGE)


def test_a_renamed_file_keeps_its_bytes_under_a_new_rev(folder: Folder) -> None:
    before = folder.put("beds/plan.md", b"x")
    folder.outside.move(folder.at("beds"), folder.at("plots"))

    after = folder.file("plots/plan.md")
    assert (after.rev != before.rev, after.content_hash) == (True, before.content_hash)
    assert folder.store.look(folder.at("beds/plan.md")) is None


# Finding out about an upload.


def test_a_version_is_committed_whatever_stands_on_top_of_it(folder: Folder) -> None:
    base = folder.put("plan.md", b"1")
    ours = folder.store.replace(folder.ref("plan.md"), b"2", base=base.rev)
    folder.put("plan.md", b"3")
    ref = folder.ref("plan.md")

    assert folder.store.committed(ref, content_hash(b"2"), base=base.rev) == ours
    assert folder.store.committed(ref, content_hash(b"4"), base=base.rev) is None
    assert folder.store.committed(ref, content_hash(b"3"), base=base.rev) is None
    assert folder.store.committed(ref, content_hash(b"2"), base=OLD) is None


def test_a_version_is_found_behind_many_later_ones(folder: Folder) -> None:
    base = folder.put("plan.md", b"base")
    ours = folder.put("plan.md", b"ours")
    for number in range(45):
        folder.put("plan.md", b"%d" % number)

    ref = folder.ref("plan.md")
    assert folder.store.committed(ref, content_hash(b"ours"), base=base.rev) == ours


def test_a_creation_is_found_behind_later_versions(folder: Folder) -> None:
    ours = folder.store.create(folder.ref("plan.md"), b"ours")
    folder.put("plan.md", b"later")
    ref = folder.ref("plan.md")

    assert folder.store.committed(ref, content_hash(b"ours"), base=None) == ours
    assert folder.store.committed(ref, content_hash(b"later"), base=None) is None


def test_a_creation_that_is_gone_is_neither_found_nor_denied(folder: Folder) -> None:
    folder.put("plan.md", b"ours")
    folder.outside.move(folder.at("plan.md"), folder.at("moved.md"))
    ref = folder.ref("plan.md")

    with pytest.raises(OutcomeUnknown):
        folder.store.committed(ref, content_hash(b"ours"), base=None)
    folder.put("plan.md", b"theirs")
    with pytest.raises(OutcomeUnknown):
        folder.store.committed(ref, content_hash(b"ours"), base=None)
    assert folder.store.committed(ref, content_hash(b"other"), base=None) is None


def test_nothing_was_committed_where_nothing_is(folder: Folder) -> None:
    assert folder.store.committed(folder.ref("plan.md"), content_hash(b"x"), base=None) is None


def test_what_was_committed_where_a_folder_is_now_cannot_be_told(folder: Folder) -> None:
    base = folder.put("plan.md", b"base")
    folder.put("plan.md", b"ours")
    folder.outside.move(folder.at("plan.md"), folder.at("moved.md"))
    folder.outside.make_folder(folder.at("plan.md"))

    for rev in (None, base.rev):
        with pytest.raises(OutcomeUnknown):
            folder.store.committed(folder.ref("plan.md"), content_hash(b"ours"), base=rev)


# Listing.


def test_entries_are_everything_below_a_folder_at_any_depth(folder: Folder) -> None:
    beds = {folder.at(f"beds/{number}/plan.md") for number in range(7)}
    for location in (*beds, folder.at("beds.md"), folder.at("beds2/plan.md")):
        folder.outside.write(location, b"x")

    listed = folder.store.entries(folder.at("BEDS"))

    assert _files(listed) == beds
    assert {folder.at(f"beds/{number}") for number in range(7)} <= {e.path_lower for e in listed}


def test_a_folder_that_is_missing_or_a_file_has_no_entries(folder: Folder) -> None:
    folder.put("plan.md")

    assert folder.store.entries(folder.at("nowhere")) == ()
    assert folder.store.entries(folder.at("plan.md")) == ()


def test_the_root_has_entries_too(folder: Folder) -> None:
    entry = folder.put("beds/plan.md")

    assert entry in folder.store.entries("")


# Changes.


def test_the_first_changes_are_the_whole_folder(folder: Folder) -> None:
    entries = [folder.put(f"beds/{number}.md") for number in range(12)]

    changes = [change for page in pages(folder.store, None) for change in page.changes]

    assert set(entries) <= set(changes)


def test_the_first_changes_of_a_folder_are_what_is_below_it(folder: Folder) -> None:
    entries = [folder.put(f"beds/{number}.md") for number in range(12)]
    folder.put("beds2/neighbour.md")
    location = folder.at("beds").lower()

    changes = [change for page in pages(folder.store, None, location) for change in page.changes]

    shown = applied(iter(changes), {})
    assert {path: shown[path] for path in shown if path != location} == {
        entry.path_lower: entry for entry in entries
    }


def test_a_folder_that_is_not_there_has_no_changes(folder: Folder) -> None:
    page = folder.store.changes(None, folder.at("nowhere"))

    assert all(isinstance(change, Removed) for change in page.changes)
    assert not page.has_more


def test_nothing_new_is_one_last_page_without_changes(folder: Folder) -> None:
    folder.put("plan.md")

    page = folder.store.changes(caught_up(folder.store))

    assert (page.changes, page.has_more) == ((), False)
    assert folder.store.changes(page.cursor).changes == ()


def test_a_cursor_shows_each_change_and_may_be_used_again(folder: Folder) -> None:
    folder.put("plan.md", b"1")
    cursor = caught_up(folder.store)
    entry = folder.put("plan.md", b"2")

    for _ in range(2):
        shown = [change for page in pages(folder.store, cursor) for change in page.changes]
        assert shown == [entry]


def test_our_own_writes_are_changes_like_others(folder: Folder) -> None:
    cursor = caught_up(folder.store)
    entry = folder.store.create(folder.ref("plan.md"), b"x")

    changes = [change for page in pages(folder.store, cursor) for change in page.changes]

    assert entry in changes


def test_a_folder_that_goes_takes_along_all_that_is_below_it_and_no_neighbour(
    folder: Folder,
) -> None:
    for path in ("beds/a.md", "beds/deep/b.md", "beds2/c.md", "beds.md"):
        folder.put(path)
    before = _state(folder)
    cursor = caught_up(folder.store)
    folder.outside.remove(folder.at("beds"))

    assert _files(_after(folder, cursor, before)) == {folder.at("beds2/c.md"), folder.at("beds.md")}


def test_a_file_takes_the_place_of_a_folder_and_of_all_below_it(folder: Folder) -> None:
    folder.put("plan.md/inner.md")
    before, cursor = _state(folder), caught_up(folder.store)
    folder.outside.remove(folder.at("plan.md"))
    folder.put("plan.md")

    assert _files(_after(folder, cursor, before)) == {folder.at("plan.md")}


def test_a_file_that_was_deleted_and_made_again_is_there(folder: Folder) -> None:
    folder.put("plan.md", b"1")
    before, cursor = _state(folder), caught_up(folder.store)
    folder.outside.remove(folder.at("plan.md"))
    entry = folder.put("plan.md", b"2")

    assert entry in _after(folder, cursor, before)


def test_changes_in_order_give_the_present_state_whatever_happened(folder: Folder) -> None:
    chance = Random(7)
    names = ["a.md", "b.md", "beds/a.md", "beds/deep/b.md", "beds2/c.md"]
    state, cursor = dict[str, Entry](), caught_up(folder.store)
    for number in range(30):
        name = chance.choice(names)
        if chance.random() < 0.6:
            folder.put(name, b"%d" % number)
        else:
            gone = chance.choice([name, name.partition("/")[0]])
            if folder.store.look(folder.at(gone)):
                folder.outside.remove(folder.at(gone))
        if chance.random() < 0.4:
            for page in pages(folder.store, cursor):
                state, cursor = applied(iter(page.changes), state), page.cursor
    for page in pages(folder.store, cursor):
        state = applied(iter(page.changes), state)

    here = f"/{folder.workspace}/"
    assert {e for e in state.values() if e.path_lower.startswith(here)} == {
        e for e in folder.store.entries(here[:-1]) if e.path_lower.startswith(here)
    }


def test_a_forgotten_cursor_is_said_to_be_one(folder: Folder) -> None:
    folder.put("plan.md")
    cursor = caught_up(folder.store)
    folder.outside.reset_cursors()

    with pytest.raises(CursorReset):
        folder.store.changes(cursor)
    assert folder.store.changes(caught_up(folder.store)).changes == ()


def _files(entries: tuple[Entry, ...]) -> set[str]:
    return {entry.path_lower for entry in entries if isinstance(entry, FileEntry)}


def _state(folder: Folder) -> dict[str, Entry]:
    changes = (change for page in pages(folder.store, None) for change in page.changes)
    return applied(changes, {})


def _after(folder: Folder, cursor: Cursor, before: dict[str, Entry]) -> tuple[Entry, ...]:
    changes = (change for page in pages(folder.store, cursor) for change in page.changes)
    here = f"/{folder.workspace}/"
    after = applied(changes, before)
    return tuple(e for e in after.values() if e.path_lower.startswith(here))
