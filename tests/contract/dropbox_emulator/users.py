"""A user of the emulator, as the real SDK and a bare HTTP client see it."""

import json
from contextlib import closing
from dataclasses import dataclass
from typing import Any

import dropbox
import pytest
import requests
from dropbox import exceptions, files

from local.dropbox.accounts import Account
from local.dropbox.sdk import LoopbackSession


@dataclass(frozen=True, slots=True)
class User:
    """One account of its own for a test, the SDK's client for it, and a bare session."""

    account: Account
    client: Any
    session: LoopbackSession
    token: str

    def post(self, host: str, route: str, **options: Any) -> requests.Response:
        headers = {"Authorization": f"Bearer {self.token}", **options.pop("headers", {})}
        url = f"https://{host}.dropboxapi.com/2/{route}"
        return self.session.request("POST", url, headers=headers, **options)

    def rpc(self, route: str, argument: object) -> requests.Response:
        headers = {"Content-Type": "application/json"}
        return self.post("api", route, data=json.dumps(argument), headers=headers)

    def upload(self, path: str, data: bytes, mode: Any = files.WriteMode.add, **other: Any) -> Any:
        other.setdefault("strict_conflict", True)
        return self.client.files_upload(data, path, mode=mode, **other)

    def download(self, path: str) -> tuple[Any, bytes]:
        metadata, response = self.client.files_download(path)
        with closing(response):
            return metadata, response.content


def client_of(session: LoopbackSession, token: str) -> Any:
    return dropbox.Dropbox(
        oauth2_access_token=token,
        session=session,
        timeout=(3, 10),
        max_retries_on_error=0,
        max_retries_on_rate_limit=0,
    )


def refused(call: Any, *arguments: Any, **named: Any) -> Any:
    """The route's error of a call that must end in one."""
    with pytest.raises(exceptions.ApiError) as caught:
        call(*arguments, **named)
    return caught.value.error


def listed(client: Any, path: str = "", **named: Any) -> tuple[list[Any], str]:
    """All entries of a listing, and the cursor behind them."""
    page = client.files_list_folder(path, **named)
    entries = list(page.entries)
    while page.has_more:
        page = client.files_list_folder_continue(page.cursor)
        entries += page.entries
    return entries, page.cursor


def changes(client: Any, cursor: str) -> list[str]:
    page = client.files_list_folder_continue(cursor)
    kind = {files.FileMetadata: "file", files.FolderMetadata: "folder"}
    return [f"{kind.get(type(e), 'deleted')} {e.path_display}" for e in page.entries]
