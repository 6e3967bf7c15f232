"""What a printed value is: a claim, the random draws behind it, and remarks on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from fnmatch import fnmatchcase

INLINE = "inline"
"""Name of the artefact that stands for numbers printed in prose."""
STATISTICS = ("share", "count", "mean")
"""Kinds of values that vary between samples."""

Keys = tuple[tuple[str, str], ...]


def as_number(text: str) -> Decimal | None:
    """Read a finite decimal number; ``None`` if ``text`` is none."""
    try:
        number = Decimal(text.strip())
    except InvalidOperation:
        return None
    return number if number.is_finite() else None


def canonical(value: object) -> str:
    """Write the value of a key such that ``0.50``, ``0.5`` and the float 0.5 agree."""
    text = "" if value is None or value != value else str(value).strip()
    return text if as_number(text) is None else f"{float(text):.12g}"


@dataclass(frozen=True)
class Claim:
    """One printed value."""

    identifier: str
    """For example ``moral_hazard/table_13/team_pct[policy=always_query_oracle,mapping=original]``."""
    paper: str
    """Study whose paper prints it."""
    section: str
    artefact: str
    """``table_13``, or ``inline`` for a number in prose."""
    column: str
    keys: Keys
    """Columns that name the row, with their values."""
    quantity: str
    """What is printed, in words."""
    value: str
    """Exactly as printed."""
    unit: str
    uncertainty_kind: str = ""
    """``standard deviation``, ``standard error``, ``interval``, or empty where none is printed."""
    uncertainty: tuple[str, ...] = ()
    """Exactly as printed: one number, or both ends of an interval."""
    uncertainty_columns: tuple[str, ...] = ()
    """Columns of the same table that hold it."""

    @property
    def number(self) -> Decimal | None:
        """The printed number; ``None`` where the paper prints words or several numbers."""
        return as_number(self.value)


@dataclass(frozen=True)
class Sampling:
    """Says that printed values come from random draws, so that another sample gives another value."""

    artefact: str
    column: str
    """Pattern of column names."""
    keys: Keys
    """Keys that a claim must have, among others."""
    statistic: str
    """One of ``STATISTICS``."""
    size: int
    """Number of draws behind the printed value."""
    deviation: str = ""
    """Standard deviation of one draw, for a mean: a number, or the column of our row that holds it."""
    expectation: str = ""
    """Column of our row that holds the exact expectation, empty where none is known."""

    def covers(self, claim: Claim) -> bool:
        """Tell whether this says something about ``claim``."""
        return (
            claim.artefact == self.artefact
            and fnmatchcase(claim.column, self.column)
            and set(self.keys) <= set(claim.keys)
        )


@dataclass(frozen=True)
class Paper:
    """All that is known about the printed values of one paper."""

    claims: tuple[Claim, ...]
    samplings: tuple[Sampling, ...] = ()
    notes: Mapping[str, str] = field(default_factory=dict)
    """Remark by claim, for example on a misprint."""

    def sampling(self, claim: Claim) -> Sampling | None:
        """Give the first sampling that covers ``claim``."""
        return next((sampling for sampling in self.samplings if sampling.covers(claim)), None)
