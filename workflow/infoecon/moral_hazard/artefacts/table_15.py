"""Table 15: all scripted policies in the primary condition."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.performance import display_columns, lay_out
from infoecon.tables.rendering import RenderedTable, rounded

METRICS = ["team", "local", "query", "info", "unsafe"]
PRINTED = ["team", "local", "query", "transfer", "unsafe"]


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 15 from the control suite's primary estimates."""
    estimates = inputs["estimates"]
    primary = estimates[estimates["scope"].eq("primary")]
    frame = lay_out(primary, ["policy", "mapping"], METRICS, {"info": "transfer"})
    unparsed = primary["unparsed_percent"].max()
    display = pd.DataFrame({"Policy": frame["policy"], "Mapping": frame["mapping"], **display_columns(frame, PRINTED)})
    return RenderedTable(
        frame,
        display,
        "Complete deterministic control suite",
        (
            "Source: scripted policies, no model. Primary condition, mean ± SD over evaluation seeds.",
            f"Replies that could not be parsed: at most {rounded(unparsed)}% in any row.",
        ),
    )
