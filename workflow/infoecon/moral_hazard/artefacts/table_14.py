"""Table 14: where the private threshold and the social planner stop querying."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.tables.rendering import RenderedTable, rounded

POLICIES = {"private_threshold": "private", "social_planner": "social"}


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 14 from the control suite's estimates in the cells of the query-cost sweep."""
    estimates = inputs["estimates"]
    cells = estimates[
        estimates["policy"].isin(POLICIES)
        & estimates["mapping"].eq("original")
        & estimates["scope"].str.startswith("query_cost=")
        & estimates["metric"].isin(["query", "team"])
    ]
    cells = cells.assign(
        k_query_cost_reward_units=cells["scope"].str.removeprefix("query_cost=").astype(float),
        column=cells["policy"].map(POLICIES) + "_" + cells["metric"] + "_pct",
    )
    columns = [f"{policy}_{metric}_pct" for policy in POLICIES.values() for metric in ("query", "team")]
    frame = cells.pivot(index="k_query_cost_reward_units", columns="column", values="mean")[columns].reset_index()
    frame = frame.rename_axis(columns=None).assign(source="exact")
    display = pd.DataFrame(
        {
            "Query cost": frame["k_query_cost_reward_units"].map(lambda value: rounded(value, 2)),
            **{
                f"{policy.capitalize()} {metric} (%)": frame[f"{policy}_{metric}_pct"].map(rounded)
                for policy in POLICIES.values()
                for metric in ("query", "team")
            },
        }
    )
    return RenderedTable(
        frame,
        display,
        "Private-threshold and social-planner calibration across query costs",
        ("Source: scripted policies, no model. Original mapping, two agents, query cost in reward units.",),
    )
