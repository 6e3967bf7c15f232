"""One look for every figure: readable at column width, safe for colour-blind readers, the same bytes every time."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path

import pandas as pd
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

COLUMN_INCHES = 3.3
PAGE_INCHES = 6.9

# Okabe and Ito's palette.
BLACK, ORANGE, SKY, GREEN = "#000000", "#E69F00", "#56B4E9", "#009E73"
YELLOW, BLUE, VERMILION, PURPLE = "#F0E442", "#0072B2", "#D55E00", "#CC79A7"
INK, MUTED, FAINT, PAPER = "#222222", "#6B6B6B", "#D9D9D9", "#F6F5F2"

SOURCE_MARKERS = {"exact": "X", "simulated": "o", "embedded": "s", "model": "D"}
"""Marker of each source of values."""
SOURCE_NAMES = {
    "exact": "scripted policy",
    "simulated": "simulated agent",
    "embedded": "embedded model",
    "model": "language model",
}
"""What figures call each source."""

_SETTINGS = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "axes.linewidth": 0.6,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "lines.linewidth": 1.0,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "text.color": INK,
    "xtick.color": INK,
    "ytick.color": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "pdf.fonttype": 42,
    "svg.hashsalt": "infoecon",
}


def new_figure(width: float, height: float) -> Figure:
    """Open a figure in the house style, in inches; draw on it inside ``styled``."""
    figure = Figure(figsize=(width, height), dpi=200, layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def styled() -> AbstractContextManager[None]:
    """Give the context in which figures are drawn and written."""
    return rc_context(_SETTINGS)  # type: ignore[arg-type]


def label_panel(axes: Axes, letter: str, title: str) -> None:
    """Head a panel with its letter and what it shows."""
    axes.set_title(f"{letter}  {title}", loc="left", fontweight="bold")


def write_figure(figure: Figure, drawn: pd.DataFrame, stem: Path) -> None:
    """Write ``stem.pdf`` and ``stem.png``, and the data drawn as ``stem.csv``; no file holds a date."""
    stem.parent.mkdir(parents=True, exist_ok=True)
    with styled():
        figure.savefig(stem.with_suffix(".pdf"), metadata={"CreationDate": None, "ModDate": None, "Producer": None})
        figure.savefig(stem.with_suffix(".png"), metadata={"Software": None})
    drawn.to_csv(stem.with_suffix(".csv"), index=False, lineterminator="\n")
