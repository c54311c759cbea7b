"""Takes Dropbox's word that an account changed, records what changed, and queues it.

Dropbox wants an answer within 10 seconds, and sends a notification again that is not taken.
"""

import base64
import os
from typing import Any

from aws_lambda_powertools import Logger

from memorybox.accounts.model import AccountId
from memorybox.adapters.dropbox.webhook import account_ids, challenge, is_signed
from memorybox.bootstrap import tracing
from memorybox.bootstrap.process import Process
from memorybox.deadline import Deadline, lasting
from memorybox.errors import SignInEnded, Unavailable

MOST_BYTES = 262_144
SECONDS = 7.0
"""For the whole of a notification: Lambda ends the function after 9."""

LAST = 2.0
"""Of these, what is left for the queue when the listings of all accounts end."""

tracing.mark_lines()
logger = Logger(service="webhook")
process = Process(os.environ)


@logger.inject_lambda_context
def handler(event: dict[str, Any], context: Any) -> dict[str, Any]:
    tracing.begin(context.aws_request_id)
    if event["requestContext"]["http"]["method"] == "GET":
        echo = challenge((event.get("queryStringParameters") or {}).get("challenge"))
        return _answer(400, "No challenge") if echo is None else _answer(200, echo)
    deadline = Deadline.after(SECONDS, process.clock)
    try:
        with lasting(deadline):
            return _notified(event, deadline.earlier(LAST))
    except Unavailable as error:
        logger.warning("Changes were not noted", error=type(error).__name__)
        return _answer(503, "Try again")


def _notified(event: dict[str, Any], list_until: Deadline) -> dict[str, Any]:
    body = _body(event)
    if len(body) > MOST_BYTES:
        return _answer(413, "Too large")
    signature = event["headers"].get("x-dropbox-signature")
    if not is_signed(body, signature, process.secrets.webhook_secrets):
        return _answer(403, "Wrong signature")
    accounts = account_ids(body)
    for account in accounts:
        _queue_changes(account, list_until)
    logger.info("Changes noted", accounts=len(accounts))
    return _answer(200, "")


def _queue_changes(account: AccountId, list_until: Deadline) -> None:
    queue = process.queue(account)
    try:
        process.connections.check(account)
        with process.call(account, list_until.remaining()) as call:
            reading = call.recorder.record(list_until)
    except SignInEnded:
        return  # a stranger, or somebody who left
    except Unavailable:
        queue.go_on()
        return
    if reading.paths:
        queue.changed(reading.paths)
    if not reading.is_complete:
        queue.go_on()


def _body(event: dict[str, Any]) -> bytes:
    """The raw bytes, which alone are signed."""
    body = event.get("body", "")
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode()


def _answer(status: int, text: str) -> dict[str, Any]:
    headers = {"content-type": "text/plain", "x-content-type-options": "nosniff"}
    return {"statusCode": status, "headers": headers, "body": text}
