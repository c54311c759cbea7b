"""A request has its time from its arrival on, and everything that is done for it shares that."""

from dataclasses import replace

import pytest
from mangum import Mangum

from memorybox.deadline import CALL_SECONDS, current, within
from memorybox.mcp.toolset import ToolResult
from memorybox.oauth.authorize import Authorizations
from memorybox.oauth.tokens import Tokens
from memorybox.web.app import Application
from tests.unit.web.site import FORM, Site

SLOWNESS = 7


class SlowSite(Site):
    """Takes a while until it gets to the tokens, and remembers what time was left then."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self.left: list[float] = []
        prompt = self.services

        def tokens() -> Tokens:
            self._take_a_while()
            return prompt.tokens()

        def authorizations() -> Authorizations:
            self._take_a_while()
            return prompt.authorizations()

        slow = replace(prompt, tokens=tokens, authorizations=authorizations)
        self.handler = Mangum(Application(slow), lifespan="off")

    def _take_a_while(self) -> None:
        deadline = current()
        assert deadline
        self.left.append(deadline.remaining())
        self.clock.sleep(SLOWNESS)


@pytest.mark.promise("P-206")
def test_the_time_of_a_tool_call_begins_before_its_token_is_checked() -> None:
    site = SlowSite()
    token = site.sign_in(str(site.register()["client_id"]))["access_token"]
    site.call_tool = lambda *_: ToolResult((f"{within(60, site.clock).remaining():.1f} s",))
    params = {"name": "read", "arguments": {"path": "a.md"}}

    reply = site.mcp(token, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})

    assert f"{CALL_SECONDS - SLOWNESS} s" in reply.body


@pytest.mark.parametrize(
    ("method", "path"), [("POST", "/mcp"), ("POST", "/token"), ("GET", "/authorize")]
)
def test_each_request_has_the_whole_time_for_itself(method: str, path: str) -> None:
    site = SlowSite()

    for _ in range(2):
        site.call(method, path, headers=FORM)

    assert site.left == [CALL_SECONDS, CALL_SECONDS]
    assert current() is None
