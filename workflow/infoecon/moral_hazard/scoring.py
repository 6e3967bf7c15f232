"""The episode score of Eq. 2."""

from __future__ import annotations

from typing import NamedTuple, TypeVar

import numpy as np

Number = TypeVar("Number", float, np.ndarray)


class Payoffs(NamedTuple):
    """The reward contract, in reward units."""

    local_weight: float
    """Reward for a correct local answer."""
    final_weight: float
    """Reward for a correct final choice."""
    team_reward: float
    """Reward when every final choice is correct."""
    query_cost: float
    """Cost of one query."""


def episode_score(
    local_reward_rate: Number, final_accuracy: Number, team_success: Number, query_rate: Number, payoffs: Payoffs
) -> Number:
    """Score an episode: Eq. 2 of the moral-hazard paper.

    Parameters
    ----------
    local_reward_rate, final_accuracy, query_rate
        Shares of the episode's agents, in [0, 1]; numbers or arrays of one shape.
    team_success
        1 where every agent chose its best safe option, else 0.
    payoffs
        The reward contract; its fields may be arrays of the same shape.

    Returns
    -------
    float or numpy.ndarray
        Reward units per agent.
    """
    return (
        payoffs.local_weight * local_reward_rate
        + payoffs.final_weight * final_accuracy
        + payoffs.team_reward * team_success
        - payoffs.query_cost * query_rate
    )
