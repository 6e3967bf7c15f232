"""Simulated agents: a logit choice on the private margin with known boundary, lapses and faults.

They stand in where the paper has a model, so that every estimator can be tested for recovery of a known truth and
the designs run at the paper's scale; what they give is labelled ``simulated``.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from infoecon.agents.plays import Ask, Reply
from infoecon.moral_hazard.controls import (
    best_option_not_warned_about,
    correct_local_answer,
    correct_warning,
    highest_option,
    say,
)
from infoecon.moral_hazard.parser import QUERY, SILENCE, Act
from infoecon.moral_hazard.scoring import Payoffs
from infoecon.randomness import keyed_integer, keyed_uniform
from infoecon.settings.moral_hazard_agents import SimulatedAgentSettings


def private_margin(payoffs: Payoffs) -> float:
    """Give the private gain of a query over the local action, in reward units (Eq. 5 at α = 1/n)."""
    return payoffs.team_reward - payoffs.local_weight - payoffs.query_cost


def query_probability(margin: float, settings: SimulatedAgentSettings) -> float:
    """Give the probability of a query at a private margin; ½ at exact indifference without noise."""
    distance = margin - settings.boundary_shift
    if settings.temperature > 0:
        chosen = 0.5 * (1 + math.tanh(distance / (2 * settings.temperature)))
    elif abs(distance) < 1e-12:
        chosen = 0.5
    else:
        chosen = float(distance > 0)
    return settings.lapse_rate / 2 + (1 - settings.lapse_rate) * chosen


def malformed(act: Act, fault: int) -> Reply:
    """Spoil an act in one of six ways that models are seen to fail in; none of them holds a legal line."""
    line = act.line()
    return (
        Reply(""),
        Reply(line.lower()),
        Reply(line[:-1], finish_reason="length"),
        Reply(f'I could answer "{line}" but let me think about it first.'),
        Reply(f"{line.rpartition(' ')[0]} E"),
        Reply("Let us weigh the options step by step. First", finish_reason="length"),
    )[fault % 6]


class SimulatedAgent(NamedTuple):
    """A policy that plays by ``SimulatedAgentSettings``."""

    settings: SimulatedAgentSettings

    def answer(self, ask: Ask) -> Reply:
        """Answer one ask; every draw comes from the key of the ask."""
        act = self._act(ask)
        if keyed_uniform(("format", *ask.key)) < self.settings.format_error_rate:
            return malformed(act, keyed_integer(("fault", *ask.key)))
        return say(act)

    def _act(self, ask: Ask) -> Act:
        drawn = keyed_uniform(ask.key)
        if ask.phase == "work":
            queries = drawn < query_probability(private_margin(ask.view.payoffs), self.settings)
            return QUERY if queries else correct_local_answer(ask)
        if ask.phase == "note":
            return correct_warning(ask) if drawn < self.settings.warning_rate else SILENCE
        return best_option_not_warned_about(ask) if drawn < self.settings.board_use_rate else highest_option(ask)
