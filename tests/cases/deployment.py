"""The functions of the product in this process, over emulators of all that they talk to."""

import hmac
import importlib.util
import json
from base64 import b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import count
from pathlib import Path
from types import ModuleType
from typing import Any

import boto3
from boto3.dynamodb.conditions import Key

from deploy.relist import take_cursors
from local.aws import BUCKET, MEMORY_TABLE, Aws
from local.dropbox.accounts import Account
from local.dropbox.server import DropboxEmulator
from local.openai import EmbeddingsServer
from memorybox.accounts.model import AccountId, SealedAccess, SignedIn
from memorybox.bootstrap.process import Process
from memorybox.deadline import CALL_SECONDS
from memorybox.mcp.toolset import ToolResult

Item = dict[str, Any]

APP_SECRET = "the secret of the app"
FUNCTIONS = Path(__file__).parents[2] / "functions"


@dataclass(frozen=True, slots=True)
class Context:
    """What Lambda tells a function of its invocation."""

    function_name: str
    memory_limit_in_mb: int = 512
    invoked_function_arn: str = "arn:aws:lambda:us-east-1:000000000000:function:memorybox"
    aws_request_id: str = "1"
    seconds: int = 120

    def get_remaining_time_in_millis(self) -> int:
        return 1_000 * self.seconds


class Deployment:
    """One process of each function, warm from its first invocation on."""

    def __init__(self, cloud: Aws, service: DropboxEmulator, embeddings: EmbeddingsServer) -> None:
        self.service = service
        self.embeddings = embeddings
        self._cloud = cloud
        self._sqs = boto3.client("sqs", **cloud.connection)
        self._s3 = boto3.client("s3", **cloud.connection)
        self._memory = boto3.resource("dynamodb", **cloud.connection).Table(MEMORY_TABLE)
        self.restart_webhook()
        self._indexer = _loaded("indexer")
        self._numbers = count(1)
        process = self._indexer.process
        assert isinstance(process, Process)
        self.process = process

    def restart_webhook(self) -> Process:
        """Let the next notification meet a process that knows nothing yet."""
        self._webhook = _loaded("webhook")
        process = self._webhook.process
        assert isinstance(process, Process)
        return process

    def add_user(self) -> Account:
        """Somebody who has signed in."""
        user = self.service.add_account()
        account_id = AccountId(user.account_id)
        access, refresh = self.service.grants.issue(user.account_id)
        assert refresh is not None
        connections = self.process.connections
        seal = partial(connections.vault.seal, account_id=account_id)
        connections.accounts.link(
            SignedIn(
                account_id=account_id,
                name="Ann",
                refresh_token=seal(refresh, purpose="dropbox refresh token"),
                access=SealedAccess(
                    seal(access, purpose="dropbox access token"),
                    expires_at=connections.clock.now(),
                ),
                term_key=bytes(16),
            )
        )
        return user

    def call(self, user: Account, tool: str, /, **arguments: object) -> ToolResult:
        """What a tool answers."""
        with self.process.call(AccountId(user.account_id), CALL_SECONDS) as call:
            return call.tools.call(tool, arguments)

    def notify(
        self,
        body: bytes,
        signature: str | None = None,
        *,
        is_base64: bool = False,
        request_id: str = "1",
    ) -> Mapping[str, Any]:
        """What the webhook answers to Dropbox; without a `signature`, to one that is right."""
        right = hmac.new(APP_SECRET.encode(), body, "sha256").hexdigest()
        event = {
            "version": "2.0",
            "rawPath": "/dropbox/webhook",
            "headers": {"x-dropbox-signature": right if signature is None else signature},
            "requestContext": {"http": {"method": "POST", "path": "/dropbox/webhook"}},
            "body": b64encode(body).decode() if is_base64 else body.decode(),
            "isBase64Encoded": is_base64,
        }
        answer = self._webhook.handler(event, Context("webhook", aws_request_id=request_id))
        assert isinstance(answer, Mapping)
        return answer

    def changed(self, *users: Account, request_id: str = "1") -> None:
        """Let Dropbox say that these users' folders changed."""
        accounts = [user.account_id for user in users]
        body = json.dumps({"list_folder": {"accounts": accounts}}).encode()
        answer = self.notify(body, request_id=request_id)
        assert answer["statusCode"] == 200

    def queued(self) -> Sequence[str]:
        """The bodies of the messages that wait for the indexer, which are taken from it."""
        bodies = list[str]()
        while True:
            answer = self._sqs.receive_message(
                QueueUrl=self._cloud.queue_url, MaxNumberOfMessages=10, WaitTimeSeconds=0
            )
            if not answer.get("Messages"):
                return bodies
            for message in answer["Messages"]:
                bodies.append(message["Body"])
                self._sqs.delete_message(
                    QueueUrl=self._cloud.queue_url, ReceiptHandle=message["ReceiptHandle"]
                )

    def index(self, *bodies: str) -> Sequence[str]:
        """Hand messages to the indexer in one batch; those that it gives back."""
        records = {f"m{next(self._numbers)}": body for body in bodies}
        event = {
            "Records": [
                {
                    "messageId": name,
                    "body": body,
                    "eventSource": "aws:sqs",
                    "receiptHandle": name,
                    "attributes": {"SentTimestamp": "1793361600000"},
                    "messageAttributes": {},
                    "md5OfBody": "",
                    "eventSourceARN": "arn:aws:sqs:us-east-1:000000000000:index",
                    "awsRegion": "us-east-1",
                }
                for name, body in records.items()
            ]
        }
        answer = self._indexer.handler(event, Context("indexer"))
        return [records[failed["itemIdentifier"]] for failed in answer["batchItemFailures"]]

    def sweep(self, seconds: int, request_id: str) -> None:
        """Let the schedule call the indexer, with so much time."""
        context = Context("indexer", aws_request_id=request_id, seconds=seconds)
        self._indexer.handler({"source": "sweep"}, context)

    def wake(self, user: Account) -> str:
        """The message that wakes the indexer for a user."""
        return json.dumps({"account": user.account_id})

    def indexed(self, user: Account) -> Mapping[str, str]:
        """The notes that can be found, as people see their names, with the rev that was read."""
        with self.process.call(AccountId(user.account_id), CALL_SECONDS) as call:
            run = call.index_run
            view, recipe = run.catalog.load(), run.catch_up.recipe
            entries = [view.snapshot.entry(seen.path_lower) for seen in view.snapshot.files(None)]
            return {
                entry.seen.path_display: entry.seen.rev
                for entry in entries
                if entry and entry.is_indexed(recipe)
            }

    def lose_packs(self, user: Account, workspace: str) -> None:
        """Let the packs of a workspace be gone from where they are kept."""
        with self.process.call(AccountId(user.account_id), CALL_SECONDS) as call:
            pointer = call.index_run.catalog.load().state.packs[workspace]
        for ref in pointer.packs:
            self._s3.delete_object(Bucket=BUCKET, Key=ref.key)

    def items(self, user: Account, sk: str) -> Sequence[Item]:
        """What is kept of a user under all keys that begin so."""
        key = Key("pk").eq(f"A#{user.account_id}") & Key("sk").begins_with(sk)
        return self._memory.query(KeyConditionExpression=key)["Items"]

    def lose_items(self, user: Account, sk: str) -> None:
        """Let what is kept of a user under all keys that begin so be gone."""
        for item in self.items(user, sk):
            self._memory.delete_item(Key={"pk": item["pk"], "sk": item["sk"]})

    def put_back(self, item: Item) -> None:
        """Let an item be as it once was."""
        self._memory.put_item(Item=item)

    def relist(self) -> None:
        """What an operator does after a restore."""
        take_cursors(boto3.client("dynamodb", **self._cloud.connection), MEMORY_TABLE)

    def in_the_tail(self, user: Account) -> set[str]:
        """The paths that are in no pack yet, or not in it as they are now."""
        with self.process.call(AccountId(user.account_id), CALL_SECONDS) as call:
            return set(call.index_run.catalog.load().state.tail)


def _loaded(function: str) -> ModuleType:
    """A fresh copy of a function's module, as a new process of it would have."""
    spec = importlib.util.spec_from_file_location(
        f"deployed_{function}", FUNCTIONS / function / "app.py"
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
