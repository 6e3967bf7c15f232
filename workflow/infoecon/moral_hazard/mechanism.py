"""How far each agent's effort got along the designated mechanism: query, warning, use, team success."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

STAGES = ("none", "acquired", "communicated", "received", "used", "team")
"""Stages in order; each needs the one before it.

acquired: the agent paid for the query. communicated: it posted a warning about its successor's case, right or wrong.
received: the warning was correct, so the successor saw the truth. used: the successor chose its best safe option.
team: so did everybody.
"""

Flags = NDArray[np.bool_]


def reached_stage(acquired: Flags, communicated: Flags, received: Flags, used: Flags, team: Flags) -> NDArray[np.str_]:
    """Name the last stage that each agent's effort reached without a gap.

    Parameters
    ----------
    acquired, communicated, received, used, team
        One boolean for each agent of each episode, all of one shape ``(n,)``.

    Returns
    -------
    numpy.ndarray
        Names out of ``STAGES``, shape ``(n,)``.
    """
    steps = np.stack([acquired, communicated, received, used, team])
    reached: NDArray[np.str_] = np.asarray(STAGES)[np.logical_and.accumulate(steps, axis=0).sum(axis=0)]
    return reached
