import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.moral_hazard.cases import cases_frame, rank_classifier_cases_frame
from infoecon.moral_hazard.rank_classifier import fit_rank_classifier
from infoecon.settings.moral_hazard import GridSettings


def frame(unsafe_ranks: list[int]) -> pd.DataFrame:
    return pd.DataFrame({"unsafe_rank": unsafe_ranks})


@given(st.lists(st.integers(1, 4), min_size=1))
def test_the_most_frequent_rank_is_called_unsafe(unsafe_ranks):
    classifier = fit_rank_classifier(frame(unsafe_ranks))
    counts = [unsafe_ranks.count(rank) for rank in (1, 2, 3, 4)]
    assert classifier.frequencies == pytest.approx([count / len(unsafe_ranks) for count in counts])
    assert classifier.unsafe_rank == counts.index(max(counts)) + 1
    assert classifier.is_correct(frame(unsafe_ranks)).sum() == max(counts)


def test_table_12():
    classifier = fit_rank_classifier(rank_classifier_cases_frame(0, 2000))
    assert classifier.frequencies == (1.0, 0.0, 0.0, 0.0)
    cases = cases_frame(0, GridSettings())
    correct = classifier.is_correct(cases).groupby(cases["mapping"]).sum()
    assert correct["original"] == 135
    assert correct["reversed"] == 0
    # Chance among four ranks, up to three standard errors.
    assert 19 <= correct["balanced"] <= 48
