"""The whole product on one machine: the three functions, and emulators of what they talk to."""

import shutil
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from local import aws, lines, ports
from local.aws import Aws
from local.dropbox import remembering
from local.dropbox.accounts import Account
from local.dropbox.folder import FolderStorage
from local.dropbox.grants import App
from local.dropbox.server import DropboxEmulator
from local.embedders import MODELS
from local.gateway import Gateway
from local.lambdas import Function, Settings
from local.openai import EmbeddingsServer
from local.processes import Sink, into
from local.queue import Poller
from local.throttle import TEMPLATE

_ROOT: Final = Path(__file__).parent.parent
_TIMEOUTS: Final = {"mcp": 30.0, "webhook": 9.0, "indexer": 120.0}  # seconds, as in the template

_REQUEST_BYTES: Final = {"minilm": 16_000, "wordllama": 300_000, "hashed": 300_000}
"""What a model on one processor embeds in about a second."""


@dataclass(frozen=True, slots=True)
class Options:
    """How one run differs from another."""

    folder: Path
    """What the user's Dropbox shows as the app's folder."""
    state: Path
    """Where everything else is kept from run to run."""
    port: int | None = None
    """The gateway's. The emulators take the next three. None: any that are free."""
    model: str = "minilm"
    workers: int = 4
    """Processes that each function may have. One starts at once, the others when needed."""
    functions: Path = _ROOT / "functions"
    environment: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """What else the functions find in their environment."""
    is_throttled: bool = False
    """Whether the gateway lets through no more than the template's would."""


class Product:
    """`with Product(options) as product:` serves at `product.url` until the block ends.

    `say` gets a line for each event. All that the functions print is in the file `product.log`.
    """

    dropbox: DropboxEmulator
    account: Account
    embeddings: EmbeddingsServer
    aws: Aws
    functions: Mapping[str, Function]
    gateway: Gateway

    def __init__(self, options: Options, say: Sink = print) -> None:
        self.options = options
        self.log = options.state / "functions.log"
        self._say = say
        self._running = ExitStack()
        self._port = self._choose("The server", 0)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}"

    def start(self) -> "Product":
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def stop(self) -> None:
        """End everything in turn. What MiniStack holds is written to the state folder last."""
        self._running.close()

    def __enter__(self) -> "Product":
        return self.start()

    def __exit__(self, *_: object) -> None:
        self.stop()

    def trouble(self) -> str | None:
        """Why the product cannot go on, if so."""
        code = self.aws.ministack.exit_code
        return None if code is None else f"MiniStack ended with exit code {code}."

    def _start(self) -> None:
        self.options.state.mkdir(parents=True, exist_ok=True)
        self.log.write_text("")
        app = App(redirect_uris=(f"{self.url}/dropbox/callback",))
        with ThreadPoolExecutor() as at_once:
            embedder = at_once.submit(MODELS[self.options.model])
            self._start_aws(app)
            self._start_dropbox(app)
            self.embeddings = EmbeddingsServer(embedder.result(), self._choose("The embeddings", 2))
            self.embeddings.start()
            self._running.callback(self.embeddings.stop)
        self._start_functions()
        self._start_gateway()

    def _start_aws(self, app: App) -> None:
        secrets = {
            "dropbox-app-key": app.key,
            "dropbox-app-secret": app.secret,
            "openai-api-key": "local",
        }
        port = self._choose("AWS", 3)
        self.aws = aws.start(self.options.state / "aws", port, secrets, self._say)
        self._running.callback(self.aws.stop)

    def _start_dropbox(self, app: App) -> None:
        if not self.options.folder.exists():
            shutil.copytree(_ROOT / "local/examples", self.options.folder)
        self.dropbox = DropboxEmulator(
            app, port=self._choose("Dropbox", 1), webhook_url=f"{self.url}/dropbox/webhook"
        )
        state = self.options.state / "dropbox"
        self.account = self.dropbox.add_account(storage=FolderStorage(self.options.folder, state))
        remembering.keep(self.dropbox.grants, state / "grants.json")
        self.dropbox.start()
        self._running.callback(self.dropbox.stop)

    def _start_functions(self) -> None:
        temporary = self.options.state.resolve() / "temp"
        shutil.rmtree(temporary, ignore_errors=True)
        temporary.mkdir()
        environment = {
            **self.aws.environment,
            "PUBLIC_BASE_URL": self.url,
            "DROPBOX_BASE_URL": self.dropbox.base_url,
            "OPENAI_BASE_URL": self.embeddings.url,
            "EMBEDDING_MODEL": self.options.model,
            "EMBEDDING_DIMENSIONS": str(self.embeddings.dimensions),
            "EMBEDDING_REQUEST_BYTES": str(_REQUEST_BYTES[self.options.model]),
            "PYTHONPATH": str(_ROOT / "layers/memorybox"),
            "TMPDIR": str(temporary),
            **self.options.environment,
        }
        self.functions = {
            name: Function(
                Settings(name, self.options.functions.resolve() / name, timeout, environment),
                self._printed_by(name),
                self.options.workers,
            )
            for name, timeout in _TIMEOUTS.items()
        }
        poller = Poller(
            self.aws.queue_url,
            self.aws.connection,
            self.functions["indexer"].invoke,
            lambda batch: self._say(lines.batch(batch)),
            self.options.workers,
        )
        poller.start()
        # Ended the other way round: a batch under way ends with its function, and goes back.
        self._running.callback(poller.stop)
        for function in self.functions.values():
            self._running.callback(function.stop)
        self._running.callback(poller.pause)
        for function in self.functions.values():
            function.await_start()

    def _start_gateway(self) -> None:
        webhook = self.functions["webhook"].invoke
        self.gateway = Gateway(
            {
                "GET /dropbox/webhook": webhook,
                "POST /dropbox/webhook": webhook,
                "$default": self.functions["mcp"].invoke,
            },
            lambda access: self._say(lines.access(access)),
            self._port,
            limits=TEMPLATE if self.options.is_throttled else {},
        )
        self.gateway.start()
        self._running.callback(self.gateway.stop)

    def _printed_by(self, name: str) -> Sink:
        keep = into(self.log)

        def sink(line: str) -> None:
            keep(line)
            if said := lines.trouble(name, line):
                self._say(said)

        return sink

    def _choose(self, server: str, place: int) -> int:
        """A port for a server: the one it always has, unless that is taken."""
        if self.options.port is None:
            return ports.free()
        wanted = self.options.port + place
        port = ports.at(wanted)
        if port != wanted:
            self._say(f"Port {wanted} is taken. {server} listens on {port} instead.")
        return port
