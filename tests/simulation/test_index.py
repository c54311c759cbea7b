"""However requests, other apps, crashes and lost packs come together, the index heals itself.

A seed draws a history: requests that stop at any step, let others run in between, or vanish there.
After a while of peace one search must leave the index as the folder is.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from random import Random
from typing import TypeVar

import pytest

from memorybox.files.model import FileEntry, FolderEntry
from memorybox.search.packer import LARGE, MANY
from memorybox.search.recorder import WITHIN_REACH
from memorybox.search.sections import PackLost
from tests.fakes.files import fold
from tests.unit.search.world import Crash, World

T = TypeVar("T")

SEEDS = 60
WITHOUT_HOLDERS = 60.0
"""Seconds after which every claim and lease of a request that vanished has ended."""

NAMES = (
    "/garden/a.md",
    "/garden/b.md",
    "/garden/beds/c.md",
    "/garden/beds/d.md",
    "/garden/beds2/e.md",
    "/garden/x.md",
    "/garden/x.md/inner.md",
    "/work/f.md",
    "/work/g.txt",
    "/root.md",
    "/All/h.md",
)
FOLDERS = ("/garden", "/garden/beds", "/garden/x.md", "/garden/moved", "/work")
MOVES = (
    ("/garden/beds", "/garden/moved"),
    ("/garden/moved", "/garden/beds"),
    ("/garden/a.md", "/work/a.md"),
)
TEXTS = ("red tomatoes", "green onions\nand peas", "x " * 6_000, "a long note. " * 1_500, "")


class History:
    """One account and what happens to it."""

    def __init__(self, seed: int) -> None:
        self.world = World()
        self.world.small = 0 if seed % 2 else LARGE
        self.world.many = MANY if seed % 3 else 2
        self.world.within_reach = WITHIN_REACH if seed % 5 else 3
        self._random = Random(seed)
        self._is_interrupted = False

    def run(self) -> None:
        for _ in range(self._random.randrange(3, 25)):
            for _ in range(self._random.randrange(3)):
                self._change_outside()
            self.world.on_step = self._trouble if self._chance(0.5) else lambda: None
            with suppress(Crash):
                self._request()
            self._is_interrupted = False
            if self._chance(0.3):
                self.world.clock.sleep(WITHOUT_HOLDERS)
        self.world.on_step = lambda: None
        self.world.clock.sleep(WITHOUT_HOLDERS)

    def _trouble(self) -> None:
        if self._chance(0.02):
            raise Crash
        if self._chance(0.04):
            self._change_outside()
        if not self._is_interrupted and self._chance(0.05):
            self._is_interrupted = True
            self._request()

    def _request(self) -> None:
        request = self.world.request()
        acts: tuple[Callable[[], object], ...] = (
            lambda: self.world.search("tomatoes", self._one_of((None, "garden", "WORK"))),
            lambda: self.world.search("tomatoes"),
            self._write,
            lambda: request.recorder.record(request.deadline),
            request.run.work,
            lambda: request.run.work(["/garden/a.md"]),
            self._fold,
            self._lose_a_pack,
        )
        self._one_of(acts)()

    def _write(self) -> None:
        name = self._one_of(NAMES)
        if self._is_free(name):
            self.world.write(name, self._text())

    def _fold(self) -> None:
        with suppress(PackLost):
            self.world.fold(self._one_of(("garden", "work")))

    def _lose_a_pack(self) -> None:
        packs = self.world.packs.objects
        if packs and self._chance(0.3):
            del packs[self._one_of(tuple(packs))]

    def _change_outside(self) -> None:
        outside = self.world.files.outside
        name, (source, target) = self._one_of(NAMES), self._one_of(MOVES)
        match self._random.randrange(10):
            case 0:
                outside.remove(self._one_of(FOLDERS))
            case 1 | 2:
                outside.remove(name)
            case 3 if self._at(source) and not self._at(target) and self._at("/work"):
                outside.move(source, target)
            case 4 if self._chance(0.3):
                outside.reset_cursors()
            case _ if self._is_free(name):
                self.world.put(name, self._text())

    def _is_free(self, name: str) -> bool:
        """Whether a file can be at this path."""
        above = name.split("/")[1:-1]
        folders = ["/" + "/".join(above[:depth]) for depth in range(1, len(above) + 1)]
        is_folder = isinstance(self._at(name), FolderEntry)
        return not is_folder and not any(isinstance(self._at(f), FileEntry) for f in folders)

    def _at(self, location: str) -> object:
        on_step, self.world.on_step = self.world.on_step, lambda: None
        try:
            return self.world.files.look(fold(location))
        finally:
            self.world.on_step = on_step

    def _text(self) -> str:
        return f"{self._one_of(TEXTS)}{self._random.randrange(3)}"

    def _chance(self, share: float) -> bool:
        return self._random.random() < share

    def _one_of(self, choices: Sequence[T]) -> T:
        return self._random.choice(choices)


@pytest.mark.parametrize("seed", range(SEEDS))
def test_after_a_search_without_faults_the_index_is_as_the_folder(seed: int) -> None:
    history = History(seed)
    history.run()

    result = history.world.search("tomatoes")

    assert result.pending == 0
    assert history.world.indexed() == history.world.folder()
