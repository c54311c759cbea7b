"""Every key of the two tables and of the bucket.

Memory: `pk` says whose item it is, `sk` what it is. Auth has a `pk` alone.
"""

from hashlib import sha256
from urllib.parse import quote
from zlib import crc32

from memorybox.accounts.model import AccountId
from memorybox.search.budget import Month

ACCOUNT = "account"
CURSOR = "cursor"
WRITER_LEASE = "lease#write"
INDEX_LEASE = "lease#index"

INDEX_FIRST, INDEX_LAST = CURSOR, "pack$"
"""Between them lies all that a search needs: `cursor`, `file#`, `filepart#`, `pack#`."""

OF_ACCOUNT = "account"
"""The index of the Auth table by `account_id`."""

PIECES = "filepart#"
WRITTEN = "written#"

LONGEST_PATH = 800
"""Bytes of a path that stand in a key. DynamoDB takes 1,024 in a sort key, Dropbox has longer."""

DIRECTORIES = 16
DEPLOYMENTS = 8
"""Partitions over which the writes of all accounts are spread."""


RATES = "DEPLOY#rates"
"""The partition of the buckets that the whole deployment shares."""


def of_account(account: AccountId) -> str:
    return f"A#{account}"


def spending_of(account: AccountId) -> str:
    """The partition of what an account spent. It outlives the account, so it does not name it."""
    return f"SPENT#{sha256(account.encode()).hexdigest()}"


def budget(month: Month) -> str:
    return f"budget#{month}"


def rate(name: str) -> str:
    return f"rate#{name}"


def command(tool: str, command_id: str) -> str:
    return f"command#{tool}#{command_id}"


def file(path_lower: str) -> str:
    return f"file#{_place(path_lower)}"


def piece(path_lower: str, number: int) -> str:
    """The continuation of a file's item, counted from 1."""
    return f"{PIECES}{number}#{_place(path_lower)}"


def written(slot: int) -> str:
    return f"{WRITTEN}{slot:02}"


def pack(workspace: str) -> str:
    return f"pack#{workspace}"


def deployment(shard: int) -> str:
    return f"DEPLOY#{shard}"


def directory(number: int) -> str:
    return f"DIR#{number}"


def directory_number(account: AccountId) -> int:
    return crc32(account.encode()) % DIRECTORIES


def directory_of(account: AccountId) -> str:
    return directory(directory_number(account))


def client(client_id: str) -> str:
    """An id may be a URL of 2,048 characters, which is all that a partition key can hold."""
    return f"client#{sha256(client_id.encode()).hexdigest()}"


def transaction(key: str) -> str:
    return f"transaction#{key}"


def code(key: str) -> str:
    return f"code#{key}"


def grant(grant_id: str) -> str:
    return f"grant#{grant_id}"


def visit(key: str) -> str:
    return f"visit#{key}"


def packs_of(account: AccountId) -> str:
    """What the keys of all objects of the account begin with."""
    return f"packs/{account}/"


def pack_object(account: AccountId, workspace: str, generation: int, random: str) -> str:
    return f"{packs_of(account)}{quote(workspace, safe='')}/{generation}-{random}"


def _place(path_lower: str) -> str:
    """The path, or if it is too long the beginning of it and what tells it from others."""
    encoded = path_lower.encode()
    if len(encoded) <= LONGEST_PATH:
        return path_lower
    beginning = encoded[:LONGEST_PATH].decode(errors="ignore")
    return f"{beginning}\0{sha256(encoded).hexdigest()}"  # no path has a NUL
