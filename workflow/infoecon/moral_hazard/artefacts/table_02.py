"""Table 2: base performance of every policy that ran over the grid."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.performance import NAMES, describe_sources, display_columns, lay_out
from infoecon.tables.rendering import RenderedTable, plus_minus, rounded

EVENTS = ["team", "local", "query", "info", "unsafe"]
METRICS = [*EVENTS, "valid"]


def grid_performance(estimates: pd.DataFrame) -> pd.DataFrame:
    """Keep one row per policy over the original mapping: all but the calibrations that read hidden labels.

    The random control counts with its three outer seeds, as printed; scripted policies have their own table.
    """
    grid = estimates[estimates["scope"].eq("grid") & estimates["mapping"].eq("original")]
    chosen = grid[
        grid["source"].ne("exact") | (grid["policy"].eq("random_valid") & grid["replication"].eq("outer_seed"))
    ]
    return chosen.sort_values("source", key=lambda column: column.map({"exact": 1}).fillna(0), kind="stable")


def _with_bounds(frame: pd.DataFrame, metric: str) -> list[str]:
    """Write mean ± SD, and the bounds behind it where a reply could not be parsed."""
    cells = []
    for row in frame.to_dict("records"):
        cell = plus_minus(row[f"{metric}_pct"], row[f"{metric}_sd_pct"])
        lower, upper = rounded(row[f"{metric}_lower_pct"]), rounded(row[f"{metric}_upper_pct"])
        cells.append(f"{cell} [{lower}, {upper}]" if row["unparsed_pct"] > 0 else cell)
    return cells


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 2 from the estimates of all runs."""
    chosen = grid_performance(inputs["estimates"])
    frame = lay_out(chosen, ["policy"], METRICS)
    facts = chosen.drop_duplicates("policy").set_index("policy")
    frame["unparsed_pct"] = frame["policy"].map(facts["unparsed_percent"])
    for end in ("lower", "upper"):
        bounds = chosen.pivot(index="policy", columns="metric", values=f"{end}_bound")
        for metric in EVENTS:
            frame[f"{metric}_{end}_pct"] = frame["policy"].map(bounds[metric])
    frame["agent_episodes"] = frame["policy"].map(facts["rows"])
    display = pd.DataFrame(
        {
            "Policy": frame["policy"],
            "Source": frame["source"],
            **{f"{NAMES[metric]} (%)": _with_bounds(frame, metric) for metric in EVENTS},
            **display_columns(frame, ["valid"]),
            "Unparsed (%)": frame["unparsed_pct"].map(rounded),
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
            "[a, b]: bounds of the mean, had every reply that could not be parsed been the worst or the best act; the "
            "mean itself counts such a reply as the configured scoring says (by default the fallbacks of Table 7).",
        ),
    )
