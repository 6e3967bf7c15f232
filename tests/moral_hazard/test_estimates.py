import numpy as np
import pandas as pd
import pytest

from infoecon.errors import InfoeconError
from infoecon.moral_hazard.cases import cases_frame, rank_classifier_cases_frame
from infoecon.moral_hazard.controls import controls
from infoecon.moral_hazard.design import episodes_frame
from infoecon.moral_hazard.estimates import EVENTS, estimate, estimate_seeds
from infoecon.moral_hazard.judgements import judge
from infoecon.moral_hazard.rank_classifier import fit_rank_classifier
from infoecon.moral_hazard.transcripts import play_with_policies
from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, RunSettings
from infoecon.tables.moral_hazard import Estimates, SeedEstimates

SOURCES = {"random_valid": "exact", "always_local": "exact"}


@pytest.fixture(scope="module")
def judgements():
    grid = GridSettings(evaluation_seeds=[0, 100], episodes_per_seed=3)
    cases = cases_frame(0, grid)
    run = RunSettings(policies=list(SOURCES), outer_seeds=[0, 1, 2])
    episodes = episodes_frame(run, grid, PayoffSettings())
    policies = controls(fit_rank_classifier(rank_classifier_cases_frame(0, 20)))
    return judge(cases, episodes, play_with_policies(episodes, cases, policies))


def find(estimates, **keys):
    rows = estimates
    for key, value in keys.items():
        rows = rows[rows[key].eq(value)]
    assert len(rows) == 1
    return rows.iloc[0]


def test_contracts(judgements):
    Estimates.validate(estimate(judgements, SOURCES, PayoffSettings()))
    SeedEstimates.validate(estimate_seeds(judgements, SOURCES))


@pytest.mark.parametrize("metric", ["team", "query", "unsafe"])
def test_a_grid_mean_is_the_mean_of_summaries_of_episodes_of_agents(judgements, metric):
    rows = judgements[judgements["policy"].eq("random_valid")]
    by_seed = []
    for outer_seed in (0, 1, 2):
        summaries = []
        for cell in rows["cell"].unique():
            for evaluation_seed in (0, 100):
                chosen = rows[
                    rows["outer_seed"].eq(outer_seed)
                    & rows["cell"].eq(cell)
                    & rows["evaluation_seed"].eq(evaluation_seed)
                ]
                episodes = [group[EVENTS[metric]].mean() for _, group in chosen.groupby("episode_id")]
                summaries.append(np.mean(episodes))
        assert len(summaries) == 30
        by_seed.append(100 * np.mean(summaries))
    row = find(estimate(judgements, SOURCES, PayoffSettings()), policy="random_valid", scope="grid", metric=metric)
    assert row["mean"] == pytest.approx(np.mean(by_seed))
    assert row["sd"] == pytest.approx(np.std(by_seed, ddof=1))
    assert (row["replication"], row["replicates"]) == ("outer_seed", 3)
    seeds = estimate_seeds(judgements, SOURCES)
    seeds = seeds[seeds["policy"].eq("random_valid") & seeds["metric"].eq(metric)]
    assert seeds["mean"].tolist() == pytest.approx(by_seed)
    assert seeds["summaries"].eq(30).all()


def test_with_one_outer_seed_the_evaluation_seeds_are_the_replicates(judgements):
    estimates = estimate(judgements[judgements["outer_seed"].eq(0)], SOURCES, PayoffSettings())
    assert estimates["replication"].eq("evaluation_seed").all()
    assert estimates["replicates"].eq(2).all()


def test_one_replicate_has_no_spread(judgements):
    one = judgements[judgements["outer_seed"].eq(0) & judgements["evaluation_seed"].eq(0)]
    estimates = estimate(one, SOURCES, PayoffSettings())
    assert estimates["sd"].isna().all()
    Estimates.validate(estimates)


def test_the_primary_condition_counts_once(judgements):
    row = find(estimate(judgements, SOURCES, PayoffSettings()), policy="always_local", scope="primary", metric="query")
    assert row["rows"] == 3 * 2 * 3 * 2


def test_a_run_without_the_primary_condition_has_no_primary_scope(judgements):
    sweep = judgements[judgements["cell"].isin(["query_cost=0.0", "query_cost=0.2"])]
    assert "primary" not in set(estimate(sweep, SOURCES, PayoffSettings())["scope"])


def test_a_policy_that_lacks_a_cell_is_named(judgements):
    lost = (
        judgements["policy"].eq("always_local") & judgements["cell"].eq("group_size=4") & judgements["outer_seed"].eq(1)
    )
    with pytest.raises(InfoeconError, match=r"always_local lacks .* cell group_size=4, outer seed 1"):
        estimate(judgements[~lost], SOURCES, PayoffSettings())


def test_estimates_do_not_depend_on_the_order_of_rows(judgements):
    key = ["policy", "scope", "metric"]
    first = estimate(judgements, SOURCES, PayoffSettings()).set_index(key).sort_index()
    shuffled = (
        estimate(judgements.sample(frac=1, random_state=1), SOURCES, PayoffSettings()).set_index(key).sort_index()
    )
    pd.testing.assert_frame_equal(first, shuffled)
