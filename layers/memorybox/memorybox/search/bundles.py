"""Files that share requests to the embedding model."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from memorybox.files.model import FileEntry
from memorybox.search.drafts import Draft
from memorybox.search.embedder import MOST_INPUTS
from memorybox.search.embedding import tokens_at_most
from memorybox.search.model import TailEntry


@dataclass(frozen=True, slots=True)
class Work:
    """A claimed file that was read."""

    claimed: TailEntry
    read: FileEntry
    draft: Draft


@dataclass(slots=True)
class Bundle:
    """Files whose missing texts fit into one request, or one large file."""

    most_bytes: int
    works: list[Work] = field(default_factory=list)
    texts: dict[bytes, str] = field(default_factory=dict)
    size: int = 0

    def holds(self, texts: Mapping[bytes, str]) -> bool:
        """Whether there is room for these texts too."""
        return not self.works or (
            self.size + tokens_at_most(texts.values()) <= self.most_bytes
            and len(self.texts) + len(texts) <= MOST_INPUTS
        )

    def add(self, work: Work, texts: Mapping[bytes, str]) -> None:
        self.works.append(work)
        self.texts |= texts
        self.size += tokens_at_most(texts.values())


def bundled(
    works: Iterable[Work], vectors: Mapping[bytes, bytes], most_bytes: int
) -> tuple[list[Bundle], list[Work]]:
    """The files in bundles, in their order, and those that need a text of another bundle.

    The latter come afterwards, so that no text is sent twice.
    """
    bundles: list[Bundle] = []
    later: list[Work] = []
    sent: set[bytes] = set()
    for work in works:
        texts = work.draft.texts(vectors)
        if not sent.isdisjoint(texts):
            later.append(work)
            continue
        if not bundles or not bundles[-1].holds(texts):
            bundles.append(Bundle(most_bytes))
        bundles[-1].add(work, texts)
        sent |= texts.keys()
    return bundles, later
