"""`python -m local.dropbox`: one account whose app folder is a real folder."""

import argparse
import signal
import threading
from pathlib import Path

from local.dropbox import remembering
from local.dropbox.accounts import Profile
from local.dropbox.folder import FolderStorage
from local.dropbox.grants import App
from local.dropbox.server import DropboxEmulator


def main() -> None:
    options = _options()
    app = App(options.app_key, options.app_secret, tuple(options.redirect_uri))
    emulator = DropboxEmulator(app, port=options.port, webhook_url=options.webhook_url)
    profile = Profile(email=options.email, plan=options.plan)
    account = emulator.add_account(profile, FolderStorage(options.folder, options.state))
    remembering.keep(emulator.grants, options.state / "grants.json")
    if options.auto_approve:
        emulator.auto_approve = account.account_id
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    with emulator:
        print(f"Dropbox emulator: {emulator.base_url}  folder: {options.folder}", flush=True)
        stop.wait()


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.dropbox", description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("box"), help="where the notes are")
    parser.add_argument("--state", type=Path, default=Path(".local/dropbox"), help="revisions")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--app-key", default=App().key)
    parser.add_argument("--app-secret", default=App().secret)
    parser.add_argument("--redirect-uri", action="append", default=[], help="may be repeated")
    parser.add_argument("--webhook-url", default=None)
    parser.add_argument("--email", default=Profile().email)
    parser.add_argument("--plan", choices=["basic", "pro", "business"], default=Profile().plan)
    parser.add_argument("--auto-approve", action="store_true", help="allow without a page")
    return parser.parse_args()


if __name__ == "__main__":
    main()
