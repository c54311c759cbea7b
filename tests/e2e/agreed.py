"""Clients that the operator agreed on by hand, for people who paste an id."""

import json
from collections.abc import Mapping
from typing import Any

import boto3

PUBLIC = "agreed-public"
CONFIDENTIAL, SECRET = "agreed-confidential", "a secret that was agreed on"


def agree_on_clients(connection: Mapping[str, Any], stage: str) -> None:
    """Put them where the functions read them with their first request."""
    redirect_uris = ["http://127.0.0.1/callback"]
    clients = [
        {"id": PUBLIC, "name": "Agreed", "redirect_uris": redirect_uris},
        {"id": CONFIDENTIAL, "name": "Agreed", "redirect_uris": redirect_uris, "secret": SECRET},
    ]
    boto3.client("ssm", **connection).put_parameter(
        Name=f"/memorybox/{stage}/clients",
        Value=json.dumps(clients),
        Type="SecureString",
        Overwrite=True,
    )
