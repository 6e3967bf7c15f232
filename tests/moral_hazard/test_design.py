from collections import Counter

import pandas as pd
import pytest

from infoecon.moral_hazard.cases import cases_frame
from infoecon.moral_hazard.design import base_grid, episodes_frame, episodes_of_frame, is_primary
from infoecon.moral_hazard.scoring import Payoffs
from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, RunSettings

GRID = GridSettings()
PAYOFFS = PayoffSettings()
COLUMNS = [
    "episode_id", "policy", "outer_seed", "mapping", "cell", "sweep", "provenance", "query_cost", "team_reward",
    "local_weight", "final_weight", "group_size", "evaluation_seed", "episode",
]  # fmt: skip


@pytest.fixture(scope="module")
def episodes() -> pd.DataFrame:
    run = RunSettings(policies=["random_valid", "always_local"], outer_seeds=[0, 1, 2], mappings=["original"])
    return episodes_frame(run, GRID, PAYOFFS)


def test_the_base_grid_has_fifteen_labelled_cells():
    cells = base_grid(GRID, PAYOFFS)
    assert Counter(cell.sweep for cell in cells) == {
        "provenance": 2, "query_cost": 5, "team_reward": 5, "group_size": 3,
    }  # fmt: skip
    assert len({cell.name for cell in cells}) == 15
    assert {"provenance=visible", "query_cost=0.05", "team_reward=1.0", "group_size=4"} <= {cell.name for cell in cells}


def test_every_sweep_holds_the_primary_condition_once(episodes):
    primary = episodes[is_primary(episodes, PAYOFFS)]
    assert set(primary["cell"]) == {"provenance=anonymous", "query_cost=0.1", "team_reward=0.5", "group_size=2"}


def test_a_cell_leaves_the_primary_condition_in_its_own_parameter_alone():
    primary = {"provenance": "anonymous", "query_cost": 0.1, "team_reward": 0.5, "group_size": 2}
    for cell in base_grid(GRID, PAYOFFS):
        others = {name: value for name, value in primary.items() if name != cell.sweep}
        assert {name: getattr(cell, name) for name in others} == others


def test_a_run_plays_every_cell_seed_and_episode_once(episodes):
    assert list(episodes.columns) == COLUMNS
    assert episodes["episode_id"].is_unique
    assert len(episodes) == 2 * 3 * 15 * 3 * 5
    assert (
        episodes.groupby(["policy", "outer_seed"])[["cell", "evaluation_seed"]]
        .apply(lambda rows: len(rows.drop_duplicates()))
        .eq(45)
        .all()
    )


def test_an_episode_id_names_its_place(episodes):
    row = episodes.iloc[-1]
    assert row["episode_id"] == "always_local/2/original/group_size=4/200/4"


def test_a_run_may_play_a_part_of_the_grid():
    run = RunSettings(model="some-model", sweeps=["query_cost"], evaluation_seeds=[100], episodes_per_seed=1)
    part = episodes_frame(run, GRID, PAYOFFS)
    assert len(part) == 5
    assert set(part["policy"]) == {"some-model"}
    whole = episodes_frame(RunSettings(model="some-model"), GRID, PAYOFFS)
    assert set(part["episode_id"]) < set(whole["episode_id"])


def test_conditions_policies_and_outer_seeds_share_their_cases(episodes):
    planned = episodes_of_frame(episodes, cases_frame(0, GRID))
    cases_at: dict[tuple, set] = {}
    for episode in planned.values():
        cases_at.setdefault((len(episode.cases), episode.evaluation_seed, episode.episode), set()).add(episode.cases)
    assert {len(shared) for shared in cases_at.values()} == {1}
    assert sum(place[0] for place in cases_at) == 135


def test_an_episode_carries_the_conditions_of_its_row(episodes):
    planned = episodes_of_frame(episodes, cases_frame(0, GRID))
    assert list(planned) == list(episodes["episode_id"])
    visible = planned["always_local/1/original/provenance=visible/100/3"]
    assert visible.notes_show_authors
    assert visible.payoffs == Payoffs(local_weight=0.35, final_weight=0.15, team_reward=0.5, query_cost=0.1)
    assert (visible.outer_seed, visible.evaluation_seed, visible.episode) == (1, 100, 3)
    assert planned["always_local/1/original/query_cost=0.35/0/0"].payoffs.query_cost == 0.35
