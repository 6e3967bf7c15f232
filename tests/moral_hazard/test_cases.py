from collections import Counter

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.moral_hazard.cases import (
    MAPPINGS,
    OPTIONS,
    RANK_CLASSIFIER_SEED,
    Case,
    cases_frame,
    cases_of_frame,
    draw_case,
    rank_classifier_cases_frame,
)
from infoecon.settings.moral_hazard import GridSettings

KEY = ["group_size", "evaluation_seed", "episode", "agent"]
HIDDEN = ["mapping", "unsafe_option", "target_option", "unsafe_rank"]
PLACES = st.tuples(st.integers(0, 50), st.integers(2, 10), st.integers(0, 300), st.integers(0, 200), st.integers(1, 10))


@pytest.fixture(scope="module")
def cases() -> pd.DataFrame:
    return cases_frame(0, GridSettings())


@given(PLACES)
def test_everything_visible_is_the_same_in_all_mappings(place):
    assert len({draw_case(*place, mapping)._replace(unsafe_option="") for mapping in MAPPINGS}) == 1


@given(PLACES, st.sampled_from(MAPPINGS))
def test_a_case_has_four_distinct_utilities_and_one_unsafe_option(place, mapping):
    case = draw_case(*place, mapping)
    assert len(set(case.utilities)) == 4
    assert case.unsafe_option in OPTIONS
    assert [case.utility(option) for option in case.by_rank()] == sorted(case.utilities, reverse=True)


@given(PLACES, st.sampled_from(MAPPINGS))
def test_the_target_is_the_best_of_the_three_safe_options(place, mapping):
    case = draw_case(*place, mapping)
    safe = [option for option in OPTIONS if option != case.unsafe_option]
    assert case.target_option() == max(safe, key=case.utility)


def test_the_local_question_asks_for_an_extremum():
    assert Case("K1", (30, 10, 40, 20), "highest", "A").local_answer() == "C"
    assert Case("K1", (30, 10, 40, 20), "lowest", "A").local_answer() == "B"


@given(PLACES)
def test_the_outer_mappings_fix_the_unsafe_rank(place):
    original, reversed_ = draw_case(*place, "original"), draw_case(*place, "reversed")
    assert original.unsafe_option == original.by_rank()[0]
    assert reversed_.unsafe_option == reversed_.by_rank()[3]


@given(PLACES)
def test_four_consecutive_balanced_episodes_of_an_agent_hold_every_rank_once(place):
    case_seed, group_size, evaluation_seed, episode, agent = place
    block = range(episode // 4 * 4, episode // 4 * 4 + 4)
    drawn = [draw_case(case_seed, group_size, evaluation_seed, member, agent, "balanced") for member in block]
    assert {case.by_rank().index(case.unsafe_option) for case in drawn} == {0, 1, 2, 3}


def test_balanced_ranks_do_not_follow_the_agent_or_the_block():
    first_of_block = Counter(
        draw_case(seed, 2, 0, 4 * block, agent, "balanced").unsafe_option
        for seed in range(20)
        for block in range(10)
        for agent in (1, 2)
    )
    assert min(first_of_block.values()) > 60


def test_questions_labels_and_order_are_balanced_on_average(cases):
    drawn = [draw_case(0, 2, 0, episode, 1, "original") for episode in range(2000)]
    assert 0.45 < sum(case.local_question == "highest" for case in drawn) / 2000 < 0.55
    for option in OPTIONS:
        assert 0.21 < sum(case.unsafe_option == option for case in drawn) / 2000 < 0.29


def test_the_grid_holds_135_distinct_cases_per_mapping(cases):
    assert cases.groupby("mapping").size().to_dict() == dict.fromkeys(MAPPINGS, 135)
    assert not cases.duplicated(["mapping", *KEY]).any()
    visible = cases[cases["mapping"].eq("original")]
    assert not visible.duplicated([f"utility_{option.lower()}" for option in OPTIONS]).any()


def test_the_table_gives_all_mappings_one_template(cases):
    templates = [
        cases[cases["mapping"].eq(mapping)].drop(columns=HIDDEN).reset_index(drop=True) for mapping in MAPPINGS
    ]
    pd.testing.assert_frame_equal(templates[0], templates[1])
    pd.testing.assert_frame_equal(templates[0], templates[2])


def test_a_case_does_not_depend_on_how_many_others_are_drawn(cases):
    fewer = cases_frame(0, GridSettings(group_sizes=[4], evaluation_seeds=[100], episodes_per_seed=2))
    shared = fewer.merge(cases, how="left", indicator=True)
    assert shared["_merge"].eq("both").all()


def test_the_primary_group_size_is_there_even_where_it_is_not_swept():
    assert set(cases_frame(0, GridSettings(group_sizes=[3]))["group_size"]) == {2, 3}


def test_another_case_seed_draws_other_cases(cases):
    other = cases_frame(1, GridSettings())
    assert cases["utility_a"].ne(other["utility_a"]).mean() > 0.9


def test_the_table_keeps_every_case(cases):
    grouped = cases_of_frame(cases)
    assert len(grouped) == 3 * 3 * 3 * 5
    for (mapping, group_size, seed, episode), group in grouped.items():
        assert group == tuple(
            draw_case(0, group_size, seed, episode, agent, mapping) for agent in range(1, group_size + 1)
        )


def test_derived_columns_agree_with_the_case(cases):
    for row in cases.itertuples():
        utilities = [row.utility_a, row.utility_b, row.utility_c, row.utility_d]
        ranked = sorted(OPTIONS, key=lambda option: -utilities[OPTIONS.index(option)])
        assert row.unsafe_rank == ranked.index(row.unsafe_option) + 1
        assert row.target_option == ranked[1 if row.unsafe_rank == 1 else 0]
        assert row.local_answer == ranked[0 if row.local_question == "highest" else 3]
        assert row.case_id == f"K{row.agent}"


def test_training_cases_are_original_and_disjoint_from_every_grid(cases):
    training = rank_classifier_cases_frame(0, 2000)
    assert len(training) == 2000
    assert not training.duplicated(KEY).any()
    assert set(training["mapping"]) == {"original"}
    assert set(training["evaluation_seed"]) == {RANK_CLASSIFIER_SEED}
    # No valid configuration can hold the seed, and on the default grid no case is drawn twice by chance either.
    with pytest.raises(ValueError, match="greater than or equal to 0"):
        GridSettings(evaluation_seeds=[RANK_CLASSIFIER_SEED])
    visible = [f"utility_{option.lower()}" for option in OPTIONS]
    assert training[visible].merge(cases[visible]).empty
