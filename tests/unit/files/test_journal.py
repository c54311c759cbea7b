"""What is written through a journalled store is noted, and nothing else."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from memorybox.errors import MemoryBoxError
from memorybox.files.commands import Attempt
from memorybox.files.journal import JournalledFiles
from memorybox.files.model import Edit, FileEntry, FileRef, Rev
from memorybox.files.service import Files
from tests.fakes.clock import FakeClock
from tests.fakes.files import InMemoryFileStore

REF = FileRef.parse("garden", "plan.md")


class FreeLeases:
    @contextmanager
    def writer(self) -> Iterator[None]:
        yield


class Notes(list[tuple[str, str, bool]]):
    """The port Journal."""

    def note(self, entry: FileEntry, *, is_new: bool) -> None:
        self.append((entry.path_display, entry.rev, is_new))


def ignore(_: Attempt) -> None:
    """Nobody asks."""


def test_each_version_that_was_made_is_noted_and_what_changed_nothing_is_not() -> None:
    notes = Notes()
    store = JournalledFiles(InMemoryFileStore(FakeClock()), notes)
    files = Files(store, FreeLeases(), pause=lambda _: False)

    made = files.write(REF, "one\n", expected=None, note=ignore).entry.rev
    added = files.append(REF, "two\n", note=ignore).entry.rev
    patched = files.patch(REF, [Edit("two", "2")], expected=added, note=ignore).entry.rev
    files.write(REF, "one\n2\n", expected=patched, note=ignore)
    files.append(REF, "", note=ignore)
    with suppress(MemoryBoxError):
        files.write(REF, "three\n", expected=Rev(made), note=ignore)

    assert notes == [
        ("/garden/plan.md", made, True),
        ("/garden/plan.md", added, False),
        ("/garden/plan.md", patched, False),
    ]
