"""Indexes what the queue names, a batch at a time; what is not finished goes back."""

import json
import os
from itertools import islice
from typing import Any

from aws_lambda_powertools import Logger
from aws_lambda_powertools.utilities.batch import (
    BatchProcessor,
    EventType,
    process_partial_response,
)
from aws_lambda_powertools.utilities.data_classes.sqs_event import SQSRecord

from memorybox.accounts.model import AccountId
from memorybox.bootstrap import tracing
from memorybox.bootstrap.process import Process
from memorybox.deadline import Deadline
from memorybox.errors import SignInEnded

MARGIN = 10.0
"""Seconds left alone at the end: a time-out would give the whole batch back, done work too."""

LEAST = 15.0
"""Seconds without which no message is begun."""

TURN = 12.0
"""Seconds for one message. Between two of them a search that waits for the index comes first."""

BREATH = 1
"""Seconds from one message of a run to the next."""

TOGETHER = 10
"""Accounts that a sweep wakes by one call: what SQS takes."""

tracing.mark_lines()
logger = Logger(service="indexer")
process = Process(os.environ)
processor = BatchProcessor(event_type=EventType.SQS, raise_on_entire_batch_failure=False)


class OutOfTime(Exception):
    """The message waits for the next invocation."""


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> Any:
    def seconds_left() -> float:
        return float(context.get_remaining_time_in_millis() / 1_000 - MARGIN)

    if event.get("source") == "sweep":
        tracing.begin(context.aws_request_id)
        logger.info("A sweep begins", budget_percent=process.budget_percent())
        return _sweep(None, seconds_left())
    return process_partial_response(
        event=event,
        record_handler=lambda record: _handle(record, seconds_left()),
        processor=processor,
        context=context,
    )


def _handle(record: SQSRecord, seconds: float) -> None:
    if seconds < LEAST:
        raise OutOfTime
    tracing.begin(record.message_id)  # unless the message says whose it is; older ones do not
    try:
        message = json.loads(record.body)
        tracing.begin(message.get("request_id", record.message_id))
        if "sweep_after" in message:
            _sweep(AccountId(message["sweep_after"]), min(seconds, TURN))
        else:
            _index(AccountId(message["account"]), message.get("paths"), min(seconds, TURN))
        lag = process.clock.now().timestamp() - int(record.attributes.sent_timestamp) / 1_000
        logger.info("A message was done", message_id=record.message_id, lag_seconds=round(lag, 1))
    except Exception as error:
        # Its kind alone: what it says may hold a name. The message itself is tried again.
        logger.warning(
            "A message was not finished", message_id=record.message_id, error=type(error).__name__
        )
        raise


def _index(account: AccountId, paths: list[str] | None, seconds: float) -> None:
    try:
        process.connections.check(account)
        with process.call(account, seconds) as call:
            is_finished = call.index_run.work(paths)
    except SignInEnded:
        process.deletion.forget(account)
        return
    if not is_finished:
        process.queue(account).go_on(after=BREATH)


def _sweep(after: AccountId | None, seconds: float) -> None:
    """Wake every account behind `after`: a webhook that never came is made good here.

    What there is no time for is a message to ourselves.
    """
    deadline = Deadline.after(seconds, process.clock)
    queue, accounts = process.sweep_queue(), process.directory.accounts(after)
    while batch := list(islice(accounts, TOGETHER)):
        queue.wake(batch)
        if deadline.has_passed:
            queue.go_on(batch[-1])
            return
