"""Requests and answers to the byte: status, headers, content types, error shapes."""

import json
from typing import Any

import pytest

from tests.contract.dropbox_emulator.users import User


@pytest.mark.parametrize(
    ("route", "argument", "text"),
    [
        ("files/list_folder", {"path": "", "cursor": "x"}, "unknown field 'cursor'"),
        ("files/list_folder", {"path": "x"}, "path: 'x' did not match pattern"),
        (
            "files/list_folder",
            {"path": "/"},
            'path: Specify the root folder as an empty string rather than as "/".',
        ),
        ("files/list_folder", {"path": "", "limit": 2001}, "limit: 2001 is not within range"),
        ("files/get_metadata", {"path": ""}, "path: The root folder is unsupported."),
        ("files/list_folder/continue", {"cursor": "x"}, "cursor: unsupported cursor type"),
        ("files/delete_v2", {}, "missing required field 'path'"),
    ],
)
def test_a_wrong_argument_is_a_400_with_its_reason(
    user: User, route: str, argument: object, text: str
) -> None:
    answer = user.rpc(route, argument)
    assert answer.status_code == 400
    assert answer.headers["Content-Type"] == "text/plain; charset=utf-8"
    start = f'Error in call to API function "{route}": request body: '
    assert answer.text.startswith(start + text)


def test_a_header_argument_must_be_ascii_json(user: User) -> None:
    octets = {"Content-Type": "application/octet-stream"}
    for raw in ('{"path": "/tö.md"}'.encode(), b"{"):
        headers: dict[str, Any] = {**octets, "Dropbox-API-Arg": raw}
        answer = user.post("content", "files/upload", data=b"1", headers=headers)
        assert answer.status_code == 400
        assert answer.text.endswith('"Dropbox-API-Arg": could not decode input as JSON')
    answer = user.post("content", "files/upload", data=b"1", headers=octets)
    assert (answer.status_code, user.account.files()) == (400, {})


def test_the_argument_of_an_upload_may_come_in_the_query(user: User) -> None:
    headers = {"Content-Type": "application/octet-stream"}
    route = 'files/upload?arg={"path":"/a.md","mode":"overwrite"}'
    assert user.post("content", route, data=b"1", headers=headers).status_code == 200


def test_a_wrong_content_type_is_a_400(user: User) -> None:
    headers = {"Content-Type": "text/html"}
    assert user.post("api", "check/user", data="{}", headers=headers).status_code == 400
    assert user.post("content", "files/upload", data=b"1", headers=headers).status_code == 400


def test_a_route_without_an_argument_takes_null_or_nothing(user: User) -> None:
    assert user.rpc("users/get_current_account", None).status_code == 200
    assert user.post("api", "users/get_current_account").status_code == 200


def test_a_route_is_not_found_on_another_host(user: User) -> None:
    assert user.post("content", "files/list_folder", data="{}").status_code == 404
    assert user.post("api", "files/upload", data=b"").status_code == 404


def test_a_call_without_a_token_or_with_a_wrong_one_is_refused(user: User) -> None:
    headers = {"Content-Type": "application/json", "Authorization": ""}
    answer = user.post("api", "check/user", data="{}", headers=headers)
    assert (answer.status_code, "Must provide HTTP header" in answer.text) == (400, True)
    headers["Authorization"] = "Bearer wrong"
    answer = user.post("api", "check/user", data="{}", headers=headers)
    assert answer.json()["error"] == {".tag": "invalid_access_token"}


def test_an_error_is_summed_up_by_its_tags_and_some_dots(user: User) -> None:
    answers = [user.rpc("files/get_metadata", {"path": "/none"}).json() for _ in range(20)]
    error = {".tag": "path", "path": {".tag": "not_found"}}
    assert all(answer["error"] == error for answer in answers)
    summaries = {answer["error_summary"] for answer in answers}
    assert summaries <= {"path/not_found/" + "." * dots for dots in range(4)}
    assert len(summaries) > 1


def test_only_the_error_of_an_upload_has_its_reason_inside(user: User) -> None:
    user.account.put("/a.md", "1")
    arg = json.dumps({"path": "/a.md", "strict_conflict": True})
    headers = {"Content-Type": "application/octet-stream", "Dropbox-API-Arg": arg}
    answer = user.post("content", "files/upload", data=b"2", headers=headers).json()
    error = answer["error"]
    assert error.pop("upload_session_id")
    conflict = {".tag": "conflict", "conflict": {".tag": "file"}}
    assert error == {".tag": "path", "reason": conflict}
    assert answer["error_summary"].startswith("path/conflict/file/")


def test_tags_stand_where_the_type_is_open_and_nowhere_else(user: User) -> None:
    user.account.put("/a.md", "1")
    entry = user.rpc("files/list_folder", {"path": ""}).json()["entries"][0]
    assert entry[".tag"] == user.rpc("files/get_metadata", {"path": "/a.md"}).json()[".tag"]
    revision = user.rpc("files/list_revisions", {"path": "/a.md"}).json()["entries"][0]
    folder = user.rpc("files/create_folder_v2", {"path": "/x"}).json()["metadata"]
    assert ".tag" not in revision
    assert ".tag" not in folder


def test_every_answer_carries_dropboxs_headers(user: User) -> None:
    headers = user.rpc("check/user", {"query": "ö"}).headers
    assert len(headers["X-Dropbox-Request-Id"]) == 32
    assert headers["Content-Type"] == "application/json"
    assert headers["Cache-Control"] == "no-cache"
    assert headers["X-Robots-Tag"] == "noindex, nofollow, noimageindex"


def test_a_download_has_an_etag_and_ranges(user: User) -> None:
    there = user.account.put("/tö.md", "0123456789")
    arg = json.dumps({"path": "/tö.md"})
    answer = user.post("content", "files/download", headers={"Dropbox-API-Arg": arg})
    assert answer.headers["Etag"] == f'W/"{there.rev}"'
    assert json.loads(answer.headers["Dropbox-API-Result"])["name"] == "tö.md"
    for asked, status, body in (
        ("bytes=2-4", 206, b"234"),
        ("bytes=8-", 206, b"89"),
        ("bytes=-3", 206, b"789"),
        ("bytes=10-", 416, b""),
    ):
        headers = {"Dropbox-API-Arg": arg, "Range": asked}
        part = user.post("content", "files/download", headers=headers)
        assert (part.status_code, part.content) == (status, body)
    headers = {"Dropbox-API-Arg": arg, "If-None-Match": answer.headers["Etag"]}
    assert user.post("content", "files/download", headers=headers).status_code == 304


def test_fields_and_results_that_are_not_known_yet_do_not_hurt_the_sdk(user: User) -> None:
    user.account.set(unknown_fields=True)
    assert user.upload("/a.md", b"1").name == "a.md"
    assert "added_in_a_later_version" in user.rpc("check/user", {"query": ""}).json()
