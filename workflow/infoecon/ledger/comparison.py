"""The verdict on one printed value.

===================  ==================================================================================================
reproduced           Ours, rounded to the digits that are printed, is the printed value, and so is its uncertainty
                     wherever both sides have one. On a tie both neighbours count: papers round half up, half to
                     even, or in binary.
within interval      The value varies between samples (``published/<study>/sampling.csv``), and the two samples differ
                     by at most ``STANDARD_ERRORS`` combined standard errors. Where the exact expectation is known, each
                     sample must lie within ``STANDARD_ERRORS`` of its own standard errors around it instead.
differs              Neither of these.
not comparable       Ours comes from a stand-in (simulated agents, the small embedded model) and the paper's from
                     another model, or the paper prints words.
not run              We have no value: the table or the model was not run.
===================  ==================================================================================================

Both samples are taken to be of the printed size n. The combined standard error of a share or a count is the binomial
one at the pooled share, that of a mean √(2/n) times the standard deviation of one draw.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from math import inf, sqrt

from infoecon.ledger.claims import Claim, Sampling, as_number

STANDARD_ERRORS = 3.0
"""Standard errors by which two samples may differ, combined, or one from the exact expectation.

Three, not two: some hundred printed values are compared, of which two would call every twentieth different by chance.
"""

_FLOAT_NOISE = 1e-12
_STAND_INS = {"simulated": "simulated agents", "embedded": "the small embedded model"}


class Verdict(StrEnum):
    """What became of a printed value."""

    REPRODUCED = "reproduced"
    WITHIN_INTERVAL = "within interval"
    DIFFERS = "differs"
    NOT_COMPARABLE = "not comparable"
    NOT_RUN = "not run"


class Source(StrEnum):
    """Where a value of ours comes from."""

    EXACT = "exact"
    RECOMPUTED = "recomputed"
    SIMULATED = "simulated"
    EMBEDDED = "embedded"
    MODEL = "model"


@dataclass(frozen=True)
class Finding:
    """Our value for a claim."""

    value: float
    uncertainty: tuple[float, ...] = ()
    """Same form as the claim's, empty where we have none."""
    source: Source = Source.EXACT
    row: Mapping[str, object] = field(default_factory=dict)
    """The row of our table that holds the value."""


@dataclass(frozen=True)
class Outcome:
    """A verdict and why."""

    verdict: Verdict
    reason: str


def rounds_to(value: float, printed: str) -> bool:
    """Tell whether ``value``, rounded to the digits of ``printed``, may give ``printed``.

    Raises
    ------
    ValueError
        If ``printed`` is no number.
    """
    number = as_number(printed)
    if number is None:
        raise ValueError(f"{printed!r} is no number")
    exponent = number.as_tuple().exponent
    half_unit = 0.5 * 10.0 ** int(exponent)
    return abs(value - float(number)) <= half_unit + _FLOAT_NOISE * max(1.0, abs(value))


def standard_error(statistic: str, size: int, first: float, second: float, deviation: float = 0.0) -> float:
    """Give the combined standard error of two samples of one size.

    Parameters
    ----------
    statistic
        ``share`` (in percent), ``count`` or ``mean``.
    size
        Draws in each sample.
    first, second
        The two values.
    deviation
        Standard deviation of one draw, for a mean alone.
    """
    if statistic == "mean":
        return deviation * sqrt(2 / size)
    scale = 100 if statistic == "share" else size
    share = (first + second) / 2 / scale
    return scale * sqrt(max(2 * share * (1 - share) / size, 0.0))


def _deviation(finding: Finding, sampling: Sampling) -> float:
    if as_number(sampling.deviation) is not None:
        return float(sampling.deviation)
    return float(str(finding.row[sampling.deviation])) if sampling.deviation else 0.0


def _compare_samples(printed: float, finding: Finding, sampling: Sampling) -> Outcome:
    deviation = _deviation(finding, sampling)
    if sampling.expectation:
        expected = float(str(finding.row[sampling.expectation]))
        error = deviation / sqrt(sampling.size)
        distances = [abs(value - expected) / error if error else inf for value in (printed, finding.value)]
        verdict = Verdict.WITHIN_INTERVAL if max(distances) <= STANDARD_ERRORS else Verdict.DIFFERS
        return Outcome(
            verdict,
            f"The exact expectation is {expected:.6g}; the printed mean of {sampling.size} draws lies "
            f"{distances[0]:.1f} and ours {distances[1]:.1f} standard errors away, {STANDARD_ERRORS:g} are allowed",
        )
    error = standard_error(sampling.statistic, sampling.size, printed, finding.value, deviation)
    difference = abs(finding.value - printed)
    distance = difference / error if error else (0.0 if difference == 0 else inf)
    verdict = Verdict.WITHIN_INTERVAL if distance <= STANDARD_ERRORS else Verdict.DIFFERS
    other = f"sample of {sampling.size}" if sampling.size > 1 else "draw"
    return Outcome(
        verdict,
        f"Another random {other}; the two are {distance:.1f} combined standard errors apart, "
        f"{STANDARD_ERRORS:g} are allowed",
    )


def compare(claim: Claim, finding: Finding, sampling: Sampling | None = None) -> Outcome:
    """Judge one printed value against ours.

    Parameters
    ----------
    claim
        The printed value.
    finding
        Our value.
    sampling
        The random draws behind the printed value, if it varies between samples.
    """
    if finding.source in _STAND_INS:
        stand_in = _STAND_INS[finding.source]
        return Outcome(Verdict.NOT_COMPARABLE, f"Ours comes from {stand_in}, not from the paper's models")
    number = claim.number
    if number is None:
        return Outcome(Verdict.NOT_COMPARABLE, "The paper prints this in words")
    value_agrees = rounds_to(finding.value, claim.value)
    pairs = list(zip(claim.uncertainty, finding.uncertainty, strict=True)) if finding.uncertainty else []
    if value_agrees and all(rounds_to(ours, printed) for printed, ours in pairs):
        extent = f"Value and {claim.uncertainty_kind}" if pairs else "Value"
        missing = f"; its {claim.uncertainty_kind} was not computed" if claim.uncertainty and not pairs else ""
        return Outcome(Verdict.REPRODUCED, f"{extent} equal to the last printed digit{missing}")
    if sampling is not None:
        return _compare_samples(float(number), finding, sampling)
    if value_agrees:
        ours, printed = ", ".join(f"{value:.6g}" for value in finding.uncertainty), ", ".join(claim.uncertainty)
        return Outcome(
            Verdict.DIFFERS, f"The value agrees, but its {claim.uncertainty_kind} is {ours} instead of {printed}"
        )
    units = (Decimal(finding.value) - number).scaleb(-int(number.as_tuple().exponent))
    side = "above" if units > 0 else "below"
    return Outcome(Verdict.DIFFERS, f"Ours is {abs(units):.1f} units of the last printed digit {side}")
