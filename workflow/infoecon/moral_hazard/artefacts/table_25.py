"""Table 25: Monte Carlo check of the random control's expectations."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.artefacts.table_23 import METRICS
from infoecon.tables.rendering import RenderedTable, rounded


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 25 from the Monte Carlo summary."""
    spread = inputs["random_monte_carlo"]
    is_score = spread["metric"].eq("score")
    frame = pd.DataFrame(
        {
            "metric": spread["metric"].where(~is_score, "expected_reward_x100"),
            "unit": is_score.map({True: "100_x_reward_units", False: "pct"}),
            "exact_grid_mean": spread["exact_mean"],
            "mc_mean": spread["mean"],
            "mc_sd": spread["sd"],
            "mc_p2_5": spread["percentile_2_5"],
            "mc_p97_5": spread["percentile_97_5"],
            "mc_standard_error": spread["standard_error"],
            "n_replicates": spread["replicates"],
            "source": "exact",
        }
    )
    display = pd.DataFrame(
        {
            "Metric": spread["metric"].map(METRICS),
            "Exact grid mean": frame["exact_grid_mean"].map(lambda value: rounded(value, 2)),
            "MC mean ± SE": [
                f"{rounded(row.mc_mean, 2)} ± {rounded(row.mc_standard_error, 2)}" for row in frame.itertuples()
            ],
            "MC SD": frame["mc_sd"].map(lambda value: rounded(value, 2)),
            "MC 2.5–97.5%": [f"[{rounded(row.mc_p2_5, 2)}, {rounded(row.mc_p97_5, 2)}]" for row in frame.itertuples()],
        }
    )
    replicates = spread["replicates"].iloc[0]
    return RenderedTable(
        frame,
        display,
        "Monte Carlo validation of the random control",
        (
            f"Source: simulation of the scripted policy, no model; {replicates:,} replicated data sets of the whole "
            "design. SD is over data sets, SE is the Monte Carlo standard error of the mean.",
        ),
    )
