"""Why nothing could be searched, in the words the caller sees."""

from datetime import date

from memorybox.errors import Unavailable


class QueryOverBudget(Unavailable):
    """The query does not fit in what the account may still spend this month."""

    def __init__(self, monthly_tokens: int, until: date) -> None:
        super().__init__(
            f"The query does not fit in what is left of this month's {monthly_tokens:,} embedding "
            f"tokens. Search works again on {until} (UTC); the other tools work now."
        )


class DeploymentOverBudget(Unavailable):
    """The query does not fit in what all accounts together may still spend this month."""

    def __init__(self, until: date) -> None:
        super().__init__(
            "This service has used up its own embedding limit. "
            f"Search works again on {until} (UTC); the other tools work now."
        )


class EmbeddingSilent(Unavailable):
    """The embedding service did not answer, and without it there is nothing to go by."""

    def __init__(self) -> None:
        super().__init__(
            "The embedding service did not answer, so nothing was searched. "
            "Try again in a minute; the other tools work now."
        )
