"""Worked example (App. C): one real successful episode, step by step."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from infoecon.moral_hazard.cases import OPTIONS, Case
from infoecon.moral_hazard.parser import PHASES, Phase
from infoecon.moral_hazard.worked_example import Example, example_of_inputs
from infoecon.plotting.style import SOURCE_NAMES
from infoecon.tables.rendering import RenderedTable, rounded


def _utilities(case: Case) -> str:
    return ", ".join(f"{option} {utility}" for option, utility in zip(OPTIONS, case.utilities, strict=True))


def board_lines(example: Example) -> list[str]:
    """List the public notes as every agent sees them; anonymous notes do not stand in the order of their authors."""
    lines = []
    for author in range(1, len(example.episode.cases) + 1):
        act = example.answers[author, "note"].parsed.act
        assert act is not None
        signature = f"agent {author}: " if example.episode.notes_show_authors else ""
        lines.append(signature + act.line().removeprefix("NOTE "))
    return lines if example.episode.notes_show_authors else sorted(lines)


def _shown(example: Example, agent: int, phase: Phase) -> str:
    own, successor = example.case(agent), example.case(example.successor(agent))
    if phase == "work":
        return f"case {own.case_id}: {_utilities(own)}; which has the {own.local_question} utility?"
    if phase == "note":
        return f"revealed: {successor.unsafe_option} is unsafe in case {successor.case_id}"
    return "board: " + "; ".join(board_lines(example))


def _meant(example: Example, agent: int, phase: Phase) -> str:
    own, payoffs = example.case(agent), example.episode.payoffs
    if phase == "work":
        return (
            f"pays {rounded(payoffs.query_cost, 2)} and forgoes the local reward {rounded(payoffs.local_weight, 2)} "
            f"(answer {own.local_answer()})"
        )
    if phase == "note":
        return "correct warning"
    return (
        f"best safe option ({own.unsafe_option} is unsafe): earns {rounded(payoffs.final_weight, 2)} and the team "
        f"reward {rounded(payoffs.team_reward, 2)}"
    )


def render(inputs: Mapping[str, pd.DataFrame]) -> RenderedTable:
    """Render the worked example from transcripts of the run."""
    example = example_of_inputs(inputs)
    frame = pd.DataFrame(
        [
            {
                "phase": phase,
                "agent": agent,
                "shown": _shown(example, agent, phase),
                "answered": example.answers[agent, phase].text,
                "meant": _meant(example, agent, phase),
                "source": example.source,
            }
            for phase in PHASES
            for agent in range(1, len(example.episode.cases) + 1)
        ]
    )
    passed_over = f"No episode of {', '.join(example.passed_over)} went from query to team success."
    display = frame.drop(columns="source").rename(columns=str.capitalize)
    return RenderedTable(
        frame,
        display,
        "Worked example of one successful episode",
        (
            f"Source: transcript of {example.policy} ({SOURCE_NAMES[example.source]}), episode {example.episode_id}.",
            *([passed_over] if example.passed_over else []),
            f"Episode score {rounded(example.score, 2)} reward units per agent (Eq. 2). Hidden labels are shown to the "
            "reader alone until they are revealed.",
        ),
    )
