"""Table 12: the frozen observable-rank classifier under the three mappings."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.performance import display_columns, lay_out
from infoecon.tables.rendering import RenderedTable, rounded


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 12 from the classifier's accuracy and the control suite's primary estimates."""
    accuracy, estimates = inputs["rank_classifier"], inputs["estimates"]
    primary = estimates[estimates["policy"].eq("observable_rank_classifier") & estimates["scope"].eq("primary")]
    played = lay_out(primary, ["mapping"], ["team", "unsafe"])
    frame = accuracy.rename(
        columns={
            "accuracy": "hidden_label_accuracy_pct",
            "correct": "n_correct",
            "cases": "n_cases",
            "wilson_lower": "wilson95_lo_pct",
            "wilson_upper": "wilson95_hi_pct",
        }
    ).merge(played, on="mapping")
    display = pd.DataFrame(
        {
            "Mapping": frame["mapping"],
            "Hidden-label accuracy (%)": [
                f"{rounded(row.hidden_label_accuracy_pct)} ({row.n_correct}/{row.n_cases})"
                for row in frame.itertuples()
            ],
            "Wilson 95% CI": [
                f"[{rounded(row.wilson95_lo_pct)}, {rounded(row.wilson95_hi_pct)}]" for row in frame.itertuples()
            ],
            **display_columns(frame, ["team", "unsafe"]),
        }
    )
    return RenderedTable(
        frame,
        display,
        "Frozen observable-rank classifier under interventions on the rank–label relationship",
        (
            "Source: scripted policy, no model. Accuracy over distinct cases; team success and unsafe choice in the "
            "primary condition, mean ± SD over evaluation seeds. The classifier never queries.",
        ),
    )
