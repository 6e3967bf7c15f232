"""Table 23: exact expectations of the random control in the primary condition."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.tables.rendering import RenderedTable, rounded

METRICS = {
    "final": "Final accuracy (%)",
    "team": "Team success (%)",
    "local": "Local reward (%)",
    "query": "Query rate (%)",
    "info": "Realised information transfer per opportunity (%)",
    "unsafe": "Unsafe choice (%)",
    "valid": "Format validity (%)",
    "score": "100 × expected reward (reward units)",
}


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 23 from the closed-form expectations."""
    expectations = inputs["random_expectations"]
    primary = expectations[expectations["primary"]].iloc[0]
    values = [100 * primary[metric] if metric == "score" else primary[metric] for metric in METRICS]
    frame = pd.DataFrame(
        {
            "metric": [metric if metric != "score" else "expected_reward_x100" for metric in METRICS],
            "unit": ["pct" if metric != "score" else "100_x_reward_units" for metric in METRICS],
            "exact_expectation": values,
            "source": "exact",
        }
    )
    display = pd.DataFrame(
        {"Metric": METRICS.values(), "Exact expectation": [f"{rounded(value, 2)}" for value in values]}
    )
    return RenderedTable(
        frame, display, "Exact random valid-action expectations", ("Source: closed form, no model. Primary condition.",)
    )
