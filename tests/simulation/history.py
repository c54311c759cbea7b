"""What happened when a plan was carried out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial

from local.dropbox.entries import File
from local.dropbox.paths import lower
from memorybox.errors import Refused, SignInEnded, Unavailable
from memorybox.files.model import FileRef
from memorybox.mcp.toolset import ToolResult
from tests.simulation.dropbox import SimulatedDropbox
from tests.simulation.plan import (
    IN_THE_WAY,
    Act,
    Deliver,
    Edit,
    Notify,
    Outage,
    Plan,
    Say,
    Sweep,
    Wait,
)
from tests.simulation.ways import Crash
from tests.simulation.world import PRODUCT, Parts, World

SENDINGS = 3
"""How often a client sends a call with a command_id that is not answered."""

PAUSE = 9.0
"""Seconds between two sendings."""

QUERY = "what is planned outside"
"""Words of some names, and of what another app writes."""

MOST_HITS = 20
"""Files that a search may name."""

HASTE = 0.1
"""Seconds after which a hasty client sends again."""


@dataclass(slots=True)
class Called:
    """A call of a tool, from its beginning to its end, as its client saw it."""

    number: int
    command: str
    """The same for all sendings of one command; else one of its own."""

    tool: str
    location: str
    arguments: Mapping[str, object]
    began: int
    started: float
    """Seconds since the beginning."""

    answer: ToolResult | None = None
    """None if none ever came."""

    ended: int = 0
    seconds: float = 0.0
    is_excused: bool = False
    is_honest: bool = True
    """Whether a file that was said to be indexed was so when the answer was given."""


@dataclass(slots=True)
class History:
    world: World
    calls: list[Called] = field(default_factory=list)
    done: set[str] = field(default_factory=set)
    """The commands that were answered well."""


def carry_out(plan: Plan, parts: Parts = PRODUCT) -> History:
    """Let all callers of a plan do their acts, until the last one has ended."""
    world = World(plan, parts)
    history = History(world)
    for number in plan.callers:
        world.schedule.add(partial(_live, history, number))
    world.schedule.run()
    return history


def _live(history: History, number: int) -> None:
    caller = history.world.ways.enter(number)
    known: dict[str, str] = {}
    for place, act in enumerate(history.world.plan.acts_of(number)):
        try:
            _do(history, act, f"{number}-{place}", known)
        except (Crash, SignInEnded, Unavailable):
            caller.is_dead = False


def _do(history: History, act: Act, name: str, known: dict[str, str]) -> None:
    world = history.world
    match act:
        case Say():
            _say(history, act, name, known)
        case Edit():
            world.schedule.step()
            _edit(world.dropbox, act)
        case Notify():
            world.notify()
        case Deliver(is_again):
            world.deliver(is_again=is_again)
        case Sweep():
            world.send(None)
        case Wait(seconds):
            world.schedule.sleep(seconds)
        case Outage(seconds):
            world.embedder.is_silent = True
            world.schedule.sleep(seconds)
            world.embedder.is_silent = False


def _edit(dropbox: SimulatedDropbox, edit: Edit) -> None:
    match edit.how:
        case "block":
            dropbox.block(IN_THE_WAY, edit.text)
        case "unblock":
            dropbox.unblock(IN_THE_WAY)
        case "reset":
            dropbox.forget_cursors()
        case _:
            dropbox.edit(edit.how, edit.location, edit.text, edit.new_name)


def _say(history: History, say: Say, name: str, known: dict[str, str]) -> None:
    """A call of a client, which needs a rev for some: the last one that it was shown."""
    text = ""
    if say.tool == "patch" or (say.tool == "replace" and say.location not in known):
        text = _read(history, say.location, name, known)
    tool, given = _arguments(say, known.get(say.location), text)
    is_named = say.is_named and tool in {"write", "append", "patch"}
    if is_named:
        given["command_id"] = name
    if is_named and say.is_hasty:
        again = partial(_call, history, tool, say.location, given, name)
        history.world.schedule.add(again, after=HASTE)
    for sending in range(SENDINGS if is_named else 1):
        if sending:
            history.world.schedule.sleep(PAUSE)
        answer = _call(history, tool, say.location, given, name)
        if sending == 0 and is_named and say.is_deaf:
            continue
        if answer and not answer.is_error and tool not in {"search", "list"}:
            known[say.location] = rev_of(answer)
        if answer and not (answer.is_error and _may_be_sent_again(answer)):
            return


def _read(history: History, location: str, name: str, known: dict[str, str]) -> str:
    ref = FileRef.at(location)
    arguments = {"workspace": ref.workspace, "path": ref.path}
    answer = _call(history, "read", location, arguments, f"{name} read")
    if answer is None or answer.is_error:
        known.pop(location, None)
        return ""
    known[location] = rev_of(answer)
    return answer.texts[1]


def rev_of(answer: ToolResult) -> str:
    return answer.texts[0].partition("\n")[0].removeprefix("rev: ")


def _may_be_sent_again(answer: ToolResult) -> bool:
    return any(words in answer.texts[0] for words in ("did not", "still running", "in a minute"))


def _arguments(say: Say, rev: str | None, text: str) -> tuple[str, dict[str, object]]:
    """The tool and its arguments. Without a rev, a note is written anew."""
    if say.tool == "search":
        return "search", {"workspace": "all", "query": QUERY, "limit": MOST_HITS}
    ref = FileRef.at(say.location)
    file: dict[str, object] = {"workspace": ref.workspace, "path": ref.path}
    match say.tool:
        case "read":
            given = file
        case "patch" if rev and text:
            last = text.splitlines(keepends=True)[-1]
            edit = {"old_text": last, "new_text": last + say.text}
            given = {**file, "edits": [edit], "expected_rev": rev}
        case "replace" if rev:
            given = {**file, "text": say.text, "expected_rev": rev}
        case _:
            given = {**file, "text": say.text}
    is_write = "text" in given and say.tool != "append"
    return "write" if is_write else say.tool, given


def _call(
    history: History, tool: str, location: str, given: Mapping[str, object], command: str
) -> ToolResult | None:
    world, caller = history.world, history.world.ways.caller
    number = len(history.calls)
    caller.call, caller.is_excused = number, False
    start = world.schedule.passed
    called = Called(number, command, tool, location, given, world.dropbox.event(), start)
    history.calls.append(called)
    is_repeat = command in history.done
    try:
        called.answer = world.tools().call(tool, given)
    except (Refused, Unavailable) as error:
        called.answer = ToolResult((str(error),), is_error=True)
    except SignInEnded:  # HTTP 401
        pass
    except Crash:
        caller.is_dead = False
    called.ended = world.dropbox.event()
    called.seconds = world.schedule.passed - start
    called.is_excused = caller.is_excused
    if called.answer and not called.answer.is_error:
        history.done.add(command)
    if called.answer and not is_repeat:
        called.is_honest = _is_honest(world, location, called.answer)
    return called.answer


def _is_honest(world: World, location: str, answer: ToolResult) -> bool:
    """Whether the file can be found if the answer says so, and nobody has changed it since.

    Of a note that was gone in between, a fold may drop the vectors before a listing shows it again.
    The next search embeds it once more.
    """
    key = lower(location)
    rev, _, line = answer.texts[0].removeprefix("rev: ").partition("\n")
    if not line.startswith("Indexed"):
        return True
    note = world.dropbox.account.get(key)
    was_gone = any(key == gone or key.startswith(gone + "/") for gone, _ in world.dropbox.gone)
    if not isinstance(note, File) or note.rev != rev or was_gone:
        return True
    with world.ways.standing_still():
        entry = world.request().catalog.load().snapshot.entry(key)
    settled = world.index.result(key) or (entry.settled if entry else None)
    return settled is not None and settled.rev == rev
