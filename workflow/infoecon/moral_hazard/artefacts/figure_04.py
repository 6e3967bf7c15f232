"""Figure 4: where policies stand between local reward, acquisition, transfer and team success."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.colors import LinearSegmentedColormap, Normalize
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from infoecon.moral_hazard.artefacts.table_02 import grid_performance
from infoecon.moral_hazard.performance import describe_sources, lay_out
from infoecon.plotting.style import (
    BLUE,
    FAINT,
    INK,
    MUTED,
    PAGE_INCHES,
    SKY,
    SOURCE_MARKERS,
    SOURCE_NAMES,
    VERMILION,
    label_panel,
    new_figure,
    styled,
)

METRICS = ["team", "local", "query", "info"]
_TEAM_COLOURS = LinearSegmentedColormap.from_list("team", ["#E4EEF6", SKY, BLUE, "#00304F"])
_LETTER_WIDTH = 2.0
"""About the width of a letter of a label, in percent of an axis."""


def _area(percent: float) -> float:
    return 14 + 1.1 * percent


def _name(policy: str) -> str:
    return policy.removeprefix("simulated_").replace("_", " ")


def _panel(axes: Axes, rows: pd.DataFrame, across: str, up: str, size: str, colour: str | None) -> None:
    norm = Normalize(0, 100)
    for row in rows.itertuples():
        values = row._asdict()
        x, y = values[f"{across}_pct"], values[f"{up}_pct"]
        axes.errorbar(
            x, y, xerr=values[f"{across}_sd_pct"], yerr=values[f"{up}_sd_pct"], fmt="none", ecolor=MUTED,
            elinewidth=0.7, capsize=1.5, zorder=2,
        )  # fmt: skip
        if row.policy == "random_valid":
            axes.scatter(x, y, s=34, marker="x", color=VERMILION, linewidths=1.5, zorder=4)
        else:
            fill = _TEAM_COLOURS(norm(values[f"{colour}_pct"])) if colour else SKY
            axes.scatter(
                x, y, s=_area(values[f"{size}_pct"]), marker=SOURCE_MARKERS[row.source], facecolor=fill, alpha=0.85,
                edgecolor=INK, linewidths=0.6, zorder=3.5 if row.source in ("embedded", "model") else 3,
            )  # fmt: skip
    _label_points(axes, rows, across, up)
    axes.set(xlim=(-10, 110), ylim=(-12, 110), xticks=range(0, 101, 25), yticks=range(0, 101, 25))
    axes.grid(color=FAINT, linewidth=0.4, zorder=0)
    axes.set_axisbelow(True)


def _label_points(axes: Axes, rows: pd.DataFrame, across: str, up: str) -> None:
    """Name the points; names of points close to each other are stacked, so that none covers another."""
    taken: list[tuple[float, float]] = []
    points = list(zip(rows[f"{across}_pct"], rows[f"{up}_pct"], strict=True))
    for row in rows.sort_values([f"{up}_pct", f"{across}_pct"]).itertuples():
        values = row._asdict()
        x, y = values[f"{across}_pct"], values[f"{up}_pct"]
        name = "random" if row.policy == "random_valid" else _name(row.policy)
        # On its right the name would stand beside a higher neighbour's mark and look like its name.
        is_crowded = any(0 < other - x < 10 and 0 < place - y < 10 for other, place in points)
        to_left = x > 55 or (is_crowded and x - 6 - _LETTER_WIDTH * len(name) > -10)
        below = row.source in ("embedded", "model") and y < 8
        at, step = (y - 7, -5) if below else (y + 3.5, 6)
        while any(abs(at - other) < 5 and abs(x - place) < 45 for place, other in taken):
            at += step
        taken.append((x, at))
        axes.annotate(
            name,
            (x, y),
            xytext=(x + (-6 if to_left else 6), at),
            fontsize=6,
            color=VERMILION if row.policy == "random_valid" else INK,
            ha="right" if to_left else "left",
            va="center",
            arrowprops={"arrowstyle": "-", "color": MUTED, "lw": 0.4, "shrinkB": 3} if abs(at - y) > 8 else None,
            zorder=5,
        )


def _key(axes: Axes, title: str, shaded: bool, where: Literal["upper left", "upper right"]) -> None:
    """Show what area and shade mean."""
    handles = [
        Line2D([], [], marker="o", color="none", markersize=_area(percent) ** 0.5, label=f"{percent}%",
               markerfacecolor=_TEAM_COLOURS(percent / 100) if shaded else SKY, markeredgecolor=INK,
               markeredgewidth=0.6)
        for percent in (0, 50, 100)
    ]  # fmt: skip
    axes.legend(handles=handles, title=title, title_fontsize=6.5, loc=where, frameon=False, labelspacing=0.7)


def draw(inputs: Mapping[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Draw Figure 4 from the estimates of all runs."""
    rows = lay_out(grid_performance(inputs["estimates"]), ["policy"], METRICS)
    with styled():
        figure = new_figure(PAGE_INCHES, 3.75)
        left, right = figure.subplots(1, 2)
        _panel(left, rows, "local", "team", "query", None)
        left.set(xlabel="Local reward (% of agents)", ylabel="Team success (% of episodes)")
        label_panel(left, "A", "Local reward and team success")
        _key(left, "Query rate", False, "upper right")
        _panel(right, rows, "query", "info", "team", "team")
        right.set(xlabel="Query rate (% of agents)", ylabel="Information transfer (% of agents)")
        label_panel(right, "B", "Query use and information transfer")
        _key(right, "Team success", True, "upper left")
        agents = rows[rows["policy"].ne("random_valid")]
        present = [source for source in SOURCE_NAMES if source in set(agents["source"])]
        handles = [
            Line2D([], [], marker=SOURCE_MARKERS[source], color="none", markerfacecolor=SKY, markeredgecolor=INK,
                   markersize=5, label=SOURCE_NAMES[source])
            for source in present
        ]  # fmt: skip
        handles.append(
            Line2D(
                [], [], marker="x", color="none", markeredgecolor=VERMILION, markersize=5, label="random valid action"
            )
        )
        handles.append(Line2D([], [], marker="|", color=MUTED, markersize=6, label="±1 SD over replicates"))
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), frameon=False)
        title = f"Base policy geometry. {describe_sources(agents)}"
        if "model" not in present:
            title += " None of the paper's models."
        figure.suptitle(title, fontsize=8, x=0.01, ha="left")
    return figure, rows
