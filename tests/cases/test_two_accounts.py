"""Two people with notes of the same names: whatever either does, no answer shows the other's."""

import random
from dataclasses import dataclass, field

import pytest

from local.dropbox.accounts import Account
from local.dropbox.entries import File
from memorybox.errors import MemoryBoxError
from tests.cases.deployment import Deployment

STEPS = 200
NAMES = ("plan.md", "beds/plan.md", "log.md")


@dataclass
class Person:
    """Somebody whose notes all hold one word that nobody else uses."""

    deployment: Deployment
    word: str
    user: Account
    revs: dict[str, str] = field(default_factory=dict)

    def call(self, tool: str, path: str, number: int) -> str:
        """The texts that a tool answers; all arguments but the word are as the other's."""
        file: dict[str, object] = {"workspace": "garden", "path": path}
        line = f"- {self.word} {number}\n"
        edit = {"old_text": f"- {self.word}", "new_text": f"- more {self.word}"}
        rev = self.revs.get(path, "0123456789abcdef")
        arguments: dict[str, dict[str, object]] = {
            "append": {**file, "text": line, "command_id": f"{number % 7}"},
            "write": {**file, "text": line},
            "patch": {**file, "edits": [edit], "expected_rev": rev},
            "read": file,
            "list": {"workspace": "all"},
            "search": {"workspace": "all", "query": "apricot or bramble"},
        }
        try:
            texts = self.deployment.call(self.user, tool, **arguments[tool]).texts
        except MemoryBoxError as error:
            return str(error)
        if texts[0].startswith("rev: "):
            self.revs[path] = texts[0].partition("\n")[0].removeprefix("rev: ")
        return "\n".join(texts)

    def edit(self, path: str, number: int) -> None:
        """Another app writes, and both functions in the background do their work."""
        self.user.put(f"/garden/{path}", f"- {self.word} outside {number}\n")
        self.deployment.changed(self.user)
        if messages := self.deployment.queued():
            self.deployment.index(*messages)

    def notes(self) -> set[str]:
        """The revs of all notes."""
        entries = [self.user.get(location) for location in self.user.files()]
        return {entry.rev for entry in entries if isinstance(entry, File)}


@pytest.mark.promise("P-210")
def test_no_answer_holds_a_word_of_another_account(deployment: Deployment) -> None:
    choices = random.Random(11)
    people = [Person(deployment, word, deployment.add_user()) for word in ("apricot", "bramble")]
    tools = ("append", "write", "patch", "read", "list", "search")
    for number in range(STEPS):
        choices.shuffle(people)
        person, other = people
        path = choices.choice(NAMES)
        if choices.random() < 0.2:
            person.edit(path, number)
        else:
            assert other.word not in person.call(choices.choice(tools), path, number)

    for person in people:
        person.call("search", NAMES[0], STEPS)
        assert all(person.word.encode() in data for data in person.user.files().values())
        assert set(deployment.indexed(person.user).values()) == person.notes()
