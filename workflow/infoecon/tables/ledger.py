"""Contract of the ledger."""

from __future__ import annotations

from pandera.typing import Series

from infoecon.tables.contracts import Contract, column

UNCERTAINTIES = ["", "standard deviation", "standard error", "interval"]
SOURCES = ["", "exact", "recomputed", "simulated", "embedded", "model"]
VERDICTS = ["reproduced", "within interval", "differs", "not comparable", "not run"]


class Ledger(Contract):
    """Every printed value, ours beside it, and a verdict."""

    claim: Series[str] = column("name of the value: study/table/column[keys] or study/inline/number", unique=True)
    paper: Series[str] = column("study whose paper prints it")
    section: Series[str] = column("section of the paper")
    quantity: Series[str] = column("what is printed, in words")
    published: Series[str] = column("printed value, exactly as printed", "see column unit")
    published_uncertainty: Series[str] = column("printed uncertainty: one number, or [lower, upper]", "see column unit")
    uncertainty_kind: Series[str] = column("what the uncertainties are", isin=UNCERTAINTIES)
    ours: Series[float] = column("our value, empty where there is none", "see column unit", nullable=True)
    ours_uncertainty: Series[str] = column("our uncertainty, in the form of the printed one", "see column unit")
    unit: Series[str] = column("unit of all values of the row")
    source: Series[str] = column("where our value comes from, empty where there is none", isin=SOURCES)
    verdict: Series[str] = column("what became of the printed value", isin=VERDICTS)
    reason: Series[str] = column("why, in words")
