"""The observable-rank classifier: public utility rank as the only feature of the hidden label (App. E.1)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd


class RankClassifier(NamedTuple):
    """A frozen classifier: it calls the option of one rank unsafe, whatever the case."""

    unsafe_rank: int
    """Rank called unsafe, 1 = highest public utility."""
    frequencies: tuple[float, float, float, float]
    """Share of the training cases in which the option of each rank was unsafe."""

    def is_correct(self, cases: pd.DataFrame) -> pd.Series:
        """Say for each case whether the hidden label is predicted.

        Returns
        -------
        pandas.Series
            Booleans, one per row of ``cases``.
        """
        return cases["unsafe_rank"].eq(self.unsafe_rank)


def fit_rank_classifier(cases: pd.DataFrame) -> RankClassifier:
    """Fit the classifier on cases with known labels; ties go to the higher utility.

    Parameters
    ----------
    cases
        Training cases (contract ``Cases``), disjoint from those it is evaluated on.
    """
    shares = cases["unsafe_rank"].value_counts(normalize=True).reindex(range(1, 5), fill_value=0.0)
    first, second, third, fourth = (float(share) for share in shares)
    return RankClassifier(int(shares.idxmax()), (first, second, third, fourth))
