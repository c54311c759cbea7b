"""files/upload_session/*: a file in pieces, committed at the end."""

from datetime import timedelta
from typing import Any

from dropbox import files

from local.dropbox.accounts import UploadSession
from local.dropbox.calls import Call, route
from local.dropbox.encoding import base64url
from local.dropbox.entries import Json, content_hash, metadata
from local.dropbox.handouts import secret_key
from local.dropbox.routes.writing import LARGEST_BODY, commit
from local.dropbox.wire import RouteError

_WRITE = "files.content.write"
_LIFETIME = timedelta(days=7)


@route("files", files.upload_session_start, scope=_WRITE)
def start(call: Call, arg: Any) -> Json:
    _check_body(call, arg.content_hash)
    session_id = "pid_upload_session:" + base64url(secret_key().encode())
    session = UploadSession(bytearray(call.body), call.now(), closed=arg.close)
    call.account.desk.upload_sessions[session_id] = session
    return {"session_id": session_id}


@route("files", files.upload_session_append_v2, scope=_WRITE)
def append(call: Call, arg: Any) -> None:
    _check_body(call, arg.content_hash)
    with call.account.lock:
        session = _session(call, arg.cursor)
        if session.closed:
            raise RouteError("closed")
        _check_offset(session, arg.cursor.offset)
        session.data += call.body
        session.closed = arg.close


@route("files", files.upload_session_finish, scope=_WRITE, writes=True)
def finish(call: Call, arg: Any) -> Json:
    _check_body(call, arg.content_hash)
    return _finished(call, arg, call.body)


@route("files", files.upload_session_finish_batch_v2, scope=_WRITE, writes=True)
def finish_batch(call: Call, arg: Any) -> Json:
    return {"entries": [_batch_entry(call, entry) for entry in arg.entries]}


def _batch_entry(call: Call, entry: Any) -> Json:
    try:
        _check_closed(call, entry.cursor)
        return {".tag": "success", **_finished(call, entry, b"")}
    except RouteError as error:
        return {".tag": "failure", "failure": error.error}


def _finished(call: Call, arg: Any, last: bytes) -> Json:
    if arg.commit.path == "/":
        raise call.root_refused("commit.path")
    with call.account.lock:
        session = _session(call, arg.cursor, "lookup_failed/")
        _check_offset(session, arg.cursor.offset, "lookup_failed/")
        file = commit(call, arg.commit, bytes(session.data) + last)
        del call.account.desk.upload_sessions[arg.cursor.session_id]
    return metadata(file)


def _check_closed(call: Call, cursor: Any) -> None:
    if not _session(call, cursor, "lookup_failed/").closed:
        raise RouteError("lookup_failed/not_closed")


def _check_body(call: Call, given: str | None) -> None:
    if len(call.body) > LARGEST_BODY:
        raise RouteError("payload_too_large")
    if given and given != content_hash(call.body):
        raise RouteError("content_hash_mismatch")


def _session(call: Call, cursor: Any, tag: str = "") -> UploadSession:
    session = call.account.desk.upload_sessions.get(cursor.session_id)
    if session is None or call.now() >= session.started + _LIFETIME:
        raise RouteError(f"{tag}not_found")
    return session


def _check_offset(session: UploadSession, offset: int, tag: str = "") -> None:
    if offset != len(session.data):
        raise RouteError(f"{tag}incorrect_offset", correct_offset=len(session.data))
