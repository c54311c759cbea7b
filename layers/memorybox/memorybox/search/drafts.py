"""A file cut into parts and counted, before its parts have vectors."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from memorybox.files.model import StoredFile
from memorybox.search.model import (
    NO_REV,
    Indexed,
    Part,
    Recipe,
    Seen,
    Skipped,
    SkipReason,
    Words,
)
from memorybox.search.parts import MAX_FILE, TextPart, identity, parts_of
from memorybox.search.terms import Lexicon, minus, plus


@dataclass(frozen=True, slots=True)
class DraftPart:
    """A part without its vector."""

    place: TextPart
    identity: bytes
    words: Words

    def with_vector(self, vector: bytes) -> Part:
        return Part(self.place.start, self.place.end, self.identity, vector, self.words)


@dataclass(frozen=True, slots=True)
class Draft:
    """What one version of a file becomes in the index."""

    rev: str
    content_hash: str
    recipe: Recipe
    parts: tuple[DraftPart, ...]

    def texts(self, vectors: Mapping[bytes, bytes]) -> dict[bytes, str]:
        """The texts that still have to be embedded, by identity."""
        return {
            part.identity: part.place.text for part in self.parts if part.identity not in vectors
        }

    def indexed(self, vectors: Mapping[bytes, bytes]) -> Indexed:
        """The file with its vectors; if some are missing, the others, to be used again."""
        parts = tuple(
            part.with_vector(vectors[part.identity])
            for part in self.parts
            if part.identity in vectors
        )
        rev = self.rev if len(parts) == len(self.parts) else NO_REV
        return Indexed(rev, self.content_hash if rev else "", self.recipe, parts)


@dataclass(frozen=True, slots=True)
class Drafter:
    """Makes drafts for one account."""

    recipe: Recipe
    lexicon: Lexicon

    def draft(self, stored: StoredFile) -> Draft | Skipped:
        """The draft of a file, or why it cannot be indexed."""
        entry = stored.entry
        if len(stored.data) > MAX_FILE:
            return Skipped(entry.rev, entry.content_hash, SkipReason.TOO_LARGE)
        try:
            places = parts_of(stored.data)
        except UnicodeDecodeError:
            return Skipped(entry.rev, entry.content_hash, SkipReason.NOT_UTF8)
        parts = tuple(
            DraftPart(
                place,
                identity(self.recipe.model, self.recipe.dims, place.text),
                self.lexicon.words(place.text, entry.path_lower),
            )
            for place in places
        )
        return Draft(entry.rev, entry.content_hash, self.recipe, parts)

    def moved(self, indexed: Indexed, *, source: str, seen: Seen) -> Indexed:
        """The parts of a file with the same content at another path, without reading it."""
        old, new = self.lexicon.path_words(source), self.lexicon.path_words(seen.path_lower)
        parts = tuple(
            replace(part, words=plus(minus(part.words, old), new)) for part in indexed.parts
        )
        return replace(indexed, rev=seen.rev, parts=parts)
