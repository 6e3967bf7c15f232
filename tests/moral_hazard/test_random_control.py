"""Tables 23 to 25: closed form, simulation, and the real play say the same."""

import numpy as np
import pandas as pd
import pytest

from infoecon.moral_hazard.cases import cases_frame, rank_classifier_cases_frame
from infoecon.moral_hazard.controls import controls
from infoecon.moral_hazard.design import base_grid, episodes_frame
from infoecon.moral_hazard.judgements import judge
from infoecon.moral_hazard.random_control import expect, expectations, monte_carlo
from infoecon.moral_hazard.rank_classifier import fit_rank_classifier
from infoecon.moral_hazard.transcripts import play_with_policies
from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, RunSettings
from infoecon.tables.moral_hazard import RandomExpectations, RandomMonteCarlo

EVENTS = {
    "final": "final_correct", "team": "team_success", "local": "local_reward",
    "query": "queried", "info": "transferred", "unsafe": "unsafe",
}  # fmt: skip
PRINTED_SD = {"final": 6.99, "team": 5.53, "local": 5.15, "query": 7.90, "info": 2.50, "unsafe": 6.91, "score": 4.29}


def test_contracts():
    RandomExpectations.validate(expectations(GridSettings(), PayoffSettings()))
    RandomMonteCarlo.validate(monte_carlo(GridSettings(), PayoffSettings(), 20))


def test_exact_expectations_are_those_printed(repository):
    ours = expectations(GridSettings(), PayoffSettings())
    printed = pd.read_csv(repository / "published/moral_hazard/table_24_random_exact_sweeps.csv")
    assert len(printed) == len(ours)
    keys = {"sweep": "sweep", "query_cost": "k_query_cost_reward_units", "team_reward": "w_t_team_reward"}
    keys |= {"group_size": "n_agents", "provenance": "provenance"}
    both = ours.merge(printed, left_on=list(keys), right_on=list(keys.values()))
    assert len(both) == 15
    assert np.allclose(both["team"], both["team_pct"], atol=0.005)
    assert np.allclose(100 * both["score"], both["expected_reward_x100"], atol=0.0051)


def test_the_spread_over_data_sets_is_that_printed():
    spread = monte_carlo(GridSettings(), PayoffSettings(), 10_000).set_index("metric")
    for metric, printed in PRINTED_SD.items():
        assert spread.loc[metric, "sd"] == pytest.approx(printed, rel=0.05)
    difference = (spread["mean"] - spread["exact_mean"]).abs()
    assert (difference <= 3 * spread["standard_error"] + 1e-9).all()


def test_the_printed_unsafe_mean_is_more_than_three_errors_from_the_exact_one():
    assert (25.69 - 25.0) / (6.91 / np.sqrt(1000)) > 3


def test_more_replicates_change_none():
    few, many = (monte_carlo(GridSettings(), PayoffSettings(), count) for count in (50, 50))
    pd.testing.assert_frame_equal(few, many)


@pytest.mark.parametrize("group_size", [2, 3])
def test_the_real_play_has_the_same_expectations(group_size):
    grid = GridSettings(
        provenances=["anonymous"],
        query_costs=[0.1],
        team_rewards=[0.5],
        group_sizes=[group_size],
        episodes_per_seed=700,
    )
    run = RunSettings(policies=["random_valid"], sweeps=["group_size"], mappings=["original", "balanced"])
    cases, episodes = cases_frame(3, grid), episodes_frame(run, grid, PayoffSettings())
    policies = controls(fit_rank_classifier(rank_classifier_cases_frame(3, 20)))
    judgements = judge(cases, episodes, play_with_policies(episodes, cases, policies))
    cell = next(cell for cell in base_grid(grid, PayoffSettings()) if cell.sweep == "group_size")
    exact = expect(cell, PayoffSettings())
    assert judgements["valid"].all()
    # The two mappings share their draws, so each counts as half a sample.
    for metric, event in EVENTS.items():
        values = judgements.groupby(["evaluation_seed", "episode"])[event].mean()
        error = values.std() / np.sqrt(len(values))
        assert abs(values.mean() - exact[metric]) < 4 * error
