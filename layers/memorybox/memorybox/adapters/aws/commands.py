"""The command log on DynamoDB."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from memorybox.adapters.aws import keys
from memorybox.adapters.aws.session import Session
from memorybox.adapters.aws.table import ConditionFailed, delete, put, update
from memorybox.adapters.aws.values import Item, seconds, stamp
from memorybox.files.commands import Attempt, Command, Finished, Fresh, Interrupted, Standing
from memorybox.files.errors import CommandReused, CommandRunning

KEPT = timedelta(hours=24)

GRACE = timedelta(seconds=5)
"""How long after its deadline a vanished run may still have an upload on its way."""

_MINE = "run = :run"
_UNTOUCHED = "attribute_not_exists(attempt)"


class DynamoCommandLog:
    """The port CommandLog. An item names the run that has the command now, until it finishes."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def begin(self, command: Command) -> Standing:
        item = {
            **self._key(command),
            "fingerprint": command.fingerprint,
            **self._running(),
            "expires_at": self._forgotten(),
        }
        try:
            self._session.apply(
                put(
                    item,
                    f"attribute_not_exists(pk) OR expires_at <= :now OR ({_MINE} AND {_UNTOUCHED})",
                    now=int(self._session.now().timestamp()),
                    run=self._session.id,
                )
            )
        except ConditionFailed as failed:
            return self._known(command, failed.item)
        return Fresh()

    def attempting(self, command: Command, attempt: Attempt) -> None:
        try:
            self._change(
                command,
                "SET attempt = :attempt",
                attempt={"content_hash": attempt.content_hash, "base": attempt.base},
            )
        except ConditionFailed:
            raise CommandRunning from None  # past our deadline, and another run took it over

    def finish(self, command: Command, result: str) -> None:
        with suppress(ConditionFailed):  # another run took it over, and will find what we uploaded
            self._change(
                command,
                "SET outcome = :outcome, expires_at = :forgotten REMOVE run, ends, attempt",
                outcome=result,
                forgotten=self._forgotten(),
            )

    def forget(self, command: Command) -> None:
        with suppress(ConditionFailed):  # another run has it
            self._session.apply(delete(self._key(command), _MINE, run=self._session.id))

    def _known(self, command: Command, item: Item) -> Standing:
        if item["fingerprint"] != command.fingerprint:
            raise CommandReused(command.id)
        if "outcome" in item:
            return Finished(item["outcome"])
        if item["ends"] > stamp(self._session.now()):
            raise CommandRunning
        self._take_over(command, vanished=item["run"])
        if (attempt := item.get("attempt")) is None:
            return Fresh()
        return Interrupted(Attempt(attempt["content_hash"], attempt["base"]))

    def _take_over(self, command: Command, *, vanished: str) -> None:
        try:
            self._session.apply(
                update(
                    self._key(command),
                    "SET run = :run, ends = :ends",
                    f"run = :vanished OR {_MINE}",
                    vanished=vanished,
                    **self._running(),
                )
            )
        except ConditionFailed:
            raise CommandRunning from None

    def _change(self, command: Command, change: str, **values: Any) -> None:
        run = self._session.id
        self._session.apply(update(self._key(command), change, _MINE, run=run, **values))

    def _key(self, command: Command) -> Item:
        return self._session.key(keys.command(command.tool, command.id))

    def _running(self) -> dict[str, Any]:
        ends = self._session.ends(self._session.deadline) + GRACE
        return {"run": self._session.id, "ends": stamp(ends)}

    def _forgotten(self) -> int:
        return seconds(self._session.now() + KEPT)
