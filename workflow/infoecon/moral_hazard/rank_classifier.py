"""The observable-rank classifier: public utility rank as the only feature of the hidden label (App. E.1)."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from infoecon.statistics.intervals import wilson_interval


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


def accuracy_by_mapping(classifier: RankClassifier, cases: pd.DataFrame) -> pd.DataFrame:
    """Evaluate the frozen classifier on the distinct cases of each mapping (Table 12).

    Returns
    -------
    pandas.DataFrame
        Contract ``RankClassifierAccuracy``, in percent.
    """
    rows = []
    for mapping, group in cases.groupby("mapping", sort=False):
        correct, count = int(classifier.is_correct(group).sum()), len(group)
        lower, upper = wilson_interval(correct, count)
        rows.append(
            {
                "mapping": mapping,
                "correct": correct,
                "cases": count,
                "accuracy": 100 * correct / count,
                "wilson_lower": 100 * lower,
                "wilson_upper": 100 * upper,
            }
        )
    return pd.DataFrame(rows)
