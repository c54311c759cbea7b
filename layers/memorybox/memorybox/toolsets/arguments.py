"""Read the arguments of a tool call as a model sends them; the first fault is one sentence."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256

from memorybox.errors import Refused
from memorybox.files.commands import Command
from memorybox.files.errors import OneWorkspaceNeeded
from memorybox.files.model import Edit, FileRef, Rev, is_all, parse_rev
from memorybox.files.names import has_lone_surrogate
from memorybox.quoting import LONGEST, quoted, shortened

MOST_EDITS = 100
LONGEST_QUERY = 8_000  # bytes
LONGEST_COMMAND_ID = 128  # characters
LIMIT, MOST_RESULTS = 8, 20

_canonical = json.JSONEncoder(sort_keys=True).encode


@dataclass(frozen=True, slots=True)
class Arguments:
    """What came with a call. A member that is null counts as not given."""

    tool: str
    given: Mapping[str, object]

    @classmethod
    def of_one_file(
        cls, tool: str, given: Mapping[str, object], known: Sequence[str]
    ) -> tuple["Arguments", FileRef]:
        """The arguments and the file they name. "all" is refused before anything else."""
        workspace = given.get("workspace")
        if isinstance(workspace, str) and is_all(workspace):
            raise OneWorkspaceNeeded(workspace)
        arguments = cls.of(tool, given, known)
        return arguments, FileRef.parse(arguments.string("workspace"), arguments.string("path"))

    @classmethod
    def of(cls, tool: str, given: Mapping[str, object], known: Sequence[str]) -> "Arguments":
        """The arguments, none of them unknown."""
        for name in given:
            if name not in known:
                raise Refused(
                    f"{tool} does not know the argument {quoted(name)}. "
                    f"It takes {', '.join(known)}."
                )
        return cls(tool, given)

    def string(self, name: str) -> str:
        """A string that has to be there."""
        value = self.optional_string(name)
        if value is None:
            raise Refused(f"{self.tool} needs {name}.")
        return value

    def optional_string(self, name: str) -> str | None:
        value = self.given.get(name)
        if value is not None and not isinstance(value, str):
            raise Refused(f"{name} must be text.")
        return value

    def text(self, name: str) -> str:
        """A string that UTF-8 can hold."""
        return _whole(self.string(name), name)

    def expected_rev(self) -> Rev | None:
        value = self.optional_string("expected_rev")
        return None if value is None else parse_rev(value)

    def needed_rev(self) -> Rev:
        rev = self.expected_rev()
        if rev is None:
            raise Refused("patch needs expected_rev. Read the file and pass the rev it gives.")
        return rev

    def command(self) -> Command | None:
        """The command that the caller gave an id, or None if this call is like no other."""
        value = self.optional_string("command_id")
        if value is None:
            return None
        if not 1 <= len(value) <= LONGEST_COMMAND_ID:
            raise Refused(f"command_id must have 1 to {LONGEST_COMMAND_ID} characters.")
        rest = {name: value for name, value in self.given.items() if value is not None}
        del rest["command_id"]
        fingerprint = sha256(_canonical(rest).encode()).hexdigest()
        return Command(self.tool, _whole(value, "command_id"), fingerprint)

    def query(self) -> str:
        query = self.text("query")
        if not query.strip():
            raise Refused("query is empty. Say in words what to look for.")
        if (size := len(query.encode())) > LONGEST_QUERY:
            raise Refused(
                f"query has {size} bytes; at most {LONGEST_QUERY:,} are searched. Shorten it."
            )
        return query

    def limit(self) -> int:
        """1 to 20; models send it as a string or a float at times."""
        value = self.given.get("limit")
        if value is None:
            return LIMIT
        number = _integer(value)
        if number is None or not 1 <= number <= MOST_RESULTS:
            raise Refused(f"limit is 1 to {MOST_RESULTS} (got {_shown(value)})")
        return number

    def edits(self) -> tuple[Edit, ...]:
        """At least one edit; models send the list as JSON text, or one edit bare, at times."""
        value = self.given.get("edits")
        if value is None:
            raise Refused(f"{self.tool} needs edits.")
        if isinstance(value, str):
            value = _parsed(value)
        if isinstance(value, Mapping):
            value = [value]
        if not isinstance(value, list) or not value:
            raise _not_edits()
        if len(value) > MOST_EDITS:
            raise Refused(f"At most {MOST_EDITS} edits in one call.")
        return tuple(_edit(item) for item in value)


def _edit(item: object) -> Edit:
    match item:
        case {"old_text": str(old), "new_text": str(new), **rest} if not rest:
            return Edit(_whole(old, "old_text"), _whole(new, "new_text"))
        case _:
            raise _not_edits()


def _not_edits() -> Refused:
    return Refused('edits must be a list with at least one {"old_text": "...", "new_text": "..."}.')


def _parsed(text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _whole(text: str, name: str) -> str:
    if has_lone_surrogate(text):
        raise Refused(f"{name} has half of a surrogate pair, which is no text.")
    return text


def _integer(value: object) -> int | None:
    match value:
        case bool():
            return None
        case int():
            return value
        case float() if value.is_integer():
            return int(value)
        case str() if value.strip().removeprefix("-").isdecimal() and value.isascii():
            return int(value) if len(value) < LONGEST else None
        case _:
            return None


def _shown(value: object) -> str:
    return shortened(value if isinstance(value, str) else json.dumps(value))
