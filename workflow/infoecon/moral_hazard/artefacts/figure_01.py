"""Figure 1: one successful episode, drawn from a real transcript of the run."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch

from infoecon.moral_hazard.artefacts.table_worked_example import board_lines, render
from infoecon.moral_hazard.cases import OPTIONS
from infoecon.moral_hazard.worked_example import Example, example_of_inputs
from infoecon.plotting.style import (
    BLUE,
    FAINT,
    GREEN,
    INK,
    MUTED,
    PAGE_INCHES,
    PAPER,
    SOURCE_NAMES,
    VERMILION,
    new_figure,
    styled,
)

# Columns are the phases, lanes the two agents with the public board between them.
_LEFT = (0.0, 27.0, 52.0, 77.0)
_WIDTH = 21.0
_LANES = {1: 62.0, 2: 0.0}
_HEIGHT = 30.0
_BOARD = (52.0, 37.0, _WIDTH, 18.0)
_HEADS = (
    "Observe",
    "Work: local reward or query",
    "Note: warn the other",
    "Final: choose",
)


def _box(axes: Axes, x: float, y: float, width: float, height: float, edge: str, face: str = "white") -> None:
    axes.add_patch(
        FancyBboxPatch(
            (x, y),
            width,
            height,
            boxstyle="round,pad=0,rounding_size=1.6",
            linewidth=0.9,
            edgecolor=edge,
            facecolor=face,
        )
    )


def _arrow(axes: Axes, start: tuple[float, float], end: tuple[float, float], colour: str, bend: float = 0.0) -> None:
    axes.annotate(
        "",
        end,
        start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": colour,
            "lw": 1.1,
            "connectionstyle": f"arc3,rad={bend}",
            "shrinkA": 0,
            "shrinkB": 0,
            "mutation_scale": 8,
        },
    )


def _case_box(axes: Axes, example: Example, agent: int) -> None:
    case, y = example.case(agent), _LANES[agent]
    _box(axes, _LEFT[0], y, _WIDTH + 2, _HEIGHT, INK, PAPER)
    axes.text(_LEFT[0] + 1.5, y + 26.6, f"Agent {agent} owns case {case.case_id}", va="center", fontweight="bold")
    question = f"asked for the {case.local_question} utility"
    axes.text(_LEFT[0] + 1.5, y + 22.2, question, va="center", color=MUTED, fontsize=6)
    highest = max(case.utilities)
    for index, (option, utility) in enumerate(zip(OPTIONS, case.utilities, strict=True)):
        unsafe, target = option == case.unsafe_option, option == case.target_option()
        colour = VERMILION if unsafe else GREEN if target else MUTED
        level = y + 17.2 - 4.4 * index
        axes.barh(level, 8.5 * utility / highest, left=_LEFT[0] + 4, height=2.9, color=colour, alpha=0.85)
        axes.text(_LEFT[0] + 1.5, level, option, va="center", color=colour, fontweight="bold")
        words = "unsafe" if unsafe else "best safe" if target else ""
        axes.text(_LEFT[0] + 13.3, level, f"{utility} {words}", va="center", color=colour, fontsize=6)


def _step(axes: Axes, column: int, agent: int, said: str, below: str, edge: str) -> None:
    x, y = _LEFT[column], _LANES[agent]
    _box(axes, x, y, _WIDTH, _HEIGHT, edge)
    axes.text(
        x + _WIDTH / 2, y + 22.5, said, ha="center", va="center", family="DejaVu Sans Mono", fontsize=6.2, color=edge
    )
    axes.text(x + _WIDTH / 2, y + 10, below, ha="center", va="center", fontsize=6.2, linespacing=1.35)


def _steps(axes: Axes, example: Example, agent: int) -> None:
    payoffs, other = example.episode.payoffs, example.successor(agent)
    case, successor = example.case(agent), example.case(other)
    lines = {}
    for phase in ("work", "note", "final"):
        act = example.answers[agent, phase].parsed.act
        assert act is not None
        lines[phase] = act.line()
    _step(
        axes, 1, agent, lines["work"],
        f"query cost: −{payoffs.query_cost:.2f}\n"
        f"local answer {case.local_answer()} forgone: {payoffs.local_weight:.2f}\n"
        f"revealed: {successor.unsafe_option} unsafe in {successor.case_id}", VERMILION,
    )  # fmt: skip
    _step(axes, 2, agent, lines["note"].replace(" UNSAFE", "\nUNSAFE"), "posted for everybody to see", BLUE)
    _step(
        axes, 3, agent, lines["final"],
        f"warned of {case.unsafe_option}: takes\nthe best safe option\nfinal reward: +{payoffs.final_weight:.2f}",
        GREEN,
    )  # fmt: skip
    middle = _LANES[agent] + _HEIGHT / 2
    _arrow(axes, (_LEFT[0] + _WIDTH + 2, middle), (_LEFT[1], middle), INK)
    _arrow(axes, (_LEFT[1] + _WIDTH, middle), (_LEFT[2], middle), VERMILION)
    near = _LANES[agent] if agent == 1 else _LANES[agent] + _HEIGHT
    edge = _BOARD[1] + _BOARD[3] if agent == 1 else _BOARD[1]
    _arrow(axes, (_LEFT[2] + _WIDTH / 2, near), (_LEFT[2] + _WIDTH / 2, edge), BLUE)
    _arrow(
        axes,
        (_BOARD[0] + _BOARD[2], 46 + (2 if agent == 1 else -2)),
        (_LEFT[3] + 6, near),
        BLUE,
        0.15 if agent == 1 else -0.15,
    )


def draw(inputs: Mapping[str, pd.DataFrame]) -> tuple[Figure, pd.DataFrame]:
    """Draw Figure 1 from transcripts of the run."""
    example = example_of_inputs(inputs)
    with styled():
        figure = new_figure(PAGE_INCHES, 3.5)
        axes = figure.subplots()
        axes.set(xlim=(-0.5, 99), ylim=(-10, 100))
        axes.axis("off")
        for left, head in zip(_LEFT, _HEADS, strict=True):
            axes.text(left, 96.5, head, va="center", fontweight="bold", color=INK)
        axes.plot([0, 98], [93.8, 93.8], color=FAINT, linewidth=0.8)
        for agent in _LANES:
            _case_box(axes, example, agent)
            _steps(axes, example, agent)
        _box(axes, *_BOARD, BLUE, "#EAF3FA")
        middle = _BOARD[0] + _BOARD[2] / 2
        axes.text(middle, 51, "Public board", ha="center", va="center", color=BLUE, fontweight="bold")
        axes.text(
            middle, 43.3, "\n".join(board_lines(example)), ha="center", va="center", family="DejaVu Sans Mono",
            fontsize=6.2, color=BLUE, linespacing=1.35,
        )  # fmt: skip
        axes.text(
            0, 46, "Colours are for the reader alone:\nno owner can see what is unsafe.", va="center", color=MUTED,
            fontsize=6, linespacing=1.35,
        )  # fmt: skip
        payoffs = example.episode.payoffs
        axes.text(
            49, -6.5,
            f"Both choose the best safe option: team reward {payoffs.team_reward:.2f}. "
            f"Score per agent: {payoffs.final_weight:.2f} + {payoffs.team_reward:.2f} − {payoffs.query_cost:.2f} = "
            f"{example.score:.2f} reward units.",
            ha="center", va="center",
        )  # fmt: skip
        figure.suptitle(
            f"One successful episode, from a transcript of {example.policy} ({SOURCE_NAMES[example.source]})",
            fontsize=8, x=0.01, ha="left",
        )  # fmt: skip
    return figure, render(inputs).frame
