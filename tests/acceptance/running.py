"""The running product, over HTTP, after a sign-in."""

import time

import requests

from local.product import Product
from memorybox.mcp.server import Answer
from tests.acceptance.box import Box
from tests.e2e.tokens import sign_in

PATIENCE = 10.0


class RunningBox(Box):
    """A box of a new user of the whole product on this machine."""

    def __init__(self, product: Product) -> None:
        super().__init__(product.dropbox, product.dropbox.add_account(), product.embeddings)
        product.dropbox.auto_approve = self.dropbox.account_id
        self._url = f"{product.url}/mcp"
        self._headers = {
            "authorization": f"Bearer {sign_in(product.url)['access_token']}",
            "content-type": "application/json",
            "accept": "application/json, text/event-stream",
            "mcp-protocol-version": "2025-11-25",
        }

        self._await_the_first_listing()

    def _await_the_first_listing(self) -> None:
        """A sign-in begins an index in the background. Its calls are none of the test's."""
        end = time.monotonic() + PATIENCE
        while not self.calls_of_dropbox("files/list_folder") and time.monotonic() < end:
            time.sleep(0.02)
        self.service.log.clear()

    def post(self, body: bytes) -> Answer:
        answer = requests.post(self._url, body, headers=self._headers, timeout=60)
        return Answer(answer.status_code, dict(answer.headers), answer.content)
