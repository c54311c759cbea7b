"""What must hold after every history, by the names of docs/reliability.md."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from contextlib import suppress
from struct import iter_unpack

from memorybox.files import edits
from memorybox.files.model import Edit, FileEntry, FileRef, Rev, StoredFile
from memorybox.mcp.toolset import ToolResult
from memorybox.search.drafts import Draft
from memorybox.search.errors import QueryOverBudget
from memorybox.search.model import Indexed, Skipped
from tests.simulation.dropbox import Version
from tests.simulation.history import MOST_HITS, QUERY, Called, History, rev_of
from tests.simulation.past import Past
from tests.simulation.world import LEXICON, World

LONGEST = 25.0
SETTLED = 120.0
"""Seconds after which every lease and claim of the history has run out."""

ABOUT = 6.0
"""Seconds by which the product may be wrong about when a note was made."""

_UNSURE = "may or may not have changed"
_UNDONE = "Nothing was written."
_BY_WORDS = "Ranked by words alone"
_ASKED = LEXICON.numbers(QUERY)


class Broken(AssertionError):
    """An invariant does not hold."""

    def __init__(self, invariant: str, what: str) -> None:
        self.invariant = invariant
        super().__init__(f"{invariant}: {what}")


def check(history: History) -> None:
    """Raises Broken for the first invariant that does not hold."""
    world, past = history.world, Past(history.world.dropbox)
    made = _made(world.dropbox.versions)
    for call in history.calls:
        _check_answer(call, made.get(call.number, ()))
    for sendings in _by_command(history.calls).values():
        _check_command(
            world, past, sendings, [v for call in sendings for v in made.get(call.number, ())]
        )
    for call in history.calls:
        if call.tool == "read" and call.answer and not call.answer.is_error:
            _check_read(past, call)
        if call.tool == "search" and call.answer and not call.answer.is_error:
            _check_search(world, past, call)
    if world.plan.is_indexed:
        _check_tokens(world)
        _settle(world)
        _check_index(world)
        _check_tokens(world)


def _settle(world: World) -> None:
    """Let all that was begun run out, and then one search, or the sweep, go without trouble."""
    world.schedule.sleep(SETTLED)
    if world.plan.seed % 2 == 0:
        with suppress(QueryOverBudget):  # a crash leaves its reservation behind; a sweep needs none
            world.tools().call("search", {"workspace": "all", "query": QUERY})
            return
    _drain(world)


def _made(versions: Iterable[Version]) -> dict[int, list[Version]]:
    made: dict[int, list[Version]] = defaultdict(list)
    for version in versions:
        if version.by is not None:
            made[version.by].append(version)
    return made


def _by_command(calls: Iterable[Called]) -> dict[str, list[Called]]:
    commands: dict[str, list[Called]] = defaultdict(list)
    for call in calls:
        commands[call.command].append(call)
    return commands


def _check_answer(call: Called, made: Sequence[Version]) -> None:
    """I8, and I2: what a call says of itself is true."""
    if call.seconds > LONGEST and not call.is_excused:
        raise Broken("I8", f"{call.tool} took {call.seconds:.2f} s")
    if not call.is_honest:
        raise Broken("I4", f"{call.tool} claims that its file can be found")
    if call.answer is None or not call.answer.is_error or call.tool in {"read", "search", "list"}:
        return
    text = call.answer.texts[0]
    if _UNSURE not in text and made:
        raise Broken("I2", f"{call.tool} wrote {made[0].rev}, and answered {text!r}")
    if (_UNSURE in text) == (_UNDONE in text) and "already exists" not in text:
        raise Broken("I2", f"{call.tool} does not say whether it wrote: {text!r}")


def _check_command(
    world: World, past: Past, sendings: Sequence[Called], made: Sequence[Version]
) -> None:
    """I1 and I3 for a call, with all its repeats."""
    if len(made) > 1:
        raise Broken("I1", f"{sendings[0].tool} was written {len(made)} times")
    done = [call.answer for call in sendings if call.answer and not call.answer.is_error]
    if sendings[0].tool in {"read", "search", "list"} or not (made or done):
        return
    if not made:
        _check_unchanged(world, past, sendings, done)
        return
    [version] = made
    for answer in done:
        if rev_of(answer) != version.rev:
            raise Broken(
                "I1", f"{sendings[0].tool} made {version.rev}, and answered {answer.texts}"
            )
    if len({answer.texts for answer in done}) > 1 and not world.plan.faults:
        raise Broken("I1", f"a repeat of {sendings[0].tool} was answered in other words")
    given = sendings[0].arguments
    before_rev, before = version.before or (None, b"")
    if version.data != _wanted(given, before):
        raise Broken("I1", f"{sendings[0].tool} made {version.data!r} of {before!r}")
    if sendings[0].tool != "append" and before_rev != given.get("expected_rev"):
        raise Broken("I3", f"{sendings[0].tool} replaced {before_rev}, another than it expected")


def _check_unchanged(
    world: World, past: Past, sendings: Sequence[Called], done: Sequence[ToolResult]
) -> None:
    """A write of the very text that is there, on its rev, need make no version.

    Nor need a call do that never learned what became of its upload, if another call did the very
    same on top of the same rev: from outside, one cannot be told from the other. Our lease prevents
    it, but where it was lost: between a call and its repeat, to a process that stood still, and
    before a new note had its first line. When a note was made is known to some seconds only,
    and to the repeat of a call not at all.
    """
    call = sendings[0]
    expected, text = call.arguments.get("expected_rev"), call.arguments.get("text")
    is_leased = len(sendings) == 1 and not call.is_excused
    is_in_doubt = any(
        each.number in world.dropbox.unanswered or each.answer is None or each.answer.is_error
        for each in sendings
    )
    for answer in done:
        version = past.by_rev[rev_of(answer)]
        base, before = version.before or (None, b"")
        is_as_wanted = version.rev == expected and text == version.data.decode()
        is_alike = version.data == _wanted(call.arguments, before) and expected in (None, base)
        is_young = len(sendings) > 1 or version.seconds > call.started - ABOUT
        is_recent = past.ends(version) > call.began or (version.before is None and is_young)
        is_taken = is_alike and is_in_doubt and is_recent
        if not (is_as_wanted or (is_taken and not (is_leased and base))):
            raise Broken("I1", f"{call.tool} was acknowledged, and is not written")


def _wanted(given: object, before: bytes) -> bytes:
    match given:
        case {"edits": [{"old_text": str(old), "new_text": str(new)}]}:
            ref = FileRef.at("/any/file.md")
            return edits.apply([Edit(old, new)], before.decode(), ref).encode()
        case {"expected_rev": str(), "text": str(text)}:
            return text.encode()
        case {"text": str(text)}:
            return before + text.encode()
    raise AssertionError(given)


def _check_read(past: Past, call: Called) -> None:
    """I1, for readers: what was read was the file at some moment of the call."""
    assert call.answer is not None
    rev, text = rev_of(call.answer), call.answer.texts[1]
    if (version := past.by_rev.get(rev)) is None:
        raise Broken("I1", f"read gave {rev}, which never was")
    if version.data != text.encode():
        raise Broken("I1", f"read gave other bytes than those of {rev}")
    if version.at > call.ended or past.ends(version) < call.began:
        raise Broken("I1", f"read gave {rev}, which was not the file then")


def _check_search(world: World, past: Past, call: Called) -> None:
    """I4, for searchers: every file that was there all the time is named, or counted as waiting.

    A listing may be late: then the time begins earlier. By words alone, those without a word of the
    query are not named, if any is that has one.
    """
    assert call.answer is not None
    text = call.answer.texts[0]
    if "not indexed yet" in text:
        return
    named = [version for line in text.splitlines() for version in _named(world, past, call, line)]
    if text.count("  score ") == MOST_HITS:
        return
    by_words = _BY_WORDS in text and any(map(_has_a_word, named))
    for version in world.dropbox.versions:
        is_note = version.location.count("/") > 1
        is_old = version.at < call.began and version.seconds <= call.started - world.plan.lag
        is_due = is_note and is_old and past.ends(version) > call.ended
        if not is_due or (by_words and not _has_a_word(version)):
            continue
        if version.location[1:] not in text.lower():
            raise Broken("I4", f"a search leaves out {version.location}: {text!r}")


def _named(world: World, past: Past, call: Called, line: str) -> Sequence[Version]:
    """What a line of a search may mean: the versions that its file had then."""
    place, score, _ = line.partition("  score ")
    if not score:
        return ()
    location = "/" + place.partition(". ")[2].lower()
    versions = past.of[location] if world.plan.lag else past.during(call, location)
    if not versions:
        raise Broken("I4", f"a search gives {location}, which is gone")
    return versions


def _has_a_word(version: Version) -> bool:
    """Whether the note, or its name, has a word of the query."""
    words = LEXICON.words(version.data.decode(), version.location)
    return not {term for (term,) in iter_unpack("<I", words.terms)}.isdisjoint(_ASKED)


def _check_tokens(world: World) -> None:
    """I6: no month goes over, and no token was used that is not counted."""
    spent = world.ledger.spent
    if any(total > world.ledger.cap for total in spent.values()):
        raise Broken("I6", f"{spent} is over {world.ledger.cap}")
    if min(spent.values(), default=0) < 0 or world.embedder.tokens > sum(spent.values()):
        raise Broken("I6", f"{world.embedder.tokens} tokens were used, {spent} counted")


def _drain(world: World) -> None:
    """The sweep, and all messages until none is left. I7."""
    world.send(None)
    for _ in range(100 + len(world.messages)):
        if not world.messages:
            return
        world.deliver(is_again=False)
    raise Broken("I7", "messages go round and round")


def _check_index(world: World) -> None:
    """I4: the index says of every note what Dropbox says, or why it does not."""
    request = world.request()
    snapshot = request.catalog.load().snapshot
    entries = {seen.path_lower: snapshot.entry(seen.path_lower) for seen in snapshot.files()}
    notes = world.dropbox.notes()
    if entries.keys() != notes.keys():
        raise Broken("I4", f"{sorted(entries)} in the index, {sorted(notes)} in the folder")
    drafter = request.indexer.drafter
    for path, note in notes.items():
        entry = entries[path]
        settled = entry.settled if entry else None
        if settled is None or settled.rev != note.rev or not entry or entry.seen.rev != note.rev:
            raise Broken("I4", f"{path} is at {note.rev}, in the index at {settled}")
        match settled:
            case Skipped():
                continue
            case Indexed(parts=parts):
                data = world.dropbox.read(note)
                shown = FileEntry(
                    path, note.path_display, Rev(note.rev), note.content_hash, note.size,
                    note.server_modified,
                )  # fmt: skip
                draft = drafter.draft(StoredFile(shown, data))
                assert isinstance(draft, Draft)
                wanted = [(part.identity, part.place.start, part.words) for part in draft.parts]
                if [(part.identity, part.start, part.words) for part in parts] != wanted:
                    raise Broken("I4", f"{path} is indexed by another text than it has")
