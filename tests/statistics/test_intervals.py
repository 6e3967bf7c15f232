import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.statistics.intervals import wilson_interval


@pytest.mark.parametrize(("successes", "printed"), [(135, (97.2, 100.0)), (37, (20.6, 35.5)), (0, (0.0, 2.8))])
def test_the_intervals_printed_in_table_12(successes, printed):
    assert np.round(100 * np.array(wilson_interval(successes, 135)), 1).tolist() == list(printed)


@given(st.integers(1, 500), st.data())
def test_the_interval_holds_the_share_and_mirrors(trials, data):
    successes = data.draw(st.integers(0, trials))
    lower, upper = wilson_interval(successes, trials)
    assert 0 <= lower <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= upper <= 1
    assert wilson_interval(trials - successes, trials) == pytest.approx((1 - upper, 1 - lower))
