"""Table 13: controls that act through the query channel."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.performance import display_columns, lay_out
from infoecon.tables.rendering import RenderedTable

POLICIES = ["always_query_oracle", "selective_query_oracle"]
METRICS = ["team", "query", "info", "unsafe"]
PRINTED = ["team", "query", "transfer", "unsafe"]


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 13 from the control suite's primary estimates."""
    estimates = inputs["estimates"]
    primary = estimates[estimates["policy"].isin(POLICIES) & estimates["scope"].eq("primary")]
    frame = lay_out(primary, ["policy", "mapping"], METRICS, {"info": "transfer"})
    display = pd.DataFrame({"Policy": frame["policy"], "Mapping": frame["mapping"], **display_columns(frame, PRINTED)})
    return RenderedTable(
        frame,
        display,
        "Query-mediated deterministic controls",
        ("Source: scripted policies, no model. Primary condition, mean ± SD over evaluation seeds.",),
    )
