"""Numbers printed in prose that follow from our tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import pandas as pd

from infoecon.ledger.comparison import Finding

Tables = Mapping[str, pd.DataFrame]
"""Our rendered tables by study and name, for example ``moral_hazard/table_13``."""


@dataclass(frozen=True)
class InlineFinding:
    """How to find the value of a claim made in prose."""

    table: str
    find: Callable[[pd.DataFrame], Finding]


def _count(value: int) -> Finding:
    return Finding(float(value))


def _classifier_queries(suite: pd.DataFrame) -> Finding:
    """Give the highest query or transfer rate of the rank classifier, and the highest spread."""
    rows = suite[suite["policy"] == "observable_rank_classifier"]
    rates, spreads = ["query_pct", "transfer_pct"], ["query_sd_pct", "transfer_sd_pct"]
    return Finding(float(rows[rates].to_numpy().max()), (float(rows[spreads].to_numpy().max()),))


def _runs(runs: pd.DataFrame) -> pd.DataFrame:
    return runs[runs["outer_seed"].astype(str) != "mean_sd"]


def _levels(column: str) -> Callable[[pd.DataFrame], Finding]:
    return lambda cells: _count(cells[column].nunique())


_RUNS = "moral_hazard/table_22"
_CELLS = "moral_hazard/table_24"

INLINE_FINDINGS: Mapping[str, InlineFinding] = {
    "moral_hazard/inline/p1-024": InlineFinding(_RUNS, lambda runs: _count(_runs(runs)["n_summaries"].max())),
    "moral_hazard/inline/p1-025": InlineFinding(_CELLS, lambda cells: _count(len(cells))),
    "moral_hazard/inline/p1-028": InlineFinding(_CELLS, _levels("provenance")),
    "moral_hazard/inline/p1-029": InlineFinding(_CELLS, _levels("k_query_cost_reward_units")),
    "moral_hazard/inline/p1-030": InlineFinding(_CELLS, _levels("w_t_team_reward")),
    "moral_hazard/inline/p1-031": InlineFinding(_CELLS, _levels("n_agents")),
    "moral_hazard/inline/p1-095": InlineFinding(_RUNS, lambda runs: _count(len(_runs(runs)))),
    "moral_hazard/inline/p1-098": InlineFinding("moral_hazard/table_15", _classifier_queries),
    "moral_hazard/inline/p1-099": InlineFinding("moral_hazard/table_12", lambda rows: _count(rows["n_cases"].max())),
}
"""By claim."""
