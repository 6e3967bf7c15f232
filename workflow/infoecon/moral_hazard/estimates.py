"""Means, spreads and bounds over a run's summaries.

A summary is one cell, evaluation seed and outer seed: the mean over its episodes of each episode's mean over agents.
The mean of a scope is the mean of its summaries; the spread is over replicates, which are the outer seeds where there
are several and the evaluation seeds otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.errors import InfoeconError
from infoecon.moral_hazard.design import is_primary
from infoecon.settings.moral_hazard import PayoffSettings
from infoecon.tables.contracts import PERCENT, REWARD

EVENTS = {
    "final": "final_correct",
    "team": "team_success",
    "local": "local_reward",
    "query": "queried",
    "correct_warning": "correct_warning",
    "info": "transferred",
    "unsafe": "unsafe",
    "valid": "valid",
}
"""Events of Table 7 behind each metric in percent."""
_POLICY = ["policy", "mapping"]
_SUMMARY = [*_POLICY, "cell", "outer_seed", "evaluation_seed"]


def _numbers(judgements: pd.DataFrame) -> pd.DataFrame:
    """Turn events into percent, with ``metric``, ``metric:lower`` and ``metric:upper`` as columns."""
    columns = {}
    for metric, event in EVENTS.items():
        columns[metric] = judgements[event]
        for end in ("lower", "upper"):
            if f"{event}_{end}" in judgements:
                columns[f"{metric}:{end}"] = judgements[f"{event}_{end}"]
    numbers = pd.DataFrame(columns).astype(float) * 100
    numbers["unparsed"] = (~judgements["valid"]).astype(float) * 100
    numbers["score"] = judgements["episode_score"]
    return numbers


def _summaries(judgements: pd.DataFrame) -> pd.DataFrame:
    """Average episodes, then agents do not count more in larger groups."""
    numbers = pd.concat([judgements[[*_SUMMARY, "episode"]], _numbers(judgements)], axis=1)
    return numbers.groupby([*_SUMMARY, "episode"], sort=False).mean().groupby(_SUMMARY, sort=False).mean().reset_index()


def _require_complete(summaries: pd.DataFrame) -> None:
    """Refuse a policy that lacks a cell or seed which the run has: its mean would have another denominator."""
    design = summaries[["mapping", "cell", "outer_seed", "evaluation_seed"]].drop_duplicates()
    for policy, rows in summaries.groupby("policy", sort=False):
        missing = design.merge(rows, how="left", on=list(design), indicator=True).query("_merge == 'left_only'")
        if len(missing):
            mapping, cell, outer_seed, evaluation_seed = missing[list(design)].iloc[0]
            raise InfoeconError(
                f"Policy {policy} lacks mapping {mapping}, cell {cell}, outer seed {outer_seed}, evaluation seed "
                f"{evaluation_seed}, which its run has; a mean would have another denominator, so run it again whole."
            )


def _scopes(judgements: pd.DataFrame, payoffs: PayoffSettings) -> dict[str, pd.Series]:
    """Mark the rows of each scope; the primary condition stands in several cells and counts once."""
    scopes = {"grid": pd.Series(True, index=judgements.index)}
    primary = is_primary(judgements, payoffs)
    if primary.any():
        scopes["primary"] = judgements["cell"].eq(judgements.loc[primary, "cell"].iloc[0])
    return scopes | {cell: judgements["cell"].eq(cell) for cell in judgements["cell"].unique()}


def _unit(metric: str) -> str:
    return REWARD if metric == "score" else PERCENT


def estimate(judgements: pd.DataFrame, sources: Mapping[str, str], payoffs: PayoffSettings) -> pd.DataFrame:
    """Estimate every metric of every policy over the grid, in the primary condition and in each cell.

    Parameters
    ----------
    judgements
        One run (contract ``Judgements``).
    sources
        Source of each policy's values: exact, simulated, embedded or model.
    payoffs
        The primary reward contract.

    Returns
    -------
    pandas.DataFrame
        Contract ``Estimates``.

    Raises
    ------
    InfoeconError
        If a policy lacks a cell or seed that the run has.
    """
    summaries = _summaries(judgements)
    _require_complete(summaries)
    replication = "outer_seed" if judgements["outer_seed"].nunique() > 1 else "evaluation_seed"
    metrics = [*EVENTS, "score"]
    rows = []
    for scope, marked in _scopes(judgements, payoffs).items():
        cells = judgements.loc[marked, "cell"].unique()
        chosen = summaries[summaries["cell"].isin(cells)].drop(columns=["cell"])
        counts = judgements[marked].groupby(_POLICY, sort=False).size()
        for key, group in chosen.groupby(_POLICY, sort=False):
            values = group.drop(columns=_POLICY)
            replicates = values.groupby(replication).mean()
            means, spreads = replicates.mean(), replicates.std(ddof=1)
            for metric in metrics:
                rows.append(
                    {
                        "policy": key[0],
                        "source": sources[key[0]],
                        "mapping": key[1],
                        "scope": scope,
                        "metric": metric,
                        "unit": _unit(metric),
                        "mean": means[metric],
                        "sd": spreads[metric],
                        "replication": replication,
                        "replicates": len(replicates),
                        "rows": int(counts[key]),
                        "lower_bound": means.get(f"{metric}:lower", float("nan")),
                        "upper_bound": means.get(f"{metric}:upper", float("nan")),
                        "unparsed_percent": means["unparsed"],
                    }
                )
    return pd.DataFrame(rows)


def estimate_seeds(judgements: pd.DataFrame, sources: Mapping[str, str]) -> pd.DataFrame:
    """Average every metric over the grid for each outer seed (Table 22).

    Parameters
    ----------
    judgements, sources
        As for ``estimate``.

    Returns
    -------
    pandas.DataFrame
        Contract ``SeedEstimates``.
    """
    summaries = _summaries(judgements)
    _require_complete(summaries)
    grouped = summaries.groupby([*_POLICY, "outer_seed"], sort=False)
    means = grouped[[*EVENTS, "score"]].mean()
    long = means.rename_axis(columns="metric").stack().rename("mean").reset_index()
    counts = grouped.size().rename("summaries").reset_index()
    long = long.merge(counts, on=[*_POLICY, "outer_seed"], validate="many_to_one")
    long["source"] = long["policy"].map(sources)
    long["unit"] = long["metric"].map(_unit)
    return long[["policy", "source", "mapping", "outer_seed", "summaries", "metric", "unit", "mean"]]
