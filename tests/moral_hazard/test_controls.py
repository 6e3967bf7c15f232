import math
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.agents.conductor import conduct
from infoecon.agents.plays import Ask, Policy, Reply
from infoecon.moral_hazard.cases import MAPPINGS, Case, draw_case
from infoecon.moral_hazard.controls import best_query_set, controls
from infoecon.moral_hazard.game import Episode, Note, View, play
from infoecon.moral_hazard.parser import ParseOutcome
from infoecon.moral_hazard.rank_classifier import RankClassifier
from infoecon.moral_hazard.scoring import Payoffs, episode_score
from infoecon.settings.moral_hazard import Control

PRIMARY = Payoffs(local_weight=0.35, final_weight=0.15, team_reward=0.5, query_cost=0.1)
POLICIES = controls(RankClassifier(1, (1.0, 0.0, 0.0, 0.0)))
# Two samples of 15 episodes may differ by three standard errors of their difference.
SAMPLING_ERROR_PERCENT = 3 * 100 * math.sqrt(2 * 0.25 / 15)
METRICS = ["team", "local", "query", "transfer", "unsafe"]


def unread(view: View) -> list:
    raise AssertionError("a scripted policy reads no messages")


def episodes_of(mapping: str, group_size: int, payoffs: Payoffs, count: int, seeds=(0, 100, 200)) -> list[Episode]:
    return [
        Episode(
            tuple(draw_case(0, group_size, seed, episode, agent, mapping) for agent in range(1, group_size + 1)),
            payoffs,
            False,
            outer_seed=0,
            evaluation_seed=seed,
            episode=episode,
        )
        for seed in seeds
        for episode in range(count)
    ]


def played(policy: str, episodes: list[Episode]) -> pd.DataFrame:
    """Percentages of Table 15 for each episode, worked out act by act."""
    rows = []
    plays = (play(episode, unread) for episode in episodes)
    for episode, turns in zip(episodes, conduct(plays, POLICIES[policy]), strict=True):
        assert {turn.parsed.outcome for turn in turns} == {ParseOutcome.OK}
        cases, agents = episode.cases, range(1, len(episode.cases) + 1)
        lines = {(turn.agent, turn.phase): turn.parsed.act.line() for turn in turns}
        final = {agent: lines[agent, "final"].removeprefix("FINAL ") for agent in agents}
        correct = {agent: final[agent] == cases[agent - 1].target_option() for agent in agents}
        warned = {
            agent % len(agents) + 1
            for agent in agents
            for target in [cases[agent % len(agents)]]
            if lines.get((agent, "note")) == f"NOTE CASE {target.case_id} UNSAFE {target.unsafe_option}"
        }
        local_answers = {agent: f"ACTION LOCAL {cases[agent - 1].local_answer()}" for agent in agents}
        rows.append(
            {
                "team": 100.0 * all(correct.values()),
                "local": 100.0 * np.mean([lines[agent, "work"] == local_answers[agent] for agent in agents]),
                "query": 100.0 * np.mean([lines[agent, "work"] == "ACTION QUERY" for agent in agents]),
                "transfer": 100.0 * np.mean([agent in warned and correct[agent] for agent in agents]),
                "unsafe": 100.0 * np.mean([final[agent] == cases[agent - 1].unsafe_option for agent in agents]),
            }
        )
    return pd.DataFrame(rows)


def test_the_registry_holds_the_published_policies():
    assert set(POLICIES) == set(Control.__args__)


@pytest.mark.parametrize(
    ("policy", "mapping"), [pair for pair in product(POLICIES, MAPPINGS) if pair[0] != "random_valid"]
)
def test_every_certain_cell_of_table_15(policy, mapping, repository):
    printed = pd.read_csv(repository / "published/moral_hazard/table_15_deterministic_control_suite.csv")
    printed = printed.set_index(["policy", "mapping"]).loc[(policy, mapping)]
    ours = played(policy, episodes_of(mapping, 2, PRIMARY, count=5)).mean()
    for metric in METRICS:
        value, deviation = printed[f"{metric}_pct"], printed[f"{metric}_sd_pct"]
        if deviation == 0:
            assert ours[metric] == value, metric
        else:
            assert abs(ours[metric] - value) < SAMPLING_ERROR_PERCENT, metric


@pytest.mark.parametrize("group_size", [2, 3, 5])
@pytest.mark.parametrize("mapping", MAPPINGS)
def test_oracles_succeed_always_and_wrong_information_never(mapping, group_size):
    episodes = episodes_of(mapping, group_size, PRIMARY, count=4)
    for oracle in ("always_query_oracle", "selective_query_oracle", "private_threshold"):
        ours = played(oracle, episodes)
        assert set(ours["team"]) == {100.0}
        assert set(ours["unsafe"]) == {0.0}
    wrong = played("wrong_information", episodes)
    assert set(wrong["team"]) == {0.0}
    assert set(wrong["transfer"]) == {0.0}


def test_wrong_information_is_unsafe_in_half_of_all_balanced_cases():
    assert played("wrong_information", episodes_of("balanced", 2, PRIMARY, count=8))["unsafe"].mean() == 50.0


def test_table_14(repository):
    printed = pd.read_csv(repository / "published/moral_hazard/table_14_threshold_calibration.csv")
    for row in printed.itertuples():
        payoffs = PRIMARY._replace(query_cost=row.k_query_cost_reward_units)
        episodes = episodes_of("original", 2, payoffs, count=5)
        private, social = played("private_threshold", episodes), played("social_planner", episodes)
        assert (set(private["query"]), set(private["team"])) == ({row.private_query_pct}, {row.private_team_pct})
        assert (set(social["query"]), set(social["team"])) == ({row.social_query_pct}, {row.social_team_pct})


CASES = st.builds(
    draw_case, st.just(0), st.just(2), st.integers(0, 50), st.integers(0, 20), st.just(1), st.sampled_from(MAPPINGS)
)
LEVELS = st.sampled_from([0.0, 0.05, 0.1, 0.15, 0.2, 0.35, 0.5, 0.8, 1.0])


@given(st.lists(CASES, min_size=2, max_size=4).map(tuple), st.builds(Payoffs, LEVELS, LEVELS, LEVELS, LEVELS))
def test_no_query_set_beats_the_planner_and_none_of_its_size_or_less_equals_it(cases, payoffs):
    size = len(cases)

    def score(queries: tuple[bool, ...]) -> float:
        correct = [
            case.by_rank()[0] == case.target_option() or queries[(index - 1) % size] for index, case in enumerate(cases)
        ]
        return episode_score(
            1 - sum(queries) / size, sum(correct) / size, float(all(correct)), sum(queries) / size, payoffs
        )

    planned = best_query_set(cases, payoffs)
    for queries in product((False, True), repeat=size):
        assert score(queries) <= score(planned) + 1e-9
        if sum(queries) < sum(planned):
            assert score(queries) < score(planned) - 1e-12


def test_ties_go_to_fewer_queries_in_spite_of_rounding():
    # 0.8 - 0.7 exceeds 0.1 and 0.1 + 0.2 exceeds 0.3 in floating point: a query that is worth nothing must not seem
    # worth something.
    case = Case("K1", (40, 30, 20, 10), "highest", "A")
    tie = Payoffs(local_weight=0.1, final_weight=0.8, team_reward=0.0, query_cost=0.7)
    assert best_query_set((case, case), tie) == (False, False)
    view = View("work", 1, 2, Payoffs(0.1, 0.15, 0.1 + 0.2, 0.2), False, case, "K2", None, None, ())
    assert POLICIES["private_threshold"].answer(Ask(1, "work", view, unread, ())).text.startswith("ACTION LOCAL")


def test_a_board_that_warns_of_everything_leaves_the_highest_utility():
    case = Case("K1", (10, 40, 20, 30), "highest", "")
    board = tuple(Note("K1", option, None) for option in "ABCD")
    view = View("final", 1, 2, PRIMARY, False, case, "K2", None, None, board)
    assert POLICIES["always_local"].answer(Ask(1, "final", view, unread, ())).text == "FINAL B"


class Blinded(NamedTuple):
    """A policy from which the hidden labels are kept."""

    policy: Policy

    def answer(self, ask: Ask) -> Reply:
        return self.policy.answer(ask._replace(truth=None))


@pytest.mark.parametrize(
    "policy", sorted({*POLICIES} - {"selective_query_oracle", "social_planner", "wrong_information"})
)
def test_all_but_three_policies_do_without_the_hidden_labels(policy):
    episodes = episodes_of("balanced", 3, PRIMARY, count=2)
    seeing, blinded = (
        list(conduct((play(episode, unread) for episode in episodes), one))
        for one in (POLICIES[policy], Blinded(POLICIES[policy]))
    )
    assert seeing == blinded


def test_random_actions_have_the_published_frequencies_and_do_not_follow_conditions():
    def said(**changes) -> list[tuple]:
        payoffs = PRIMARY._replace(**changes)
        plays = (play(episode, unread) for episode in episodes_of("original", 2, payoffs, 1000, seeds=(0,)))
        return [
            (turn.agent, turn.phase, turn.reply.text)
            for turns in conduct(plays, POLICIES["random_valid"])
            for turn in turns
        ]

    spoken = said()
    assert spoken == said(query_cost=0.35, team_reward=0.0)
    expected = {
        "work": {"ACTION QUERY": 1 / 2, **{f"ACTION LOCAL {option}": 1 / 8 for option in "ABCD"}},
        "note": {"NOTE NONE": 1 / 5, **{f"NOTE CASE K2 UNSAFE {option}": 1 / 5 for option in "ABCD"}},
        "final": {f"FINAL {option}": 1 / 4 for option in "ABCD"},
    }
    for phase, shares in expected.items():
        texts = pd.Series([text.replace("CASE K1", "CASE K2") for _, spoken_in, text in spoken if spoken_in == phase])
        observed = texts.value_counts(normalize=True)
        assert set(observed.index) == set(shares)
        for text, share in shares.items():
            assert abs(observed[text] - share) < 4 * np.sqrt(share * (1 - share) / len(texts))
