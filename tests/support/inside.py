"""What the product keeps of its user, beside what the user's Dropbox holds."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from unittest.mock import patch

import boto3

from local.product import Product
from memorybox.accounts.model import AccountId
from memorybox.bootstrap.call import Call
from memorybox.bootstrap.process import Process

PATIENCE = 90.0
"""Seconds after which what should happen by itself counts as not happening."""


def index(product: Product) -> Mapping[str, str | None]:
    """Of each note that search knows: its path in lower case, and the rev that can be found."""
    with _call(product) as call:
        snapshot = call.index_run.catalog.load().snapshot
        found = {seen.path_lower: snapshot.entry(seen.path_lower) for seen in snapshot.files()}
        return {
            path: entry.settled.rev if entry and entry.settled else None
            for path, entry in found.items()
        }


def notes(product: Product) -> Mapping[str, str]:
    """The same, as the folder has it."""
    found = {}
    for path in product.account.files():
        entry = product.account.get(path)
        found[path.lower()] = str(getattr(entry, "rev", None))
    return found


def spent(product: Product) -> int:
    """The embedding tokens that are counted for this month."""
    with _call(product) as call:
        return call.spent


def messages(product: Product) -> int:
    """How many the queue still has: those that wait, and those that are being worked on.

    What was given up after five tries is not among them.
    """
    sqs = boto3.client("sqs", **product.aws.connection)
    answer = sqs.get_queue_attributes(QueueUrl=product.aws.queue_url, AttributeNames=["All"])
    counts = answer["Attributes"].items()
    return sum(int(many) for name, many in counts if name.startswith("ApproximateNumberOf"))


def come_back_after(product: Product, seconds: int) -> None:
    """Let messages that were not finished come back so soon, while a test still runs."""
    sqs = boto3.client("sqs", **product.aws.connection)
    sqs.set_queue_attributes(
        QueueUrl=product.aws.queue_url, Attributes={"VisibilityTimeout": str(seconds)}
    )


def waits_for(holds: Callable[[], bool], seconds: float = PATIENCE) -> bool:
    end = time.monotonic() + seconds
    while not (held := holds()) and time.monotonic() < end:
        time.sleep(0.5)
    return held


@contextmanager
def _call(product: Product) -> Iterator[Call]:
    """The parts of a call of the product's user, in this process and on a good network."""
    environment = {
        **product.functions["mcp"].settings.environment,
        **product.aws.environment,
        "DROPBOX_BASE_URL": product.dropbox.base_url,
        "OPENAI_BASE_URL": product.embeddings.url,
    }
    with patch.dict(os.environ, environment):
        boto3.setup_default_session()
        process = Process(environment)
        with process.call(AccountId(product.account.account_id), PATIENCE) as call:
            yield call
