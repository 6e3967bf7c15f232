"""Table 22: the random valid-action control, one row per outer seed."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.performance import NAMES
from infoecon.tables.rendering import RenderedTable, plus_minus

METRICS = ["team", "local", "query", "info", "unsafe", "valid"]


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 22 from the control's grid means per outer seed."""
    seeds = inputs["seed_estimates"]
    seeds = seeds[seeds["policy"].eq("random_valid") & seeds["mapping"].eq("original")]
    means = seeds.pivot(index="outer_seed", columns="metric", values="mean")[METRICS]
    summaries = seeds.groupby("outer_seed")["summaries"].first()
    rows = [
        {
            "outer_seed": str(seed),
            "n_summaries": summaries[seed],
            **{f"{name}_pct": value for name, value in row.items()},
        }
        for seed, row in means.iterrows()
    ]
    whole = {"outer_seed": "mean_sd", "n_summaries": summaries.sum()}
    for metric in METRICS:
        whole |= {f"{metric}_pct": means[metric].mean(), f"{metric}_sd_pct": means[metric].std(ddof=1)}
    columns = ["outer_seed", "n_summaries", *(f"{name}{end}" for name in METRICS for end in ("_pct", "_sd_pct"))]
    frame = pd.DataFrame([*rows, whole]).reindex(columns=columns).assign(source="exact")
    display = pd.DataFrame(
        {
            "Outer seed": frame["outer_seed"].replace("mean_sd", "Mean ± SD"),
            "Summaries": frame["n_summaries"],
            **{
                f"{NAMES[name]} (%)": [
                    plus_minus(mean, sd) for mean, sd in zip(frame[f"{name}_pct"], frame[f"{name}_sd_pct"], strict=True)
                ]
                for name in METRICS
            },
        }
    )
    return RenderedTable(
        frame,
        display,
        "Matched random valid-action runs",
        (
            "Source: scripted policy, no model; one random sample per outer seed. A summary is one cell and evaluation "
            "seed; the last row is mean ± SD over outer seeds.",
        ),
    )
