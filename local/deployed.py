"""The template itself on one machine: built for it, and deployed by SAM onto MiniStack.

Requests go through MiniStack's API Gateway, messages through its queue, and every function has what
its own role allows and no more. Dropbox and the embeddings are the same emulators as of `make run`.
"""

import http.client
import shutil
from collections.abc import Mapping
from contextlib import ExitStack
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, Final
from urllib.parse import urlsplit

import boto3
import requests
import yaml

from deploy.build import HERE, build
from deploy.stack import Stack
from local.aws import REGION, Connection, connection
from local.dropbox.accounts import Account
from local.dropbox.folder import FolderStorage
from local.dropbox.grants import App
from local.dropbox.server import DropboxEmulator
from local.ministack import MiniStack
from local.openai import EmbeddingsServer
from local.product import Options

STAGE: Final = "here"
_FIRST_CALL: Final = 120.0  # seconds


class Deployed:
    """`with Deployed(options) as deployed:` serves at `deployed.url` until the block ends.

    Of the options it takes `folder`, `state` and `model`. Nothing is kept but the notes.
    """

    dropbox: DropboxEmulator
    account: Account
    embeddings: EmbeddingsServer
    outputs: Mapping[str, str]
    """What the template says about its resources."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self._running = ExitStack()
        self._front = self._running.enter_context(ThreadingHTTPServer(("127.0.0.1", 0), _Forwarder))
        self.url = f"http://127.0.0.1:{self._front.server_port}"

    @property
    def connection(self) -> Connection:
        """Keyword arguments of `boto3.client`, for one who may do everything."""
        return connection(self._ministack.endpoint)

    def __enter__(self) -> "Deployed":
        try:
            self._start()
        except BaseException:
            self._running.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._running.close()

    def _start(self) -> None:
        self.options.state.mkdir(parents=True, exist_ok=True)
        template = _emulated(build(HERE))
        self._ministack = MiniStack(self.options.state / "aws", environment={"AUTH": "true"})
        self._running.callback(self._stop_ministack)
        app = App(redirect_uris=(f"{self.url}/dropbox/callback",))
        self.dropbox = DropboxEmulator(app, webhook_url=f"{self.url}/dropbox/webhook")
        storage = FolderStorage(self.options.folder, self.options.state / "dropbox")
        self.account = self.dropbox.add_account(storage=storage)
        self._running.enter_context(self.dropbox)
        self.embeddings = self._running.enter_context(EmbeddingsServer(self.options.model))
        self._ministack.await_start()
        self._keep_secrets(app)
        self._deploy(template)
        self._serve()

    def _stop_ministack(self) -> None:
        self._ministack.stop()
        # Each of its workers unpacks the layers anew.
        shutil.rmtree(self.options.state / "aws/temp", ignore_errors=True)

    def _keep_secrets(self, app: App) -> None:
        ssm = boto3.client("ssm", **self.connection)
        for name, value in {
            "dropbox-app-key": app.key,
            "dropbox-app-secret": app.secret,
            "openai-api-key": "none",
        }.items():
            ssm.put_parameter(Name=f"/memorybox/{STAGE}/{name}", Value=value, Type="SecureString")

    def _deploy(self, template: Path) -> None:
        environment = {
            "AWS_ENDPOINT_URL": self._ministack.endpoint,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
        }
        stack = Stack(boto3.client("cloudformation", **self.connection), STAGE, environment)
        stack.deploy(
            template,
            {
                "PublicBaseUrl": self.url,
                "DropboxBaseUrl": self.dropbox.base_url,
                "EmbeddingBaseUrl": self.embeddings.url,
                "EmbeddingModel": self.options.model,
                "EmbeddingDimensions": str(self.embeddings.dimensions),
            },
        )
        self.outputs = stack.outputs()

    def _serve(self) -> None:
        """Give the API an origin of its own: MiniStack tells APIs apart by path or by host."""
        place = f"{self._ministack.endpoint}/_aws/execute-api/{self.outputs['ApiId']}/$default"
        self._front.RequestHandlerClass = type("_Front", (_Forwarder,), {"place": place})
        thread = Thread(target=self._front.serve_forever)
        thread.start()
        self._running.callback(thread.join)
        self._running.callback(self._front.shutdown)
        for path in "/", "/dropbox/webhook?challenge=here":  # first calls unpack the layers
            requests.get(f"{self.url}{path}", timeout=_FIRST_CALL).raise_for_status()


class _Forwarder(BaseHTTPRequestHandler):
    """Passes everything on unchanged, but for the beginning of the path."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1
    place = ""

    def do(self) -> None:
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        to = urlsplit(self.place)
        connection = http.client.HTTPConnection(to.netloc, timeout=_FIRST_CALL)
        connection.putrequest(
            self.command, to.path + self.path, skip_host=True, skip_accept_encoding=True
        )
        for name, value in self.headers.items():
            connection.putheader(name, value)
        connection.endheaders(body)
        answer = connection.getresponse()
        content = answer.read()
        self.send_response_only(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in {"content-length", "transfer-encoding", "connection"}:
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)
        connection.close()

    do_GET = do_POST = do_DELETE = do_OPTIONS = do_HEAD = do  # noqa: N815 - the names it looks for

    def log_message(self, *_: object) -> None: ...


def _emulated(template: Path) -> Path:
    """The template, less what MiniStack gets wrong when it holds a function to its role.

    To it no encryption context fulfils a condition, and a batch of messages needs an action of its
    own, which IAM does not know.
    """
    document = yaml.safe_load(template.read_text())
    policy = document["Resources"]["TokenKey"]["Properties"]["KeyPolicy"]
    policy["Statement"] = [each for each in policy["Statement"] if each["Effect"] == "Allow"]
    for statement in _statements(document):
        if "kms:" in str(statement["Action"]):
            statement.pop("Condition", None)
        if statement["Action"] == "sqs:SendMessage":
            statement["Action"] = ["sqs:SendMessage", "sqs:SendMessageBatch"]
    emulated = template.with_name("emulated.yaml")
    emulated.write_text(yaml.safe_dump(document, sort_keys=False))
    return emulated


def _statements(node: Any) -> list[dict[str, Any]]:
    """Every statement of every policy in a template."""
    if isinstance(node, list):
        return [statement for item in node for statement in _statements(item)]
    if not isinstance(node, dict):
        return []
    found = [node] if "Effect" in node else []
    return found + [statement for item in node.values() for statement in _statements(item)]
