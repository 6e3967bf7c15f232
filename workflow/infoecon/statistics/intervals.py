"""Intervals for proportions."""

from __future__ import annotations


def wilson_interval(successes: int, trials: int, confidence: float = 0.95) -> tuple[float, float]:
    """Give the Wilson score interval of a proportion, without continuity correction.

    Parameters
    ----------
    successes, trials
        Counts, ``0 <= successes <= trials`` and ``trials > 0``.
    confidence
        Coverage.

    Returns
    -------
    tuple of float
        Lower and upper end, in [0, 1].

    References
    ----------
    Wilson, E. B. (1927). Probable inference, the law of succession, and statistical inference. JASA 22, 209–212.
    """
    # statsmodels takes seconds to import, which only the jobs that need an interval should pay.
    from statsmodels.stats.proportion import proportion_confint

    lower, upper = proportion_confint(successes, trials, alpha=1 - confidence, method="wilson")
    return float(lower), float(upper)
