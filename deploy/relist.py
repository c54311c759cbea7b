"""Lets every index be compared with Dropbox from the start, as is right after a restore."""

import sys
from typing import TYPE_CHECKING

from deploy.account import Unready, parser, run, session, stack

if TYPE_CHECKING:
    from mypy_boto3_dynamodb import DynamoDBClient


def main() -> int:
    given = parser("relist", __doc__).parse_args()

    def relist() -> None:
        found = session(given.region)
        deployed = stack(found, given.stage)
        table = deployed.outputs().get("MemoryTableName")
        if table is None:
            raise Unready(f"There is no stack named {deployed.name} here.")
        print(f"Cursors taken away: {take_cursors(found.client('dynamodb'), table)}")

    return run(relist)


def take_cursors(dynamodb: "DynamoDBClient", table: str) -> int:
    """Let each account have read nothing of Dropbox's changes. Returns how many had.

    The version goes on, so that whoever is recording right now has to begin anew.
    """
    pages = dynamodb.get_paginator("scan").paginate(
        TableName=table,
        FilterExpression="sk = :cursor",
        ExpressionAttributeValues={":cursor": {"S": "cursor"}},
        ProjectionExpression="pk, sk",
    )
    cursors = [item for page in pages for item in page["Items"]]
    for key in cursors:
        dynamodb.update_item(
            TableName=table,
            Key=key,
            UpdateExpression="SET place = :none ADD version :one",
            ExpressionAttributeValues={":none": {"NULL": True}, ":one": {"N": "1"}},
        )
    return len(cursors)


if __name__ == "__main__":
    sys.exit(main())
