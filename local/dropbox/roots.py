"""The `Dropbox-API-Path-Root` header. An app-folder app has no use for it but may send it."""

import json

from dropbox import common
from stone.backends.python_rsrc import stone_serializers

from local.dropbox.accounts import Account
from local.dropbox.entries import Json
from local.dropbox.exchange import Request
from local.dropbox.wire import Refusal, bad_request, tagged_error, union

_HEADER = "Dropbox-API-Path-Root"


def root_info(account: Account) -> Json:
    return {
        ".tag": "user",
        "root_namespace_id": str(account.home_namespace),
        "home_namespace_id": str(account.home_namespace),
    }


def check_path_root(request: Request, account: Account) -> None:
    """Raises the 422 of a root that is not the account's."""
    header = request.headers.get(_HEADER)
    if header is None:
        return
    try:
        decode = stone_serializers.json_compat_obj_decode
        root = decode(common.PathRoot_validator, json.loads(header))  # type: ignore[no-untyped-call]  # the SDK's parser has no types
    except ValueError as error:
        raise bad_request(f'Invalid HTTP header "{_HEADER}": {error}') from error
    home = str(account.home_namespace)
    if root.is_root() and root.get_root() != home:
        raise _unprocessable("invalid_root", invalid_root=root_info(account))
    if root.is_namespace_id() and root.get_namespace_id() not in {home, str(account.namespace)}:
        raise _unprocessable("no_permission")


def _unprocessable(tag: str, **fields: object) -> Refusal:
    return Refusal(tagged_error(422, tag, union(tag, **fields), dots=2))
