"""The AWS services on one machine: MiniStack, with the resources that the template makes."""

import json
import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypedDict
from urllib.parse import urlsplit

import boto3

from local.ministack import MiniStack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient
    from mypy_boto3_dynamodb.type_defs import CreateTableInputTypeDef
    from mypy_boto3_kms import KMSClient
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_sqs import SQSClient
    from mypy_boto3_sqs.literals import QueueAttributeNameType

REGION: Final = "us-east-1"
STAGE: Final = "local"
SECRETS_PREFIX: Final = "/memorybox"
MEMORY_TABLE: Final = "memorybox-memory"
AUTH_TABLE: Final = "memorybox-auth"
BUCKET: Final = "memorybox-local"
QUEUE: Final = "memorybox-index"
DEAD_LETTERS: Final = "memorybox-index-dead"
KEY_ALIAS: Final = "alias/memorybox-token"

_TABLES: Final["list[CreateTableInputTypeDef]"] = [
    {
        "TableName": MEMORY_TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        "KeySchema": [
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
    },
    {
        "TableName": AUTH_TABLE,
        "BillingMode": "PAY_PER_REQUEST",
        "AttributeDefinitions": [
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "account_id", "AttributeType": "S"},
        ],
        "KeySchema": [{"AttributeName": "pk", "KeyType": "HASH"}],
        "GlobalSecondaryIndexes": [
            {
                "IndexName": "account",
                "KeySchema": [{"AttributeName": "account_id", "KeyType": "HASH"}],
                "Projection": {"ProjectionType": "ALL"},
            }
        ],
    },
]


class Connection(TypedDict):
    """Keyword arguments of `boto3.client`."""

    endpoint_url: str
    region_name: str
    aws_access_key_id: str
    aws_secret_access_key: str


@dataclass(frozen=True, slots=True)
class Aws:
    """Running services: `boto3.client("sqs", **aws.connection)` talks to them."""

    ministack: MiniStack
    queue_url: str
    dead_letters_url: str
    token_key_arn: str

    @property
    def endpoint(self) -> str:
        return self.ministack.endpoint

    @property
    def connection(self) -> Connection:
        return connection(self.endpoint)

    @property
    def environment(self) -> dict[str, str]:
        """What a function's environment says about these services."""
        return {
            "AWS_ENDPOINT_URL": self.endpoint,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
            "STAGE": STAGE,
            "SECRETS_PREFIX": SECRETS_PREFIX,
            "MEMORY_TABLE": MEMORY_TABLE,
            "AUTH_TABLE": AUTH_TABLE,
            "BUCKET_NAME": BUCKET,
            "QUEUE_URL": self.queue_url,
            "TOKEN_KEY_ARN": self.token_key_arn,
        }

    def stop(self) -> None:
        self.ministack.stop()

    def __enter__(self) -> "Aws":
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def start(
    state: Path,
    port: int | None = None,
    secrets: Mapping[str, str] | None = None,
    say: Callable[[str], None] = print,
) -> Aws:
    """Start MiniStack on what the folder `state` holds, and make what is missing there.

    `secrets` become SecureStrings named SECRETS_PREFIX/STAGE/<key>. Raises DidNotStart.
    """
    ministack = MiniStack(state, port, say=say)
    try:
        return _provide(ministack, secrets or {})
    except BaseException:
        ministack.stop()
        raise


def _provide(ministack: MiniStack, secrets: Mapping[str, str]) -> Aws:
    session, where = boto3.Session(), connection(ministack.endpoint)
    dynamodb = session.client("dynamodb", **where)  # made while MiniStack starts
    s3 = session.client("s3", **where)
    sqs = session.client("sqs", **where)
    kms = session.client("kms", **where)
    ssm = session.client("ssm", **where)
    ministack.await_start()
    for table in _TABLES:
        _table(dynamodb, table)
    _bucket(s3)
    dead_letters = _queue(sqs, DEAD_LETTERS, {"MessageRetentionPeriod": "1209600"})
    arn = sqs.get_queue_attributes(QueueUrl=dead_letters, AttributeNames=["QueueArn"])
    redrive = {"deadLetterTargetArn": arn["Attributes"]["QueueArn"], "maxReceiveCount": 5}
    queue = _queue(
        sqs,
        QUEUE,
        {
            "VisibilityTimeout": "721",
            "MessageRetentionPeriod": "345600",
            "ReceiveMessageWaitTimeSeconds": "20",
            "RedrivePolicy": json.dumps(redrive),
        },
    )
    for name, value in secrets.items():
        path = f"{SECRETS_PREFIX}/{STAGE}/{name}"
        ssm.put_parameter(Name=path, Value=value, Type="SecureString", Overwrite=True)
    return Aws(ministack, _at(ministack, queue), _at(ministack, dead_letters), _key(kms))


def _table(dynamodb: "DynamoDBClient", table: "CreateTableInputTypeDef") -> None:
    with suppress(dynamodb.exceptions.ResourceInUseException):
        dynamodb.create_table(**table)
        dynamodb.update_time_to_live(
            TableName=table["TableName"],
            TimeToLiveSpecification={"AttributeName": "expires_at", "Enabled": True},
        )


def _bucket(s3: "S3Client") -> None:
    with suppress(s3.exceptions.BucketAlreadyOwnedByYou):
        s3.create_bucket(Bucket=BUCKET)
    s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})


def _queue(sqs: "SQSClient", name: str, attributes: "Mapping[QueueAttributeNameType, str]") -> str:
    """The URL of a queue, made if it is missing."""
    with suppress(sqs.exceptions.QueueDoesNotExist):
        return sqs.get_queue_url(QueueName=name)["QueueUrl"]
    return sqs.create_queue(QueueName=name, Attributes=dict(attributes))["QueueUrl"]


def _at(ministack: MiniStack, queue_url: str) -> str:
    """A kept queue names the port it was made on."""
    return f"{ministack.endpoint}{urlsplit(queue_url).path}"


def _key(kms: "KMSClient") -> str:
    """The ARN of the key that seals tokens, made if it is missing."""
    with suppress(kms.exceptions.NotFoundException):
        return kms.describe_key(KeyId=KEY_ALIAS)["KeyMetadata"]["Arn"]
    key = kms.create_key()["KeyMetadata"]
    kms.create_alias(AliasName=KEY_ALIAS, TargetKeyId=key["KeyId"])
    return key["Arn"]


def connection(endpoint: str) -> Connection:
    return {
        "endpoint_url": endpoint,
        "region_name": REGION,
        "aws_access_key_id": "test",
        "aws_secret_access_key": "test",
    }
