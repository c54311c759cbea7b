"""State machines: the tools against a folder that is a dict, two accounts, and the sign-in."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from local.dropbox.paths import lower
from memorybox.errors import MemoryBoxError
from memorybox.mcp.toolset import ToolResult
from memorybox.oauth import grants
from memorybox.oauth.errors import OAuthError, Unauthorized
from memorybox.oauth.tokens import Tokens
from tests.fakes.oauth import Outage
from tests.simulation.history import rev_of
from tests.simulation.plan import Plan
from tests.simulation.planted import SIGN_IN
from tests.simulation.world import PRODUCT, World
from tests.unit.oauth.server import Server, refused

GRACE = grants.REUSE_GRACE.total_seconds()
CODE_IS_REMEMBERED = 600

QUICK = settings(
    max_examples=60,
    stateful_step_count=30,
    deadline=None,
    database=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)

places = st.sampled_from(
    [("garden", "plan.md"), ("Garden", "PLAN.md"), ("garden", "beds/é.md"), ("work", "plan.md")]
)
texts = st.text(st.sampled_from("ab \r\n\t\0é\u2028\ufeff😀"), max_size=12)


def call(world: World, tool: str, **arguments: object) -> ToolResult:
    try:
        return world.tools().call(tool, arguments)
    except MemoryBoxError as error:
        return ToolResult((str(error),), is_error=True)


class Notes(RuleBasedStateMachine):
    """The folder is a dict: names ignore case, and a rev is the only lock."""

    def __init__(self) -> None:
        super().__init__()
        self.world = World(Plan(0, ()), PRODUCT)
        self.folder: dict[str, tuple[str, bytes]] = {}

    @rule(place=places, text=texts)
    def write(self, place: tuple[str, str], text: str) -> None:
        answer = self.change(place, "write", text=text)
        assert answer.is_error == (self.held(place) is not None)
        self.note(place, answer, text.encode())

    @rule(place=places, text=texts, is_current=st.booleans())
    def replace(self, place: tuple[str, str], text: str, is_current: bool) -> None:
        held = self.held(place)
        rev = held[0] if held and is_current else "0123456789abcdef"
        answer = self.change(place, "write", text=text, expected_rev=rev)
        assert answer.is_error == (held is None or not is_current)
        self.note(place, answer, text.encode())

    @rule(place=places, text=texts)
    def append(self, place: tuple[str, str], text: str) -> None:
        before = self.held(place)
        answer = self.change(place, "append", text=text)
        assert not answer.is_error
        self.note(place, answer, (before[1] if before else b"") + text.encode())

    @rule(place=places, old=texts.filter(bool), new=texts)
    def patch(self, place: tuple[str, str], old: str, new: str) -> None:
        held = self.held(place)
        rev, data = held or ("0123456789abcdef", b"")
        edits = [{"old_text": old, "new_text": new}]
        answer = self.change(place, "patch", edits=edits, expected_rev=rev)
        text = data.decode()
        if not answer.is_error and old in text:
            assert text.count(old) == 1
            self.note(place, answer, text.replace(old, new).encode())
        elif not answer.is_error:  # line ends of the caller, in a file whose own are all CRLF
            self.note(place, answer, self.stored(place))
            assert "\r\n" in text

    @rule(place=places)
    def read(self, place: tuple[str, str]) -> None:
        answer = call(self.world, "read", workspace=place[0], path=place[1])
        held = self.held(place)
        assert answer.is_error == (held is None)
        if held:
            assert (rev_of(answer), answer.texts[1].encode()) == held

    @rule(place=places, text=texts)
    def another_app_writes(self, place: tuple[str, str], text: str) -> None:
        file = self.world.dropbox.put("/".join(("", *place)), text.encode(), by=None)
        self.folder[key(place)] = file.rev, text.encode()

    @rule(place=places)
    def another_app_deletes(self, place: tuple[str, str]) -> None:
        if self.folder.pop(key(place), None):
            self.world.dropbox.edit("delete", key(place), "", "")

    @rule()
    def search(self) -> None:
        answer = call(self.world, "search", workspace="all", query="a b", limit=20)
        with_text = {path for path, (_, data) in self.folder.items() if data.decode().strip()}
        named = answer.texts[0].lower()
        assert all(path[1:] in named for path in with_text), (named, with_text)

    @invariant()
    def the_folder_is_the_model(self) -> None:
        notes = self.world.dropbox.notes()
        held = {path: (file.rev, self.world.dropbox.read(file)) for path, file in notes.items()}
        assert held == self.folder

    def change(self, place: tuple[str, str], tool: str, **arguments: object) -> ToolResult:
        return call(self.world, tool, workspace=place[0], path=place[1], **arguments)

    def held(self, place: tuple[str, str]) -> tuple[str, bytes] | None:
        return self.folder.get(key(place))

    def stored(self, place: tuple[str, str]) -> bytes:
        return self.world.dropbox.read(self.world.dropbox.notes()[key(place)])

    def note(self, place: tuple[str, str], answer: ToolResult, data: bytes) -> None:
        if not answer.is_error:
            self.folder[key(place)] = rev_of(answer), data


def key(place: tuple[str, str]) -> str:
    return lower("/" + "/".join(place))


class Between(Outage):
    """The steps of the stores, at one of which somebody else comes in between."""

    def __init__(self) -> None:
        self.steps, self.other = 0, _nothing

    def come(self, other: Callable[[], None], *, steps: int) -> None:
        """Let the other call go right before so many steps of the next one are done."""
        self.steps, self.other = steps, other

    def __call__(self) -> None:
        super().__call__()
        self.steps -= 1
        if self.steps == 0:
            self.other()


def _nothing() -> None:
    """Nobody comes."""


class SignIn(RuleBasedStateMachine):
    """A client who loses answers, while old tokens and codes come back from wherever they were."""

    tokens: type[Tokens] = Tokens

    def __init__(self) -> None:
        super().__init__()
        self.between = Between()
        self.server = Server(tokens=self.tokens, outage=self.between)
        self.begin()

    def begin(self) -> None:
        """The person signs in, and the client trades its code."""
        self.code, self.signed_in = self.server.code(), self.now
        self.pair = self.server.exchange(self.code)
        self.tries: list[float] = []
        """When the refresh token that the client holds was sent and no answer came."""
        self.old: list[tuple[Mapping[str, object], float]] = []

    @property
    def now(self) -> float:
        return self.server.clock.monotonic()

    @rule(is_answer_lost=st.booleans())
    def refresh(self, is_answer_lost: bool) -> None:
        if self.tries and self.now - self.tries[0] > GRACE:
            self.ends(lambda: self.server.refresh(self.pair["refresh_token"]))
        elif len(self.tries) < grants.MAX_UNUSED:
            fresh = self.server.refresh(self.pair["refresh_token"])
            self.tries.append(self.now)
            if not is_answer_lost:
                self.old.append((self.pair, self.tries[0]))
                self.pair, self.tries = fresh, []

    @precondition(lambda self: not self.tries)
    @rule(steps=st.integers(1, 4))
    def two_processes_of_the_client_refresh_at_once(self, steps: int) -> None:
        pairs: list[Mapping[str, object]] = []

        def refresh() -> None:
            pairs.append(self.server.refresh(self.pair["refresh_token"]))

        self.between.come(refresh, steps=steps)
        refresh()
        assert all(map(self.server.works, pairs))
        self.old.append((self.pair, self.now))
        self.pair = pairs[-1]

    @precondition(lambda self: not self.tries)
    @rule(steps=st.integers(1, 4))
    def the_client_revokes_while_it_refreshes(self, steps: int) -> None:
        revoke = partial(self.server.revoke, self.pair["refresh_token"])
        self.between.come(revoke, steps=steps)
        with suppress(OAuthError):
            self.old.append((self.server.refresh(self.pair["refresh_token"]), self.now))
        revoke()
        self.is_out()

    @rule(seconds=st.sampled_from([1, 50, 121, 300]))
    def time_passes(self, seconds: int) -> None:
        self.server.clock.sleep(seconds)

    @precondition(lambda self: self.old)
    @rule(data=st.data())
    def an_old_token_comes_back(self, data: st.DataObject) -> None:
        pair, used_at = data.draw(st.sampled_from(self.old))
        if self.now - used_at > GRACE:
            self.ends(lambda: self.server.refresh(pair["refresh_token"]))

    @rule()
    def the_code_comes_back(self) -> None:
        if self.now - self.signed_in < CODE_IS_REMEMBERED:
            self.ends(lambda: self.server.exchange(self.code))

    @rule()
    def the_client_revokes(self) -> None:
        self.server.revoke(self.pair["access_token"])
        self.is_out()

    @invariant()
    def there_is_one_family_and_the_client_is_in_it(self) -> None:
        assert len(self.server.grants.records) == 1
        assert self.server.works(self.pair)

    def ends(self, call: Callable[[], object]) -> None:
        """The call is refused, and with it the whole family."""
        assert refused(call) == "invalid_grant"
        self.is_out()

    def is_out(self) -> None:
        for pair in (self.pair, *(pair for pair, _ in self.old)):
            with pytest.raises(Unauthorized):
                self.server.tokens.check(f"Bearer {pair['access_token']}")
        assert not self.server.grants.records
        self.begin()


TestNotes = Notes.TestCase
TestNotes.settings = QUICK
TestSignIn = SignIn.TestCase
TestSignIn.settings = QUICK


@pytest.mark.parametrize("planted", SIGN_IN.values(), ids=SIGN_IN)
def test_a_fault_planted_in_the_sign_in_is_caught(planted: type[Tokens]) -> None:
    wrong = type("Wrong", (SignIn,), {"tokens": planted})

    with pytest.raises((AssertionError, OAuthError, pytest.fail.Exception)):
        run_state_machine_as_test(wrong, settings=settings(QUICK, phases=[Phase.generate]))
