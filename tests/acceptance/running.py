"""The running product, over HTTP, after a sign-in."""

import requests

from local.product import Product
from memorybox.mcp.server import Answer
from tests.acceptance.box import Box
from tests.e2e.tokens import sign_in


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

    def post(self, body: bytes) -> Answer:
        answer = requests.post(self._url, body, headers=self._headers, timeout=60)
        return Answer(answer.status_code, dict(answer.headers), answer.content)
