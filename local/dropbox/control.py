"""Steering over HTTP, for tests in other processes: everything below `/_emulator/`.

GET  counts, log?route=&account=, accounts, files?account=
POST accounts, token, edits, knobs, faults, webhooks, verify, clock, app, reset (JSON in and out)
"""

from collections.abc import Callable
from dataclasses import asdict, fields
from enum import StrEnum
from typing import Any

from local.dropbox.accounts import Account, Profile
from local.dropbox.entries import Json
from local.dropbox.exchange import Request
from local.dropbox.faults import Effect, Fault
from local.dropbox.knobs import Content, Knobs
from local.dropbox.service import Service
from local.dropbox.storage import NotKept
from local.dropbox.wire import JSON_TYPE, TEXT_TYPE, Response, decoded, encoded, result

CONTROL = "/_emulator/"


class Control:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._reads: dict[str, Callable[[dict[str, str]], Any]] = {
            "counts": self._counts,
            "log": self._log,
            "accounts": self._accounts,
            "files": self._files,
        }
        self._actions: dict[str, Callable[[Any], Any]] = {
            "accounts": self._add_account,
            "token": self._token,
            "edits": self._edit,
            "knobs": self._turn,
            "faults": self._add_faults,
            "webhooks": self._set_webhooks,
            "verify": lambda _: {"verified": service.webhooks.verify()},
            "clock": self._advance,
            "app": self._set_app,
            "reset": lambda _: service.reset(),
        }

    def answer(self, request: Request) -> Response:
        name = request.path.removeprefix(CONTROL)
        body = request.body()
        try:
            if request.method == "GET" and name in self._reads:
                return result(self._reads[name](request.query))
            if request.method == "POST" and name in self._actions:
                return result(self._actions[name](decoded(body) if body else {}))
        except (KeyError, TypeError, ValueError, NotKept) as error:
            return Response(400, encoded({"error": repr(error)}), JSON_TYPE)
        return Response(404, b"Not Found")

    def _account(self, asked: Json | dict[str, str]) -> Account:
        """The account that is named, or the only one."""
        accounts = self._service.accounts
        if "account" in asked:
            return accounts[asked["account"]]
        (only,) = accounts.values()
        return only

    def _counts(self, query: dict[str, str]) -> Json:
        return self._service.log.counts(account=query.get("account"))

    def _log(self, query: dict[str, str]) -> list[Json]:
        calls = self._service.log.calls(query.get("route", "*"), query.get("account"))
        return [{**asdict(call), "at": call.at.isoformat()} for call in calls]

    def _accounts(self, _query: dict[str, str]) -> list[Json]:
        return [
            {"account_id": account.account_id, **asdict(account.profile)}
            for account in self._service.accounts.values()
        ]

    def _files(self, query: dict[str, str]) -> dict[str, str]:
        files = self._account(query).files()
        return {path: data.decode("utf-8", "replace") for path, data in files.items()}

    def _add_account(self, asked: Json) -> Json:
        account = self._service.add_account(Profile(**asked))
        return {"account_id": account.account_id, **self._token({"account": account.account_id})}

    def _token(self, asked: Json) -> Json:
        access, refresh = self._service.grants.issue(self._account(asked).account_id)
        return {"access_token": access, "refresh_token": refresh}

    def _edit(self, asked: Json) -> None:
        """`{"put": path, "text": ...}`, `{"delete": path}`, `{"move": path, "to": ...}` ..."""
        account = self._account(asked)
        match asked:
            case {"put": path, "text": text}:
                account.put(path, text)
            case {"make_folder": path}:
                account.make_folder(path)
            case {"delete": path}:
                account.delete(path)
            case {"move": path, "to": to}:
                account.move(path, to)
            case _:
                raise ValueError(asked)

    def _turn(self, asked: Json) -> None:
        account = self._account(asked)
        account.set(
            **{name: _knob(name, value) for name, value in asked.items() if name != "account"}
        )

    def _add_faults(self, asked: Json) -> None:
        """`{"faults": [{"route": "files/upload", "effect": "lost_response"}]}`; [] clears."""
        faults = [_fault(fault) for fault in asked["faults"]]
        if not faults:
            self._service.faults.clear()
        self._service.faults.add(*faults)

    def _set_webhooks(self, asked: Json) -> None:
        if "url" in asked:
            self._service.webhooks.url = asked.pop("url")
        self._service.webhooks.set(**asked)

    def _advance(self, asked: Json) -> Json:
        self._service.clock.advance(asked["advance"])
        return {"now": self._service.clock.now().isoformat()}

    def _set_app(self, asked: Json) -> None:
        """`{"auto_approve": account_id | "deny" | null}`"""
        self._service.auto_approve = asked["auto_approve"]


def _knob(name: str, value: Any) -> Any:
    """A JSON value as the type that the knob has by default."""
    if name == "content":
        return {path: Content(why) for path, why in value.items()}
    default = next(field.default for field in fields(Knobs) if field.name == name)
    return type(default)(value) if isinstance(default, StrEnum) else value


def _fault(asked: Json) -> Fault:
    typed: Json = {**asked, "effect": Effect(asked["effect"])}
    if "answer" in asked:
        typed["answer"] = _answer(asked["answer"])
    return Fault(**typed)


def _answer(asked: Json) -> Response:
    """`{"status": 429, "body": text or JSON, "headers": {...}}`"""
    body = asked.get("body", "")
    if isinstance(body, str):
        return Response(asked["status"], body.encode(), TEXT_TYPE, asked.get("headers", {}))
    return Response(asked["status"], encoded(body), JSON_TYPE, asked.get("headers", {}))
