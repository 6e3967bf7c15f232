"""Simulated agents of study 1: stochastic, with known truth."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, NonNegativeFloat

from infoecon.settings.sections import Section

Probability = Annotated[float, Field(ge=0, le=1)]


class SimulatedAgentSettings(Section):
    """An agent that weighs the private margin, with lapses and faults of known rates."""

    boundary_shift: float = 0.0
    """Added to the private team reward at which the agent is indifferent, in reward units; 0 is rational."""
    temperature: NonNegativeFloat = 0.0
    """Scale of the logit choice on the private margin, in reward units; 0 chooses the better act."""
    lapse_rate: Probability = 0.0
    """Probability that a work action ignores the margin and is a fair coin."""
    warning_rate: Probability = 1.0
    """Probability that a query leads to the correct warning; otherwise the agent stays silent."""
    board_use_rate: Probability = 1.0
    """Probability that the final choice heeds the board; otherwise it is the highest public utility."""
    format_error_rate: Probability = 0.0
    """Probability that a reply does not parse, in each phase."""
