"""How many embedding tokens an account, and the deployment, may still spend this month.

A token is at least one byte of UTF-8 in every byte-level tokenizer, so bytes are reserved before a
call and settled to the reported usage after it: the cap holds without counting tokens.
"""

from dataclasses import dataclass
from datetime import date, datetime
from typing import NewType, Protocol

Month = NewType("Month", str)
"""A calendar month in UTC, as `2026-11`."""


def month_of(now: datetime) -> Month:
    return Month(f"{now.year}-{now.month:02}")


def next_month(month: Month) -> date:
    """The first day after the month: when its budget is new."""
    year, number = map(int, month.split("-"))
    return date(year + number // 12, number % 12 + 1, 1)


@dataclass(frozen=True, slots=True)
class Reservation:
    """Tokens held back in one month until it is known how many were used."""

    month: Month
    tokens: int


@dataclass(frozen=True, slots=True)
class Spending:
    """A reservation, and what of it was used in the end."""

    reservation: Reservation
    used: int

    @property
    def unused(self) -> int:
        """Tokens to give back: none if as many cannot have been used."""
        reserved = self.reservation.tokens
        return reserved - self.used if 0 <= self.used <= reserved else 0


class BudgetSpent(Exception):
    """The tokens do not fit in what the account may still spend this month."""

    def __init__(self, month: Month) -> None:
        self.month = month
        super().__init__(month)


class DeploymentBudgetSpent(BudgetSpent):
    """The tokens do not fit in what the whole deployment may still spend this month."""


class BudgetLedger(Protocol):
    """One account's counter of each month, and its share of the deployment's."""

    def reserve(self, tokens: int) -> Reservation:
        """Hold back tokens of the present month, or raise BudgetSpent and hold back nothing.

        One conditional addition: however many callers, the cap is never passed.
        """

    def settle(self, spending: Spending) -> None:
        """Give back, in the month of the reservation, what was not used."""
