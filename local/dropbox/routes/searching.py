"""files/search_v2: names and words, without a promise of completeness."""

import json
from typing import Any

from dropbox import files

from local.dropbox import paths
from local.dropbox.calls import Call, route
from local.dropbox.encoding import base64url, from_base64url
from local.dropbox.entries import Entry, File, Json, tagged_metadata
from local.dropbox.wire import RouteError, decoded

_METADATA = "files.metadata.read"
_DEFAULT_MOST = 100


@route("files", files.search_v2, scope=_METADATA)
def search(call: Call, arg: Any) -> Json:
    options = arg.options
    asked: Json = {
        "query": arg.query,
        "path": paths.lower((options and options.path) or ""),
        "most": (options and options.max_results) or _DEFAULT_MOST,
        "names_only": bool(options and options.filename_only),
        "extensions": (options and options.file_extensions) or [],
        "offset": 0,
    }
    return _matches(call, asked)


@route("files", files.search_continue_v2, scope=_METADATA)
def search_continue(call: Call, arg: Any) -> Json:
    try:
        asked = decoded(from_base64url(arg.cursor))
    except ValueError:
        raise RouteError("reset") from None
    return _matches(call, asked)


def _matches(call: Call, asked: Json) -> Json:
    tree = call.account.tree
    with call.account.lock:
        below = [entry for path, entry in tree.walk(asked["path"]) if path != asked["path"]]
        matching = [(entry, kind) for entry in below if (kind := _kind(call, entry, asked))]
    end = asked["offset"] + asked["most"]
    answer: Json = {
        "matches": [_shown(entry, kind) for entry, kind in matching[asked["offset"] : end]],
        "has_more": len(matching) > end,
    }
    if answer["has_more"]:
        answer["cursor"] = base64url(json.dumps({**asked, "offset": end}).encode())
    return answer


def _kind(call: Call, entry: Entry, asked: Json) -> str | None:
    name = paths.name_of(entry.path_display).lower()
    query = asked["query"].lower()
    if asked["extensions"] and name.rpartition(".")[2] not in asked["extensions"]:
        return None
    if query in name:
        return "filename"
    if asked["names_only"] or not isinstance(entry, File):
        return None
    text = call.account.storage.read(entry.content_hash).decode("utf-8", "replace")
    return "file_content" if query in text.lower() else None


def _shown(entry: Entry, kind: str) -> Json:
    return {
        "match_type": {".tag": kind},
        "metadata": {".tag": "metadata", "metadata": tagged_metadata(entry)},
    }
