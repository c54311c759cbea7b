"""files/list_folder and what continues it."""

import re
import time
from typing import Any

from dropbox import files

from local.dropbox import paths
from local.dropbox.accounts import Account
from local.dropbox.calls import Call, route
from local.dropbox.entries import File, Json, tagged_metadata
from local.dropbox.knobs import AppFolder, Content
from local.dropbox.listing import Cursor, CursorMalformed, Page
from local.dropbox.routes.lookup import located
from local.dropbox.wire import RouteError

_METADATA = "files.metadata.read"
_POLL_SECONDS = 0.1


@route("files", files.list_folder, scope=_METADATA)
def list_folder(call: Call, arg: Any) -> Json:
    with call.account.lock:
        return _shown(call.account, call.account.first_page(_cursor(call, arg)))


@route("files", files.list_folder_get_latest_cursor, scope=_METADATA)
def get_latest_cursor(call: Call, arg: Any) -> Json:
    with call.account.lock:
        return {"cursor": str(_cursor(call, arg))}


@route("files", files.list_folder_continue, scope=_METADATA)
def list_folder_continue(call: Call, arg: Any) -> Json:
    account = call.account
    cursor = _parsed(call, arg.cursor)
    if not account.owns(cursor):
        raise call.bad_argument("cursor: this cursor belongs to another user")
    with account.lock:
        account.notice_outside_edits()
        if account.is_outdated(cursor):
            raise RouteError("reset")
        if cursor.root and account.tree.get(cursor.root) is None:
            raise RouteError("path/not_found")
        return _shown(account, account.page_after(cursor))


def _cursor(call: Call, arg: Any) -> Cursor:
    account = call.account
    if arg.path == "/":
        text = 'Specify the root folder as an empty string rather than as "/".'
        raise call.bad_argument(f"path: {text}")
    root = paths.lower(located(call, re.sub("//+", "/", arg.path), "path"))
    account.notice_outside_edits()
    if account.knobs.app_folder is AppFolder.NOT_FOUND:
        raise RouteError("path/not_found")
    entry = account.tree.get(root)
    if root and entry is None:
        raise RouteError("path/not_found")
    if isinstance(entry, File):
        raise RouteError("path/not_folder")
    return account.first_cursor(
        root, recursive=arg.recursive, include_deleted=arg.include_deleted, limit=arg.limit
    )


def _parsed(call: Call, text: str) -> Cursor:
    try:
        return Cursor.parse(text)
    except CursorMalformed:
        raise call.bad_argument("cursor: unsupported cursor type") from None


def _shown(account: Account, page: Page) -> Json:
    entries = [tagged_metadata(entry) for entry in page.entries]
    for path_lower, content in account.knobs.content.items():
        _mark([shown for shown in entries if shown["path_lower"] == path_lower], content)
    return {"entries": entries, "cursor": str(page.cursor), "has_more": page.has_more}


def _mark(entries: list[Json], content: Content) -> None:
    for shown in entries:
        match content:
            case Content.SYMLINK:
                shown["symlink_info"] = {"target": "/elsewhere"}
            case Content.UNSUPPORTED:
                shown |= {"is_downloadable": False, "export_info": {"export_as": "html"}}
            case Content.RESTRICTED | Content.WRONG_HASH:
                pass


@route("files", files.list_folder_longpoll, scope=None)
def longpoll(call: Call, arg: Any) -> Json:
    """Answers as soon as something follows the cursor, at the latest after `timeout`."""
    cursor = _parsed(call, arg.cursor)
    deadline = time.monotonic() + arg.timeout
    while not _has_news(call.account, cursor):
        if time.monotonic() >= deadline or call.handouts.pause(_POLL_SECONDS):
            return {"changes": False}
    return {"changes": True}


def _has_news(account: Account, cursor: Cursor) -> bool:
    with account.lock:
        account.notice_outside_edits()
        if account.is_outdated(cursor):
            raise RouteError("reset")
        return cursor.after is not None or bool(account.page_after(cursor).entries)
