"""The parameters of an OAuth request, each sent at most once (RFC 6749, section 3.1)."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl

_MAX_FIELDS = 64


@dataclass(frozen=True, slots=True)
class Parameters:
    """What was sent, and the names that were sent more than once."""

    values: Mapping[str, str]
    repeated: frozenset[str]

    @classmethod
    def parse(cls, encoded: str) -> "Parameters":
        """From a query or a form. A parameter without a value counts as not sent.

        Raises ValueError for what is not UTF-8 or has too many fields.
        """
        pairs = parse_qsl(encoded, max_num_fields=_MAX_FIELDS, errors="strict")
        counts = Counter(name for name, _ in pairs)
        return cls(dict(pairs), frozenset(name for name, n in counts.items() if n > 1))

    def get(self, name: str) -> str | None:
        return self.values.get(name)
