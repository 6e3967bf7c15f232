"""The random valid-action control: exact expectations and a Monte Carlo over whole data sets (App. G.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from infoecon.moral_hazard.cases import OPTIONS
from infoecon.moral_hazard.design import Cell, base_grid, is_primary
from infoecon.moral_hazard.scoring import Payoffs, episode_score
from infoecon.randomness import keyed_generator
from infoecon.settings.moral_hazard import GridSettings, PayoffSettings
from infoecon.tables.contracts import PERCENT, REWARD

QUERY_PROBABILITY = 0.5
NOTE_CHOICES = len(OPTIONS) + 1
"""Silence and one warning for each option of the target case."""
METRICS = ("final", "team", "local", "query", "info", "unsafe", "valid", "score")


def _payoffs(cell: Cell, payoffs: PayoffSettings) -> Payoffs:
    return Payoffs(payoffs.local_weight, payoffs.final_weight, cell.team_reward, cell.query_cost)


def expect(cell: Cell, payoffs: PayoffSettings) -> dict[str, float]:
    """Give the exact expectation of every metric in one cell (Tables 23, 24).

    Whatever the mapping, one option of four is the target, one unsafe, and one warning of five right.

    Returns
    -------
    dict
        Shares in [0, 1] by metric; ``score`` in reward units.
    """
    share = 1 / len(OPTIONS)
    local = (1 - QUERY_PROBABILITY) * share
    team = share**cell.group_size
    return {
        "final": share,
        "team": team,
        "local": local,
        "query": QUERY_PROBABILITY,
        "info": QUERY_PROBABILITY / NOTE_CHOICES * share,
        "unsafe": share,
        "valid": 1.0,
        "score": episode_score(local, share, team, QUERY_PROBABILITY, _payoffs(cell, payoffs)),
    }


def expectations(grid: GridSettings, payoffs: PayoffSettings) -> pd.DataFrame:
    """Give the exact expectations in every cell of the grid.

    Returns
    -------
    pandas.DataFrame
        Contract ``RandomExpectations``, metrics in percent, the score in reward units.
    """
    rows = []
    for cell in base_grid(grid, payoffs):
        exact = expect(cell, payoffs)
        percent = {metric: value if metric == "score" else 100 * value for metric, value in exact.items()}
        rows.append({**cell._asdict(), **percent})
    frame = pd.DataFrame(rows).rename(columns={"name": "cell"})
    frame["primary"] = is_primary(frame, payoffs)
    conditions = ["sweep", "cell", "provenance", "query_cost", "team_reward", "group_size", "primary"]
    return frame[[*conditions, *METRICS]].astype({"query_cost": float, "team_reward": float})


def _simulate(seed: int, replicates: int, episodes: int, group_size: int) -> dict[str, NDArray[np.float64]]:
    """Play episodes of one group size and average each over its agents: shape ``(replicates, episodes)`` by metric.

    A label is the target, the unsafe or the locally correct one with one chance in four each, so it is enough to
    draw where the policy's uniform choices land. Each replicate has a key of its own: more of them change none.
    """
    draws = np.stack(
        [
            keyed_generator(("random control", seed, group_size, replicate)).random((4, episodes, group_size))
            for replicate in range(replicates)
        ],
        axis=1,
    )
    queried = draws[0] < QUERY_PROBABILITY
    local = ~queried & (draws[1] < 1 / len(OPTIONS))
    warned = queried & (draws[2] < 1 / NOTE_CHOICES)
    final = np.floor(draws[3] * len(OPTIONS))
    correct, unsafe = final == 0, final == 1
    received = np.roll(warned, 1, axis=-1)
    means = {"final": correct, "local": local, "query": queried, "info": received & correct, "unsafe": unsafe}
    return {name: flags.mean(axis=-1) for name, flags in means.items()} | {
        "team": correct.all(axis=-1).astype(float),
        "valid": np.ones((replicates, episodes)),
    }


def monte_carlo(grid: GridSettings, payoffs: PayoffSettings, replicates: int, seed: int = 0) -> pd.DataFrame:
    """Replicate the whole design of the random control many times (Table 25).

    Within a replicate, cells of one group size share their draws, as they do in a run: a condition-blind policy
    differs between them in its score alone. That sharing makes the spread of a grid mean as wide as it is.

    Parameters
    ----------
    replicates
        Replicated data sets, each of all cells × evaluation seeds × episodes.
    seed
        Key of the draws.

    Returns
    -------
    pandas.DataFrame
        Contract ``RandomMonteCarlo``; percentages and 100 × score, as printed.
    """
    cells = base_grid(grid, payoffs)
    episodes = len(grid.evaluation_seeds) * grid.episodes_per_seed
    played = {size: _simulate(seed, replicates, episodes, size) for size in {cell.group_size for cell in cells}}
    totals = dict.fromkeys(METRICS, np.zeros(replicates))
    for cell in cells:
        means = played[cell.group_size]
        score = episode_score(means["local"], means["final"], means["team"], means["query"], _payoffs(cell, payoffs))
        for metric, values in {**means, "score": score}.items():
            totals[metric] = totals[metric] + values.mean(axis=1) / len(cells)
    rows = []
    for metric in METRICS:
        values = 100 * totals[metric]
        sd = float(values.std(ddof=1)) if replicates > 1 else 0.0
        lower, upper = np.percentile(values, [2.5, 97.5])
        rows.append(
            {
                "metric": metric,
                "unit": f"100 × {REWARD}" if metric == "score" else PERCENT,
                "exact_mean": 100 * float(np.mean([expect(cell, payoffs)[metric] for cell in cells])),
                "mean": float(values.mean()),
                "sd": sd,
                "standard_error": sd / float(np.sqrt(replicates)),
                "percentile_2_5": float(lower),
                "percentile_97_5": float(upper),
                "replicates": replicates,
            }
        )
    return pd.DataFrame(rows)
