"""Estimates laid out as the paper's tables are: one row per policy, one column per metric."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from infoecon.errors import InfoeconError
from infoecon.tables.rendering import plus_minus

NAMES = {
    "final": "Final",
    "team": "Team",
    "local": "Local",
    "query": "Query",
    "info": "Info",
    "transfer": "Transfer",
    "unsafe": "Unsafe",
    "valid": "Valid",
}
_SOURCES = {
    "exact": "scripted policies, no model",
    "simulated": "simulated agents",
    "embedded": "the small embedded model",
    "model": "language models behind an endpoint",
}


def lay_out(
    estimates: pd.DataFrame, keys: Sequence[str], metrics: Sequence[str], rename: dict[str, str] | None = None
) -> pd.DataFrame:
    """Put mean and SD of each metric side by side.

    Parameters
    ----------
    estimates
        Rows of one scope (contract ``Estimates``).
    keys
        Columns that name a row.
    metrics
        Metrics in the order of their columns.
    rename
        Names under which the paper prints a metric.

    Returns
    -------
    pandas.DataFrame
        Columns ``<metric>_pct`` and ``<metric>_sd_pct`` in percent, then ``source``.

    Raises
    ------
    InfoeconError
        If a row of the table would have values from two runs.
    """
    rows = estimates[estimates["metric"].isin(metrics)]
    if (twice := rows.duplicated([*keys, "metric"])).any():
        row = " ".join(rows.loc[twice, list(keys)].iloc[0])
        raise InfoeconError(
            f"Two runs of the configuration give values for {row}, which has one row in the table; take it out of one "
            "of them, or name it differently there."
        )
    wide = rows.pivot(index=list(keys), columns="metric", values=["mean", "sd"])
    frame = pd.DataFrame(index=wide.index)
    for metric in metrics:
        name = (rename or {}).get(metric, metric)
        frame[f"{name}_pct"], frame[f"{name}_sd_pct"] = wide["mean", metric], wide["sd", metric]
    order = estimates[list(keys)].drop_duplicates()
    sources = estimates[[*keys, "source"]].drop_duplicates()
    return order.merge(frame.reset_index(), on=list(keys)).merge(sources, on=list(keys))


def display_columns(frame: pd.DataFrame, metrics: Sequence[str]) -> dict[str, list[str]]:
    """Write the columns of a laid-out frame as mean ± SD, by printed name."""
    return {
        f"{NAMES[metric]} (%)": [
            plus_minus(mean, sd) for mean, sd in zip(frame[f"{metric}_pct"], frame[f"{metric}_sd_pct"], strict=True)
        ]
        for metric in metrics
    }


def describe_sources(frame: pd.DataFrame) -> str:
    """Say where the values of a table come from."""
    return f"Source: {'; '.join(_SOURCES[source] for source in _SOURCES if source in set(frame['source']))}."
