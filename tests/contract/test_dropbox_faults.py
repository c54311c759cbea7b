"""DropboxFileStore against everything that goes wrong between us and Dropbox."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
import requests

from local.dropbox.accounts import Account
from local.dropbox.entries import File, metadata
from local.dropbox.faults import Effect, Fault, route_error, server_error, too_many_requests
from local.dropbox.knobs import AppFolder, Connection, Content, SameBytes
from local.dropbox.server import DropboxEmulator
from local.dropbox.wire import Response, encoded
from memorybox.adapters.dropbox.client import Client
from memorybox.adapters.dropbox.files import DropboxFileStore
from memorybox.adapters.dropbox.session import new_session
from memorybox.clock import Clock, SystemClock
from memorybox.deadline import Deadline
from memorybox.errors import SignInEnded
from memorybox.files.errors import (
    CursorReset,
    DropboxAsksToWait,
    DropboxFull,
    DropboxSilent,
    FileChanged,
    FileExists,
    NameNotTaken,
    NotAllowedToWrite,
    NotDownloadable,
    NothingToReplace,
    OutcomeUnknown,
)
from memorybox.files.hashing import content_hash
from memorybox.files.model import Cursor, FileEntry, FileRef, Rev
from tests.fakes.clock import FakeClock

REF = FileRef.parse("garden", "plan.md")
AT = REF.location
UPLOAD, DOWNLOAD, REVISIONS = "files/upload", "files/download", "files/list_revisions"
LIST, CONTINUE = "files/list_folder", "files/list_folder/continue"

UNCLEAR = {
    "lost request": Fault(UPLOAD, Effect.LOST_REQUEST),
    "lost answer": Fault(UPLOAD, Effect.LOST_RESPONSE),
    "half an answer": Fault(UPLOAD, Effect.HALF_ANSWER),
    "503": Fault(UPLOAD, Effect.ANSWER, answer=server_error(503)),
    "503 after the commit": Fault(UPLOAD, Effect.ANSWER_AFTER_COMMIT, answer=server_error(503)),
    "HTML after the commit": Fault(
        UPLOAD, Effect.ANSWER_AFTER_COMMIT, answer=server_error(500, html=True)
    ),
    "an answer that is no JSON": Fault(
        UPLOAD, Effect.ANSWER_AFTER_COMMIT, answer=Response(200, b"{", "application/json")
    ),
    "an answer without the metadata": Fault(
        UPLOAD, Effect.ANSWER_AFTER_COMMIT, answer=Response(200, b"{}", "application/json")
    ),
    "another content type": Fault(
        UPLOAD, Effect.ANSWER_AFTER_COMMIT, answer=Response(200, b"ok", "text/plain")
    ),
    "a proxy's page": Fault(
        UPLOAD, Effect.ANSWER_AFTER_COMMIT, answer=Response(404, b"<html>", "text/html")
    ),
}
unclear = pytest.mark.parametrize("fault", UNCLEAR.values(), ids=UNCLEAR)


@dataclass(slots=True)
class Tokens:
    """Gives its tokens one after the other, whenever one is refused."""

    good: list[str]
    refused: list[str] = field(default_factory=list)

    def __call__(self, *, refused: str | None = None) -> str:
        if refused is not None:
            self.refused.append(refused)
            self.good.remove(refused)
        if not self.good:
            raise SignInEnded
        return self.good[0]


@dataclass(frozen=True, slots=True)
class Box:
    """An account on the emulator, and the store of it under test."""

    dropbox: DropboxEmulator
    account: Account
    session: requests.Session
    clock: FakeClock = field(default_factory=FakeClock)

    @property
    def store(self) -> DropboxFileStore:
        return self.store_with(Tokens([self.token()]))

    def store_with(
        self, tokens: Tokens, *, clock: Clock | None = None, seconds: float = 25
    ) -> DropboxFileStore:
        deadline = Deadline.after(seconds, clock or self.clock)
        return DropboxFileStore(Client(self.session, tokens, deadline, lambda: 0.5))

    def token(self) -> str:
        return self.dropbox.token(self.account)

    def suffers(self, *faults: Fault) -> None:
        self.dropbox.faults.add(*faults)

    def calls(self, route: str = "*") -> int:
        return self.dropbox.log.count(route, account=self.account.account_id)

    def put(self, data: bytes, location: str = AT) -> Rev:
        return Rev(self.account.put(location, data).rev)

    def file(self, location: str = AT) -> File:
        file = self.account.get(location)
        assert isinstance(file, File)
        return file

    def versions(self) -> int:
        """How many versions the file has had."""
        return len(self.account.tree.revisions.get(AT, []))


@pytest.fixture
def box(dropbox: DropboxEmulator) -> Iterator[Box]:
    with new_session(dropbox.base_url) as session:
        yield Box(dropbox, dropbox.add_account(), session)


# What a call costs.


def test_each_operation_is_one_call(box: Box) -> None:
    store = box.store
    entry = store.create(REF, b"1")
    entry = store.replace(REF, b"2", base=entry.rev)
    store.read(REF, 100)
    store.look(AT)
    store.entries("")
    store.changes(store.changes(None).cursor)

    routes = [call.route for call in box.dropbox.log.calls(account=box.account.account_id)]
    metadata = "files/get_metadata"
    assert routes == [UPLOAD, UPLOAD, DOWNLOAD, metadata, LIST, LIST, CONTINUE]


def test_many_threads_may_read_at_once(box: Box) -> None:
    refs = [FileRef.parse("garden", f"{number}.md") for number in range(40)]
    for ref in refs:
        box.put(ref.path.encode(), ref.location)
    store = box.store

    with ThreadPoolExecutor(16) as pool:
        stored = list(pool.map(lambda ref: store.read(ref, 100).data, refs))

    assert stored == [ref.path.encode() for ref in refs]


# An upload without an answer.


@pytest.mark.promise("P-204")
@unclear
def test_a_file_is_made_once_whatever_became_of_the_answer(box: Box, fault: Fault) -> None:
    box.suffers(fault)

    entry = box.store.create(REF, b"text")

    assert (entry.rev, box.account.read(AT), box.versions()) == (box.file().rev, b"text", 1)


@pytest.mark.promise("P-204")
@unclear
def test_a_file_is_replaced_once_whatever_became_of_the_answer(box: Box, fault: Fault) -> None:
    base = box.put(b"old")
    box.suffers(fault)

    entry = box.store.replace(REF, b"new", base=base)

    assert (entry.rev, box.account.read(AT), box.versions()) == (box.file().rev, b"new", 2)


@unclear
def test_attempts_that_fail_one_after_the_other_still_make_one_version(
    box: Box, fault: Fault
) -> None:
    base = box.put(b"old")
    box.suffers(fault, fault, fault, Fault(REVISIONS, Effect.ANSWER, answer=server_error()))

    entry = box.store.replace(REF, b"new", base=base)

    assert (entry.rev, box.account.read(AT), box.versions()) == (box.file().rev, b"new", 2)


def test_our_version_is_found_below_that_of_another_app(box: Box) -> None:
    base = box.put(b"old")
    box.suffers(Fault(UPLOAD, Effect.LOST_RESPONSE), Fault(REVISIONS, Effect.DELAY, seconds=0.3))

    with ThreadPoolExecutor(1) as pool:
        replacing = pool.submit(box.store.replace, REF, b"ours", base=base)
        while box.versions() < 2:
            pass
        box.put(b"theirs")
        entry = replacing.result()

    assert entry.rev == box.account.tree.revisions[AT][1].rev
    assert box.account.read(AT) == b"theirs"


def test_another_apps_version_in_the_place_of_ours_is_a_change(box: Box) -> None:
    base = box.put(b"old")
    box.suffers(Fault(UPLOAD, Effect.LOST_REQUEST), Fault(REVISIONS, Effect.DELAY, seconds=0.3))

    with ThreadPoolExecutor(1) as pool:
        replacing = pool.submit(box.store.replace, REF, b"ours", base=base)
        while not box.calls(UPLOAD):
            pass
        theirs = box.put(b"theirs")
        with pytest.raises(FileChanged) as caught:
            replacing.result()

    assert str(caught.value) == str(FileChanged(REF, current=theirs, expected=base))
    assert box.versions() == 2


def test_what_another_app_made_in_the_place_of_ours_is_named(box: Box) -> None:
    box.suffers(Fault(UPLOAD, Effect.LOST_REQUEST), Fault(REVISIONS, Effect.DELAY, seconds=0.3))

    with ThreadPoolExecutor(1) as pool:
        creating = pool.submit(box.store.create, REF, b"ours")
        while not box.calls(UPLOAD):
            pass
        box.put(b"theirs")
        with pytest.raises(FileExists):
            creating.result()


@pytest.mark.promise("P-018", "T-37")
@pytest.mark.parametrize("is_new", [True, False])
def test_nobody_can_say_what_became_of_it_if_a_folder_took_its_place(
    box: Box, is_new: bool
) -> None:
    base = None if is_new else box.put(b"old")
    box.suffers(Fault(UPLOAD, Effect.LOST_RESPONSE), Fault(REVISIONS, Effect.DELAY, seconds=0.3))

    with ThreadPoolExecutor(1) as pool:
        if base is None:
            writing = pool.submit(box.store.create, REF, b"ours")
        else:
            writing = pool.submit(box.store.replace, REF, b"ours", base=base)
        while b"ours" not in box.account.files().values():
            pass
        box.account.move(AT, "/garden/moved.md")
        box.account.make_folder(AT)
        with pytest.raises(OutcomeUnknown):
            writing.result()

    assert box.account.files() == {"/garden/moved.md": b"ours"}


def test_a_file_deleted_after_a_lost_request_stays_deleted(box: Box) -> None:
    base = box.put(b"old")
    box.suffers(Fault(UPLOAD, Effect.LOST_REQUEST), Fault(REVISIONS, Effect.DELAY, seconds=0.3))

    with ThreadPoolExecutor(1) as pool:
        replacing = pool.submit(box.store.replace, REF, b"ours", base=base)
        while not box.calls(UPLOAD):
            pass
        box.account.delete(AT)
        with pytest.raises(NothingToReplace):
            replacing.result()

    assert box.account.get(AT) is None


def test_a_deleted_note_with_the_same_text_is_not_taken_for_ours(box: Box) -> None:
    box.put(b"same")
    box.account.delete(AT)
    box.dropbox.clock.advance(60)
    box.suffers(Fault(UPLOAD, Effect.LOST_REQUEST))

    entry = box.store.create(REF, b"same")

    assert (entry.rev, box.versions()) == (box.file().rev, 2)


@pytest.mark.parametrize("then", ["nothing", "another note"])
def test_a_new_note_that_is_moved_away_at_once_is_not_written_a_second_time(
    box: Box, then: str
) -> None:
    box.suffers(Fault(UPLOAD, Effect.LOST_RESPONSE), Fault(REVISIONS, Effect.DELAY, seconds=0.3))

    with ThreadPoolExecutor(1) as pool:
        creating = pool.submit(box.store.create, REF, b"ours")
        while not box.versions():
            pass
        box.account.move(AT, "/garden/moved.md")
        if then == "another note":
            box.put(b"theirs")
        with pytest.raises(OutcomeUnknown):
            creating.result()

    assert [*box.account.files().values()].count(b"ours") == 1


def test_a_new_note_that_is_moved_away_is_not_written_again_although_dropbox_shows_it_late(
    box: Box,
) -> None:
    class Waiting(FakeClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            if box.account.get(AT):
                box.account.move(AT, "/garden/moved.md")
            if self.monotonic() > began + 1:
                box.account.set(revisions_lag=0.0)

    clock = Waiting()
    began = clock.monotonic()
    box.account.set(revisions_lag=3600.0)
    box.suffers(Fault(UPLOAD, Effect.LOST_RESPONSE))

    with pytest.raises(OutcomeUnknown):
        box.store_with(Tokens([box.token()]), clock=clock).create(REF, b"ours")

    assert [*box.account.files()] == ["/garden/moved.md"]


def test_of_two_notes_of_the_same_text_where_one_is_gone_neither_is_taken_for_ours(
    box: Box,
) -> None:
    box.put(b"same")
    box.account.move(AT, "/garden/moved.md")
    box.put(b"same")

    with pytest.raises(OutcomeUnknown):
        box.store.committed(REF, content_hash(b"same"), base=None)


def test_an_older_note_with_the_same_text_is_not_taken_for_ours(box: Box) -> None:
    box.put(b"same")
    box.dropbox.clock.advance(60)
    box.suffers(Fault(UPLOAD, Effect.LOST_REQUEST))

    with pytest.raises(FileExists):
        box.store.create(REF, b"same")
    assert box.versions() == 1


@pytest.mark.parametrize("age", [0, 60])
def test_our_version_is_found_although_the_revisions_show_it_late(box: Box, age: float) -> None:
    base = box.put(b"old")
    box.dropbox.clock.advance(age)  # a young base is shown late itself
    box.account.set(revisions_lag=1.5)
    box.suffers(Fault(UPLOAD, Effect.LOST_RESPONSE))

    store = box.store_with(Tokens([box.token()]), clock=SystemClock())
    entry = store.replace(REF, b"new", base=base)

    assert (entry.rev, box.versions()) == (box.file().rev, 2)


def test_a_first_attempt_that_lands_late_is_not_written_twice(box: Box) -> None:
    base = box.put(b"old")
    box.suffers(Fault(UPLOAD, Effect.DELAY, seconds=1.2))

    store = box.store_with(Tokens([box.token()]), clock=SystemClock(), seconds=2)
    entry = store.replace(REF, b"new", base=base)

    assert (entry.rev, box.account.read(AT)) == (box.account.tree.revisions[AT][1].rev, b"new")
    while None in {call.status for call in box.dropbox.log.calls(UPLOAD)[-2:]}:
        pass
    assert box.versions() == 2


@pytest.mark.promise("T-37")
@pytest.mark.parametrize("effect", [Effect.LOST_REQUEST, Effect.LOST_RESPONSE])
def test_nobody_can_say_what_became_of_it_while_the_revisions_cannot_be_read(
    box: Box, effect: Effect
) -> None:
    base = box.put(b"old")
    box.suffers(
        Fault(UPLOAD, effect),
        Fault(REVISIONS, Effect.ANSWER, times=None, answer=server_error()),
    )

    with pytest.raises(OutcomeUnknown):
        box.store.replace(REF, b"new", base=base)


@pytest.mark.parametrize(
    "answer",
    [too_many_requests(300), route_error("missing_scope", status=401), route_error("path/locked")],
)
def test_no_other_error_hides_that_an_upload_may_have_been_committed(
    box: Box, answer: Response
) -> None:
    box.suffers(Fault(UPLOAD, Effect.LOST_RESPONSE), Fault(REVISIONS, Effect.ANSWER, answer=answer))

    with pytest.raises(OutcomeUnknown):
        box.store.create(REF, b"new")


def test_an_upload_that_hangs_is_cleared_up_before_the_deadline(box: Box) -> None:
    base = box.put(b"old")
    box.suffers(Fault(UPLOAD, Effect.HANG))
    clock = SystemClock()
    began = clock.monotonic()

    entry = box.store_with(Tokens([box.token()]), clock=clock, seconds=2).replace(
        REF, b"new", base=base
    )

    assert (entry.rev, box.versions()) == (box.file().rev, 2)
    assert clock.monotonic() - began < 2


@pytest.mark.promise("P-206")
def test_uploads_that_hang_all_the_time_end_by_the_deadline(box: Box) -> None:
    box.suffers(Fault(UPLOAD, Effect.HANG, times=None))
    clock = SystemClock()
    began = clock.monotonic()

    with pytest.raises(OutcomeUnknown):
        box.store_with(Tokens([box.token()]), clock=clock, seconds=1.5).create(REF, b"new")
    assert clock.monotonic() - began < 1.6


# An upload with an answer.


@pytest.mark.parametrize("same", list(SameBytes))
def test_the_bytes_that_are_there_may_be_written_again(box: Box, same: SameBytes) -> None:
    base = box.put(b"text")
    box.account.set(same_bytes_update=same)

    entry = box.store.replace(REF, b"text", base=base)

    assert (entry.rev, box.account.read(AT)) == (box.file().rev, b"text")


def test_an_upload_that_landed_under_another_name_is_not_called_done(box: Box) -> None:
    renamed = metadata(box.account.put("/garden/plan (1).md", b"text"))
    answer = Response(200, encoded(renamed), "application/json")
    box.suffers(Fault(UPLOAD, Effect.ANSWER, answer=answer))

    with pytest.raises(OutcomeUnknown):
        box.store.create(REF, b"text")


@pytest.mark.parametrize("tag", ["file", "folder", "file_ancestor"])
def test_a_deleted_file_is_said_to_be_missing_whatever_the_conflict_is_called(
    box: Box, tag: str
) -> None:
    base = box.put(b"text")
    box.account.delete(AT)
    box.account.set(deleted_conflict=tag)

    with pytest.raises(NothingToReplace):
        box.store.replace(REF, b"new", base=base)


def test_a_full_dropbox_says_so(box: Box) -> None:
    box.account.set(space=3)

    with pytest.raises(DropboxFull):
        box.store.create(REF, b"four")
    assert box.account.get(AT) is None


def test_a_name_that_dropbox_does_not_take_says_so(box: Box) -> None:
    box.account.set(emoji_allowed=False)

    with pytest.raises(NameNotTaken):
        box.store.create(FileRef.parse("garden", "\U0001f345.md"), b"x")


def test_a_place_where_dropbox_allows_no_change_says_so(box: Box) -> None:
    refused = route_error("path/no_write_permission")
    box.suffers(Fault(UPLOAD, Effect.ANSWER, answer=refused))

    with pytest.raises(NotAllowedToWrite):
        box.store.create(REF, b"text")


def test_bytes_damaged_on_the_way_are_sent_again(box: Box) -> None:
    box.suffers(Fault(UPLOAD, Effect.ANSWER, answer=route_error("content_hash_mismatch")))

    box.store.create(REF, b"text")

    assert (box.account.read(AT), box.calls(UPLOAD)) == (b"text", 2)


def test_writes_that_get_into_each_others_way_all_succeed(box: Box) -> None:
    box.account.set(refuse_overlapping_writes=True)
    box.suffers(Fault(UPLOAD, Effect.DELAY, seconds=0.1, times=None))
    refs = [FileRef.parse("garden", f"{number}.md") for number in range(3)]
    store = box.store_with(Tokens([box.token()]), clock=SystemClock())

    with ThreadPoolExecutor(3) as pool:
        entries = list(pool.map(lambda ref: store.create(ref, b"x"), refs))

    assert [entry.path for entry in entries] == ["0.md", "1.md", "2.md"]


@pytest.mark.parametrize("tags", ["path/operation_suppressed", "payload_too_large", "news"])
def test_a_refusal_without_a_sentence_of_its_own_wrote_nothing(box: Box, tags: str) -> None:
    box.suffers(Fault(UPLOAD, Effect.ANSWER, answer=route_error(tags)))

    with pytest.raises(DropboxSilent):
        box.store.create(REF, b"x")
    assert box.calls(UPLOAD) == 1


def test_fields_that_nobody_knows_do_no_harm(box: Box) -> None:
    box.account.set(unknown_fields=True)
    store = box.store

    entry = store.create(REF, b"1")

    assert store.read(REF, 10).entry == store.look(AT) == entry
    assert entry in store.entries("")


# Reading.

TRANSIENT = {
    "lost request": Effect.LOST_REQUEST,
    "lost answer": Effect.LOST_RESPONSE,
    "half an answer": Effect.HALF_ANSWER,
    "a kept connection closed": Effect.STALE,
    "503": Effect.ANSWER,
}


@pytest.mark.parametrize("effect", TRANSIENT.values(), ids=TRANSIENT)
def test_reading_goes_on_after_a_fault(box: Box, effect: Effect) -> None:
    box.put(b"text" * 50_000)
    box.suffers(*(Fault(route, effect) for route in (DOWNLOAD, LIST, "files/get_metadata")))
    store = box.store

    for _ in range(2):
        assert store.read(REF, 10**6).data == b"text" * 50_000
        assert isinstance(store.look(AT), FileEntry)
        assert len(store.entries("")) == 2


def test_a_connection_that_died_while_idle_is_replaced_without_a_wait(box: Box) -> None:
    box.put(b"text")
    store = box.store
    box.suffers(Fault(DOWNLOAD, Effect.LOST_REQUEST))

    assert store.read(REF, 10).data == b"text"
    assert box.clock.monotonic() == 0


@pytest.mark.parametrize("route", [DOWNLOAD, LIST, "files/get_metadata", CONTINUE])
def test_reading_gives_up_at_the_deadline(box: Box, route: str) -> None:
    store = box.store
    cursor = store.changes(None).cursor
    box.suffers(Fault(route, Effect.ANSWER, times=None, answer=server_error()))
    read: Callable[[], object] = {
        DOWNLOAD: lambda: store.read(REF, 10),
        LIST: lambda: store.entries(""),
        "files/get_metadata": lambda: store.look(AT),
        CONTINUE: lambda: store.changes(cursor),
    }[route]

    with pytest.raises(DropboxSilent):
        read()
    assert 15 < box.clock.monotonic() < 25


def test_reading_from_one_who_never_answers_ends_by_the_deadline(box: Box) -> None:
    box.suffers(Fault("files/*", Effect.HANG, times=None))
    clock = SystemClock()
    began = clock.monotonic()

    with pytest.raises(DropboxSilent):
        box.store_with(Tokens([box.token()]), clock=clock, seconds=1).look(AT)
    assert clock.monotonic() - began < 1.1


def test_no_call_is_begun_without_time_for_it(box: Box) -> None:
    store = box.store_with(Tokens([box.token()]), seconds=0.1)

    calls: list[Callable[[], object]] = [lambda: store.look(AT), lambda: store.create(REF, b"x")]
    for call in calls:
        with pytest.raises(DropboxSilent):
            call()
    assert box.calls() == 0


def test_bytes_that_do_not_match_their_hash_are_not_given_out(box: Box) -> None:
    box.put(b"text")
    box.account.set(content={AT: Content.WRONG_HASH})

    with pytest.raises(DropboxSilent):
        box.store.read(REF, 10)


def test_restricted_content_is_said_to_be_kept_by_dropbox(box: Box) -> None:
    box.put(b"text")
    box.account.set(content={AT: Content.RESTRICTED})

    with pytest.raises(NotDownloadable):
        box.store.read(REF, 10)
    assert box.calls(DOWNLOAD) == 1


def test_a_symlink_is_nothing_to_download(box: Box) -> None:
    box.put(b"text")
    box.account.set(content={AT: Content.SYMLINK})
    store = box.store

    shown = [store.look(AT), *store.entries("/garden"), *store.changes(None).changes]
    files = [entry for entry in shown if isinstance(entry, FileEntry)]
    assert [file.is_downloadable for file in files] == [False] * 3


def test_a_list_that_cannot_go_on_is_an_error_and_not_a_short_list(box: Box) -> None:
    for number in range(3):
        box.put(b"x", f"/garden/{number}.md")
    box.account.set(page_size=2)
    box.suffers(Fault(CONTINUE, Effect.ANSWER, times=None, answer=server_error()))

    with pytest.raises(DropboxSilent):
        box.store.entries("")


@pytest.mark.parametrize("answer", ["reset", "path/not_found"])
def test_a_cursor_that_dropbox_does_not_take_is_reset(box: Box, answer: str) -> None:
    cursor = box.store.changes(None).cursor
    box.suffers(Fault(CONTINUE, Effect.ANSWER, answer=route_error(answer)))

    with pytest.raises(CursorReset):
        box.store.changes(cursor)


def test_a_cursor_that_is_none_is_reset(box: Box) -> None:
    with pytest.raises(CursorReset):
        box.store.changes(Cursor("nonsense"))


# Asked to wait.

FORMS = {
    "header": too_many_requests(300),
    "body": too_many_requests(300, in_body=True),
    "text": too_many_requests(300, text=True),
    "unknown reason": too_many_requests(300, reason="news"),
}


@pytest.mark.parametrize("answer", FORMS.values(), ids=FORMS)
def test_a_long_wait_is_left_to_the_caller(box: Box, answer: Response) -> None:
    box.put(b"old")
    box.suffers(Fault("files/*", Effect.ANSWER, times=None, answer=answer))
    store = box.store

    calls: list[Callable[[], object]] = [
        lambda: store.read(REF, 10),
        lambda: store.create(REF, b"x"),
    ]
    for call in calls:
        with pytest.raises(DropboxAsksToWait) as caught:
            call()
        assert caught.value.seconds == 300
    assert (box.clock.monotonic(), box.calls()) == (0, 2)


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        (too_many_requests(3), 3),
        (too_many_requests(3, in_body=True), 3),
        (too_many_requests(3, text=True), 3),
        (too_many_requests(None), 5),
        (too_many_requests(None, text=True), 5),
        (too_many_requests(None, reason="too_many_write_operations"), 1),
        (route_error("path/too_many_write_operations"), 1),
    ],
)
def test_a_short_wait_is_waited(box: Box, answer: Response, seconds: int) -> None:
    box.suffers(Fault(UPLOAD, Effect.ANSWER, times=2, answer=answer))

    box.store.create(REF, b"text")

    assert (box.account.read(AT), box.versions(), box.calls(REVISIONS)) == (b"text", 1, 0)
    assert box.clock.monotonic() == 2 * (seconds + 0.5)


# Access.


def test_an_expired_token_is_replaced_once(box: Box) -> None:
    old = box.token()
    box.dropbox.clock.advance(4 * 3600)
    tokens = Tokens([old, box.token()])

    box.store_with(tokens).create(REF, b"text")

    assert (box.account.read(AT), tokens.refused, box.calls(REVISIONS)) == (b"text", [old], 0)


@pytest.mark.parametrize("tag", ["expired_access_token", "invalid_access_token"])
def test_a_second_refusal_ends_the_access(box: Box, tag: str) -> None:
    tokens = Tokens([box.token(), box.token(), box.token()])
    answer = route_error(tag, status=401)
    box.suffers(Fault("files/*", Effect.ANSWER, times=None, answer=answer))

    with pytest.raises(SignInEnded):
        box.store_with(tokens).look(AT)
    assert (len(tokens.refused), box.calls()) == (1, 2)


def test_a_user_who_disconnected_us_has_ended_the_access(box: Box) -> None:
    tokens = Tokens([box.token()])
    box.account.set(connection=Connection.UNLINKED)

    with pytest.raises(SignInEnded):
        box.store_with(tokens).create(REF, b"x")


def test_a_missing_scope_ends_the_access_without_another_token(box: Box) -> None:
    tokens = Tokens([box.dropbox.token(box.account, ("files.metadata.read",)), box.token()])

    with pytest.raises(SignInEnded):
        box.store_with(tokens).create(REF, b"x")
    assert tokens.refused == []


def test_a_401_in_plain_text_is_a_refused_token(box: Box) -> None:
    tokens = Tokens([box.token(), box.token()])
    box.suffers(Fault(UPLOAD, Effect.ANSWER, answer=Response(401, b"no", "text/plain")))

    box.store_with(tokens).create(REF, b"x")

    assert len(tokens.refused) == 1


def test_a_disabled_app_is_no_answer(box: Box) -> None:
    box.account.set(app_disabled=True)
    store = box.store

    calls: list[Callable[[], object]] = [
        lambda: store.entries(""),
        lambda: store.create(REF, b"x"),
    ]
    for call in calls:
        with pytest.raises(DropboxSilent):
            call()


# The app folder itself.


def test_an_app_folder_that_is_gone_is_empty_until_it_is_written_to(box: Box) -> None:
    box.account.set(app_folder=AppFolder.NOT_FOUND)
    store = box.store

    assert store.entries("") == ()
    page = store.changes(None)
    assert (page.changes, page.has_more) == ((), False)
    assert store.changes(page.cursor) == page

    entry = store.create(REF, b"text")
    box.account.set(app_folder=AppFolder.PRESENT)
    assert entry in store.changes(page.cursor).changes


def test_nothing_is_written_while_every_call_is_a_conflict(box: Box) -> None:
    cursor = box.store.changes(None).cursor
    box.account.set(app_folder=AppFolder.CONFLICT)

    assert box.store.entries("") == ()
    with pytest.raises(CursorReset):
        box.store.changes(cursor)
    with pytest.raises(DropboxSilent):
        box.store.create(REF, b"x")


def test_an_app_folder_without_access_ends_the_access(box: Box) -> None:
    box.account.set(app_folder=AppFolder.UNAUTHORIZED)

    with pytest.raises(SignInEnded):
        box.store.entries("")
