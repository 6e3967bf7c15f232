"""Table 24: exact expectations of the random control in every cell."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.tables.rendering import RenderedTable, rounded

ORDER = ["query_cost", "team_reward", "group_size", "provenance"]


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render Table 24 from the closed-form expectations."""
    cells = inputs["random_expectations"].sort_values(
        "sweep", key=lambda sweeps: sweeps.map(ORDER.index), kind="stable"
    )
    frame = pd.DataFrame(
        {
            "sweep": cells["sweep"],
            "k_query_cost_reward_units": cells["query_cost"],
            "w_t_team_reward": cells["team_reward"],
            "n_agents": cells["group_size"],
            "provenance": cells["provenance"],
            "query_pct": cells["query"],
            "info_pct": cells["info"],
            "team_pct": cells["team"],
            "expected_reward_x100": 100 * cells["score"],
            "source": "exact",
        }
    )
    display = pd.DataFrame(
        {
            "Sweep": cells["sweep"].str.replace("_", " "),
            "Setting": cells["cell"].str.partition("=")[2],
            "Query (%)": frame["query_pct"].map(rounded),
            "Info (%)": frame["info_pct"].map(rounded),
            "Team (%)": frame["team_pct"].map(lambda value: rounded(value, 2)),
            "100 × expected reward (reward units)": frame["expected_reward_x100"].map(lambda value: rounded(value, 2)),
        }
    )
    return RenderedTable(
        frame,
        display,
        "Exact random-policy sweep expectations",
        (
            "Source: closed form, no model. Final accuracy, local reward, unsafe choice and format validity are the "
            "same in every cell (Table 23).",
        ),
    )
