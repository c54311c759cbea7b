"""What searches and a person's month cost at list prices.

The formulas are those of docs/operations.md, "Cost of a user and month"; `bench.calls` counts what
a call asks of whom. The seconds and units of a call are those that stand below.
"""

from dataclasses import dataclass

from bench.tables import table

API_CALL = 1.00e-6  # https://aws.amazon.com/api-gateway/pricing/, HTTP API
GB_SECOND = 13.3334e-6  # https://aws.amazon.com/lambda/pricing/, arm64
FUNCTION_CALL = 0.20e-6
READ, WRITE = 0.125e-6, 0.625e-6  # https://aws.amazon.com/dynamodb/pricing/on-demand/
GB_MONTH = 0.023 + 0.45  # S3; DynamoDB with recovery, for what is in the tail: counted as all of it
MESSAGE = 0.40e-6  # https://aws.amazon.com/sqs/pricing/
KEY_CALL = 3e-6  # https://aws.amazon.com/kms/pricing/
LOGGED_GB = 0.50  # https://aws.amazon.com/cloudwatch/pricing/
TOKEN = 0.02e-6  # https://platform.openai.com/docs/pricing, text-embedding-3-small

SECONDS, GB = 0.6, 1.73
"""Of a call of a tool, by the memory of the function."""

SEARCH_READS, SEARCH_WRITES = 60, 10
CHANGE_READS, CHANGE_WRITES = 5, 25
QUESTION_TOKENS = 15
LOGGED = 1_500 / 1e9
PART = 2_000 / 1e9
SWEEPS, KEY_CALLS = 120, 200


@dataclass(frozen=True, slots=True)
class Person:
    """What somebody does in a month."""

    name: str
    calls: int
    searches: int
    writes: int
    outside: int
    """Changes made by other apps."""

    tokens: int
    parts: int

    def dollars(self) -> float:
        changes = self.writes + self.outside
        others = self.calls - self.searches - self.writes
        gigabyte_seconds = self.calls * SECONDS * GB + self.outside * (0.3 * 0.5 + 1) + SWEEPS * 0.3
        return (
            self.calls * (API_CALL + FUNCTION_CALL)
            + gigabyte_seconds * GB_SECOND
            + self.searches * (SEARCH_READS * READ + SEARCH_WRITES * WRITE)
            + changes * (CHANGE_READS * READ + CHANGE_WRITES * WRITE)
            + others * READ
            + self.parts * PART * GB_MONTH
            + (self.outside * 3 + SWEEPS * 3) * MESSAGE
            + KEY_CALLS * KEY_CALL
            + (self.calls + self.outside) * LOGGED * LOGGED_GB
            + self.tokens * TOKEN
        )


PEOPLE = (
    Person("looks in now and then", 60, 30, 10, 10, 6_000, 500),
    Person("works with it every day", 600, 300, 100, 100, 54_000, 2_000),
    Person("lets an assistant work all day", 10_000, 5_000, 2_000, 500, 1_100_000, 20_000),
)


def searches() -> list[tuple[str, str, float]]:
    """Where the dollars of 1,000 searches go."""
    count = 1_000
    return [
        ("API Gateway and Lambda, calls", "1 call", count * (API_CALL + FUNCTION_CALL)),
        ("Lambda, time", f"{SECONDS} s of {GB} GB", count * SECONDS * GB * GB_SECOND),
        (
            "DynamoDB",
            f"{SEARCH_READS} read and {SEARCH_WRITES} write units",
            count * (SEARCH_READS * READ + SEARCH_WRITES * WRITE),
        ),
        ("embedding of the question", f"{QUESTION_TOKENS} tokens", count * QUESTION_TOKENS * TOKEN),
        ("logs", "1.5 kB", count * LOGGED * LOGGED_GB),
    ]


def measure() -> str:
    """The tables of 1,000 searches and of a person's month, as text."""
    lines = searches()
    rows = [(name, each, f"${dollars:.4f}") for name, each, dollars in lines]
    total = sum(dollars for *_, dollars in lines)
    heads = ("a person who", "calls", "searches", "writes", "changes outside", "tokens", "a month")
    months = [
        (
            person.name,
            *(f"{getattr(person, count):,}" for count in ("calls", "searches", "writes")),
            f"{person.outside:,}",
            f"{person.tokens:,}",
            f"${person.dollars():.3f}",
        )
        for person in PEOPLE
    ]
    return "\n\n".join(
        [
            table(("1,000 searches", "each", "dollars"), [*rows, ("in all", "", f"${total:.4f}")]),
            table(heads, months),
        ]
    )


if __name__ == "__main__":
    print(measure())
