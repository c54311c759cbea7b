"""What was in the folder at every moment of a history."""

from collections import defaultdict

from tests.simulation.dropbox import SimulatedDropbox, Version
from tests.simulation.history import Called


class Past:
    def __init__(self, dropbox: SimulatedDropbox) -> None:
        self.by_rev: dict[str, Version] = {}
        self.of: dict[str, list[Version]] = defaultdict(list)
        """By location, in order."""

        self._ends: dict[str, int] = {}
        held: dict[str, Version] = {}
        happened: list[tuple[int, Version | str]] = [
            *((version.at, version) for version in dropbox.versions),
            *((at, gone) for gone, at in dropbox.gone),
        ]
        for at, what in sorted(happened, key=lambda each: each[0]):
            if isinstance(what, Version):
                self.by_rev[what.rev] = what
                self.of[what.location].append(what)
                ended = [what.location]
            else:
                ended = [path for path in held if path == what or path.startswith(what + "/")]
            for location in ended:
                if before := held.pop(location, None):
                    self._ends[before.rev] = at
            if isinstance(what, Version):
                held[what.location] = what

    def ends(self, version: Version) -> int:
        """When a version was no more the file."""
        return self._ends.get(version.rev, 10**9)

    def during(self, call: Called, location: str) -> list[Version]:
        """The versions that were the file at the location at some moment of the call."""
        return [
            version
            for version in self.of.get(location, ())
            if version.at <= call.ended and self.ends(version) >= call.began
        ]
