"""The batch routes, done at once or as a job that is asked for."""

from collections.abc import Callable, Sequence
from typing import Any
from uuid import uuid4

from dropbox import files

from local.dropbox.calls import Call, route
from local.dropbox.entries import Json, metadata, tagged_metadata
from local.dropbox.routes.moving import copied, moved
from local.dropbox.routes.writing import made_folder, removed
from local.dropbox.wire import RouteError

_WRITE = "files.content.write"


@route("files", files.delete_batch, scope=_WRITE, writes=True)
def delete_batch(call: Call, arg: Any) -> Json:
    def delete(entry: Any) -> Json:
        return {"metadata": tagged_metadata(removed(call, entry.path, entry.parent_rev))}

    return _answer(call, [_outcome(delete, entry) for entry in arg.entries])


@route("files", files.create_folder_batch, scope=_WRITE, writes=True)
def create_folder_batch(call: Call, arg: Any) -> Json:
    def create(path: str) -> Json:
        return {"metadata": metadata(made_folder(call, path, autorename=arg.autorename))}

    return _answer(call, [_outcome(create, path) for path in arg.paths], is_job=arg.force_async)


@route("files", files.move_batch_v2, scope=_WRITE, writes=True)
def move_batch(call: Call, arg: Any) -> Json:
    def move(entry: Any) -> Json:
        return {"success": tagged_metadata(moved(call, entry, autorename=arg.autorename))}

    return _answer(call, [_relocation(move, entry) for entry in arg.entries])


@route("files", files.copy_batch_v2, scope=_WRITE, writes=True)
def copy_batch(call: Call, arg: Any) -> Json:
    def copy(entry: Any) -> Json:
        return {"success": tagged_metadata(copied(call, entry, autorename=arg.autorename))}

    return _answer(call, [_relocation(copy, entry) for entry in arg.entries])


def _outcome(act: Callable[[Any], Json], asked: Any) -> Json:
    try:
        return {".tag": "success", **act(asked)}
    except RouteError as error:
        return {".tag": "failure", "failure": error.error}


def _relocation(act: Callable[[Any], Json], asked: Any) -> Json:
    outcome = _outcome(act, asked)
    if outcome[".tag"] == "failure":
        error = outcome["failure"]
        outcome["failure"] = {".tag": "relocation_error", "relocation_error": error}
    return outcome


def _answer(call: Call, entries: Sequence[Json], *, is_job: bool = False) -> Json:
    complete: Json = {".tag": "complete", "entries": list(entries)}
    if not (is_job or call.account.knobs.force_async_jobs):
        return complete
    job = f"dbjid:{uuid4().hex}"
    call.account.desk.jobs[job] = [complete, {".tag": "in_progress"}]
    return {".tag": "async_job_id", "async_job_id": job}


def _check(call: Call, arg: Any) -> Json:
    """`in_progress` the first time, then the result for as long as it is asked for."""
    answers = call.account.desk.jobs.get(arg.async_job_id)
    if answers is None:
        raise RouteError("invalid_async_job_id")
    return answers.pop() if len(answers) > 1 else answers[0]


delete_batch_check = route("files", files.delete_batch_check, scope=_WRITE)(_check)
create_folder_batch_check = route("files", files.create_folder_batch_check, scope=_WRITE)(_check)
move_batch_check = route("files", files.move_batch_check_v2, scope=_WRITE)(_check)
copy_batch_check = route("files", files.copy_batch_check_v2, scope=_WRITE)(_check)
