"""Looks at the product with mcp-posture, over TLS on this machine.

`python -m tests.security.posture PATH/TO/mcp-posture` fails if it finds something of weight "high".
The scanner needs Python 3.12 and is not among our packages: `pip install mcp-posture` elsewhere.
"""

import shutil
import socket
import ssl
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from urllib.parse import urlsplit

from local.product import Options, Product


def scan(scanner: str) -> int:
    """The exit code of the scanner, which says itself what it found."""
    with TemporaryDirectory() as place:
        folder = Path(place)
        certificate, key = _certificate(folder)
        with socket.create_server(("127.0.0.1", 0)) as listening:
            base_url = f"https://localhost:{listening.getsockname()[1]}"
            options = Options(
                folder / "box",
                folder / "state",
                model="hashed",
                environment={"PUBLIC_BASE_URL": base_url},
            )
            with Product(options, say=lambda _: None) as product:
                context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
                context.load_cert_chain(certificate, key)
                with _relaying(listening, context, urlsplit(product.url).port or 0):
                    command = [scanner, "scan", "--allow-private", "--ca-bundle", str(certificate)]
                    ran = subprocess.run(
                        [*command, "--fail-on", "high", f"{base_url}/mcp"], check=False
                    )
    return ran.returncode


def _certificate(folder: Path) -> tuple[Path, Path]:
    certificate, key = folder / "certificate.pem", folder / "key.pem"
    kind = ["-x509", "-newkey", "rsa:2048", "-nodes", "-days", "90"]
    name = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"]
    subprocess.run(
        [
            shutil.which("openssl") or "openssl",
            "req",
            *kind,
            *name,
            "-keyout",
            key,
            "-out",
            certificate,
        ],
        check=True,
        capture_output=True,
    )
    return certificate, key


@contextmanager
def _relaying(listening: socket.socket, context: ssl.SSLContext, port: int) -> Iterator[None]:
    """What API Gateway does: it ends TLS, and passes on what is in it."""

    def accept() -> None:
        with suppress(OSError):  # closed at the end
            while True:
                connection, _ = listening.accept()
                Thread(target=relay, args=(connection,), daemon=True).start()

    def relay(connection: socket.socket) -> None:
        with (
            suppress(OSError),
            context.wrap_socket(connection, server_side=True) as outside,
            socket.create_connection(("127.0.0.1", port)) as inside,
        ):
            back = Thread(target=pump, args=(inside, outside), daemon=True)
            back.start()
            pump(outside, inside)
            back.join()

    def pump(source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while data := source.recv(65_536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)

    Thread(target=accept, daemon=True).start()
    yield
    listening.shutdown(socket.SHUT_RDWR)


if __name__ == "__main__":
    sys.exit(scan(sys.argv[1]))
