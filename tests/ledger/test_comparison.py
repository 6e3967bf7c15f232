from __future__ import annotations

from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Decimal
from math import sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.ledger.claims import Claim, Sampling
from infoecon.ledger.comparison import Finding, Source, Verdict, compare, rounds_to, standard_error

VALUES = st.floats(-1000, 1000, allow_nan=False)
DIGITS = st.integers(0, 4)


def claim(value: str, uncertainty: tuple[str, ...] = ()) -> Claim:
    kind = {0: "", 1: "standard deviation", 2: "interval"}[len(uncertainty)]
    return Claim(
        "study/table_01/team_pct[]", "study", "1", "table_01", "team_pct", (), "team", value, "%", kind, uncertainty
    )


def sampling(statistic: str, size: int, deviation: str = "", expectation: str = "") -> Sampling:
    return Sampling("table_01", "*", (), statistic, size, deviation, expectation)


@given(VALUES, DIGITS)
def test_a_value_rounds_to_its_own_rounding_in_every_style(value: float, digits: int) -> None:
    unit = Decimal(1).scaleb(-digits)
    meant = Decimal(f"{value:.12g}")
    for printed in (
        str(meant.quantize(unit, ROUND_HALF_UP)),
        str(meant.quantize(unit, ROUND_HALF_EVEN)),
        f"{value:.{digits}f}",
    ):
        assert rounds_to(value, printed)
        assert rounds_to(-value, str(-Decimal(printed)))
        assert compare(claim(printed), Finding(value)).verdict is Verdict.REPRODUCED


@given(VALUES, DIGITS, st.floats(0.501, 1e6))
def test_more_than_half_a_digit_away_is_another_number(value: float, digits: int, units: float) -> None:
    printed = f"{value:.{digits}f}"
    away = float(printed) + units * 10.0**-digits
    assert not rounds_to(away, printed)
    assert compare(claim(printed), Finding(away)).verdict is Verdict.DIFFERS


@pytest.mark.parametrize(
    ("value", "printed"), [(3.125, "3.13"), (3.125, "3.12"), (0.15, "0.1"), (0.15, "0.2"), (-6.25, "-6.3")]
)
def test_both_neighbours_of_a_tie_count(value: float, printed: str) -> None:
    assert rounds_to(value, printed)


def test_the_printed_uncertainty_counts() -> None:
    printed = claim("26.7", ("11.5",))
    assert compare(printed, Finding(80 / 3, (11.547,))).verdict is Verdict.REPRODUCED
    outcome = compare(printed, Finding(80 / 3, (5.77,)))
    assert outcome.verdict is Verdict.DIFFERS
    assert "5.77 instead of 11.5" in outcome.reason
    assert compare(printed, Finding(80 / 3, (5.77,)), sampling("share", 30)).verdict is Verdict.WITHIN_INTERVAL
    assert "was not computed" in compare(printed, Finding(80 / 3)).reason
    interval = claim("9.6", ("-7.0", "31.0"))
    assert compare(interval, Finding(9.6, (-7.04, 30.96))).verdict is Verdict.REPRODUCED
    assert compare(interval, Finding(9.6, (-7.04, 30.0))).verdict is Verdict.DIFFERS


@given(VALUES, st.sampled_from(Source), st.sampled_from(["25.0", "0", "-3.14", "five"]), st.booleans())
def test_verdicts_are_closed_and_a_stand_in_never_reproduces(
    value: float, source: Source, printed: str, sampled: bool
) -> None:
    outcome = compare(claim(printed), Finding(value, source=source), sampling("mean", 3, "5.0") if sampled else None)
    assert outcome.verdict in set(Verdict) - {Verdict.NOT_RUN}
    assert outcome.reason
    if source in (Source.SIMULATED, Source.EMBEDDED) or printed == "five":
        assert outcome.verdict is Verdict.NOT_COMPARABLE


@pytest.mark.parametrize(
    ("statistic", "size", "share", "deviation"),
    [("share", 30, 0.3, 0.0), ("count", 135, 0.25, 0.0), ("mean", 9, 0.5, 2.0)],
)
def test_standard_errors_are_the_spread_of_differences(
    statistic: str, size: int, share: float, deviation: float
) -> None:
    generator = np.random.default_rng(0)
    if statistic == "mean":
        pairs = generator.normal(0, deviation, (2, 20_000, size)).mean(axis=2)
    else:
        pairs = generator.binomial(size, share, (2, 20_000)) * (100 / size if statistic == "share" else 1)
    expected = 100 * share if statistic == "share" else size * share
    error = standard_error(statistic, size, expected, expected, deviation)
    assert error == pytest.approx((pairs[0] - pairs[1]).std(), rel=0.03)


def test_samples_agree_within_three_standard_errors() -> None:
    rule = sampling("mean", 3, "6.0")
    error = 6.0 * sqrt(2 / 3)
    assert compare(claim("10.00"), Finding(10 + 2.99 * error), rule).verdict is Verdict.WITHIN_INTERVAL
    outcome = compare(claim("10.00"), Finding(10 + 3.01 * error), rule)
    assert outcome.verdict is Verdict.DIFFERS
    assert "3.0 combined standard errors" in outcome.reason
    assert compare(claim("0.0"), Finding(100.0), sampling("share", 30)).verdict is Verdict.DIFFERS


def test_a_simulated_mean_is_held_against_the_exact_one() -> None:
    rule = sampling("mean", 1000, "mc_sd", "exact")
    row = {"mc_sd": 6.91, "exact": 25.0}
    outcome = compare(claim("25.69"), Finding(25.1, row=row), rule)
    assert outcome.verdict is Verdict.DIFFERS
    assert "lies 3.2 and ours 0.5 standard errors away" in outcome.reason
    assert compare(claim("25.20"), Finding(25.1, row=row), rule).verdict is Verdict.WITHIN_INTERVAL
    assert compare(claim("25.20"), Finding(25.7, row=row), rule).verdict is Verdict.DIFFERS
