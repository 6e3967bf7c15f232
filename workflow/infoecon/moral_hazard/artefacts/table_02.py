"""Table 2: base performance of every policy that ran over the grid."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.performance import describe_sources, display_columns, lay_out
from infoecon.tables.rendering import RenderedTable, rounded

METRICS = ["team", "local", "query", "info", "unsafe", "valid"]


def grid_performance(estimates: pd.DataFrame) -> pd.DataFrame:
    """Keep one row per policy over the original mapping: all but the calibrations that read hidden labels.

    The random control counts with its three outer seeds, as printed; scripted policies have their own table.
    """
    grid = estimates[estimates["scope"].eq("grid") & estimates["mapping"].eq("original")]
    chosen = grid[
        grid["source"].ne("exact") | (grid["policy"].eq("random_valid") & grid["replication"].eq("outer_seed"))
    ]
    return chosen.sort_values("source", key=lambda column: column.map({"exact": 1}).fillna(0), kind="stable")


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 2 from the estimates of all runs."""
    chosen = grid_performance(inputs["estimates"])
    frame = lay_out(chosen, ["policy"], METRICS)
    facts = chosen.drop_duplicates("policy").set_index("policy")
    frame["unparsed_pct"] = frame["policy"].map(facts["unparsed_percent"])
    for end in ("lower", "upper"):
        bounds = chosen.pivot(index="policy", columns="metric", values=f"{end}_bound")
        for metric in METRICS[:-1]:
            frame[f"{metric}_{end}_pct"] = frame["policy"].map(bounds[metric])
    frame["agent_episodes"] = frame["policy"].map(facts["rows"])
    display = pd.DataFrame(
        {
            "Policy": frame["policy"],
            "Source": frame["source"],
            **display_columns(frame, METRICS),
            "Unparsed (%)": frame["unparsed_pct"].map(rounded),
            **{
                f"{metric.capitalize()} bounds (%)": [
                    f"[{rounded(lower)}, {rounded(upper)}]"
                    for lower, upper in zip(frame[f"{metric}_lower_pct"], frame[f"{metric}_upper_pct"], strict=True)
                ]
                for metric in METRICS[:-1]
            },
            "n": frame["agent_episodes"],
        }
    )
    is_random = frame["policy"].eq("random_valid")
    named = frame.assign(
        model=frame["policy"].where(~is_random, "random"),
        condition=is_random.map({True: "random_valid", False: "base"}),
    ).drop(columns="policy")
    first = ["model", "condition"]
    return RenderedTable(
        named[first + [column for column in named if column not in first]],
        display,
        "Base performance over the matched evaluation grid",
        (
            describe_sources(frame),
            "Mean ± SD over outer seeds, or over evaluation seeds where a policy ran with one outer seed; "
            "n counts agent-episodes.",
            "Bounds: the mean if every reply that could not be parsed had been the worst or the best act; the mean "
            "itself counts the fallbacks of Table 7.",
        ),
    )
