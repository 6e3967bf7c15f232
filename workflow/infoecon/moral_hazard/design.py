"""The base grid and the episodes that a run plays (App. B.1)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any, NamedTuple

import pandas as pd

from infoecon.moral_hazard.cases import PRIMARY_GROUP_SIZE, cases_of_frame
from infoecon.moral_hazard.game import Episode
from infoecon.moral_hazard.scoring import Payoffs
from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, Provenance, RunSettings, Sweep

PRIMARY_PROVENANCE: Provenance = "anonymous"
"""Whether notes show their author wherever the provenance is not swept (App. B.1)."""


class Cell(NamedTuple):
    """One labelled condition of the grid."""

    sweep: Sweep
    """The parameter that varies."""
    name: str
    """Label, for example ``query_cost=0.05``."""
    provenance: Provenance
    query_cost: float
    team_reward: float
    group_size: int


def base_grid(grid: GridSettings, payoffs: PayoffSettings) -> list[Cell]:
    """List the labelled cells; the primary condition stands under every sweep that holds its level."""
    primary = Cell("provenance", "", PRIMARY_PROVENANCE, payoffs.query_cost, payoffs.team_reward, PRIMARY_GROUP_SIZE)
    levels: dict[Sweep, Sequence[Any]] = {
        "provenance": grid.provenances,
        "query_cost": grid.query_costs,
        "team_reward": grid.team_rewards,
        "group_size": grid.group_sizes,
    }
    return [
        primary._replace(sweep=sweep, name=f"{sweep}={level}", **{sweep: level})
        for sweep, values in levels.items()
        for level in values
    ]


def is_primary(frame: pd.DataFrame, payoffs: PayoffSettings) -> pd.Series:
    """Mark the rows that were played under the primary condition.

    Returns
    -------
    pandas.Series
        Booleans, one per row.
    """
    return (
        frame["provenance"].eq(PRIMARY_PROVENANCE)
        & frame["query_cost"].eq(payoffs.query_cost)
        & frame["team_reward"].eq(payoffs.team_reward)
        & frame["group_size"].eq(PRIMARY_GROUP_SIZE)
    )


def episodes_frame(run: RunSettings, grid: GridSettings, payoffs: PayoffSettings) -> pd.DataFrame:
    """List the episodes of one run.

    Returns
    -------
    pandas.DataFrame
        One row per episode (contract ``Episodes``).
    """
    cells = [cell for cell in base_grid(grid, payoffs) if cell.sweep in run.sweeps]
    seeds = run.evaluation_seeds or grid.evaluation_seeds
    count = run.episodes_per_seed or grid.episodes_per_seed
    names = run.policies if run.policies is not None else [run.model]
    return pd.DataFrame(
        [
            {
                "episode_id": f"{policy}/{outer_seed}/{mapping}/{cell.name}/{seed}/{episode}",
                "policy": policy,
                "outer_seed": outer_seed,
                "mapping": mapping,
                "cell": cell.name,
                "sweep": cell.sweep,
                "provenance": cell.provenance,
                "query_cost": float(cell.query_cost),
                "team_reward": float(cell.team_reward),
                "local_weight": float(payoffs.local_weight),
                "final_weight": float(payoffs.final_weight),
                "group_size": cell.group_size,
                "evaluation_seed": seed,
                "episode": episode,
            }
            for policy, outer_seed, mapping, cell, seed, episode in product(
                names, run.outer_seeds, run.mappings, cells, seeds, range(count)
            )
        ]
    )


def episodes_of_frame(episodes: pd.DataFrame, cases: pd.DataFrame) -> dict[str, Episode]:
    """Put the cases of every episode beside its conditions.

    Returns
    -------
    dict
        Episodes in the order of the rows, by episode id.
    """
    grouped = cases_of_frame(cases)
    return {
        row.episode_id: Episode(
            cases=grouped[row.mapping, row.group_size, row.evaluation_seed, row.episode],
            payoffs=Payoffs(row.local_weight, row.final_weight, row.team_reward, row.query_cost),
            notes_show_authors=row.provenance == "visible",
            outer_seed=row.outer_seed,
            evaluation_seed=row.evaluation_seed,
            episode=row.episode,
        )
        for row in episodes.itertuples(index=False)
    }
