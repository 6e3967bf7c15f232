import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.agents.conductor import conduct
from infoecon.moral_hazard.cases import draw_case
from infoecon.moral_hazard.controls import controls
from infoecon.moral_hazard.game import Episode, Turn, play
from infoecon.moral_hazard.parser import QUERY, SILENCE, Act, ParseOutcome, parse
from infoecon.moral_hazard.rank_classifier import RankClassifier
from infoecon.moral_hazard.scoring import Payoffs
from infoecon.moral_hazard.simulated_agents import SimulatedAgent, malformed, private_margin, query_probability
from infoecon.settings.moral_hazard_agents import SimulatedAgentSettings

PRIMARY = Payoffs(local_weight=0.35, final_weight=0.15, team_reward=0.5, query_cost=0.1)
LEGAL_ACTS = {
    "work": [QUERY, *(Act("local", option) for option in "ABCD")],
    "note": [SILENCE, *(Act("note", option, "K2") for option in "ABCD")],
    "final": [Act("final", option) for option in "ABCD"],
}


def turns_of(payoffs: Payoffs = PRIMARY, count: int = 1000, mapping: str = "original", **truth) -> list[Turn]:
    policy = SimulatedAgent(SimulatedAgentSettings(**truth))
    plays = (
        play(
            Episode(
                tuple(draw_case(0, 2, 0, episode, agent, mapping) for agent in (1, 2)), payoffs, False, 0, 0, episode
            ),
            list,
        )
        for episode in range(count)
    )
    return [turn for turns in conduct(plays, policy) for turn in turns]


def share(turns: list[Turn], phase: str, is_event) -> float:
    events = [is_event(turn) for turn in turns if turn.phase == phase]
    return sum(events) / len(events)


def is_query(turn: Turn) -> bool:
    return turn.parsed.act == QUERY


def close(observed: float, expected: float, count: int) -> bool:
    return abs(observed - expected) <= 4 * math.sqrt(expected * (1 - expected) / count)


@pytest.mark.parametrize(
    ("margin", "truth", "probability"),
    [
        (0.05, {}, 1.0),
        (-0.05, {}, 0.0),
        (0.0, {}, 0.5),
        (0.5 - 0.35 - 0.15, {}, 0.5),
        (0.05, {"boundary_shift": 0.1}, 0.0),
        (0.1, {"boundary_shift": 0.1, "temperature": 0.05}, 0.5),
        (0.1, {"temperature": 0.1}, 1 / (1 + math.exp(-1))),
        (0.05, {"lapse_rate": 0.2}, 0.9),
        (-0.05, {"lapse_rate": 0.2}, 0.1),
        (-1e6, {"temperature": 1e-3}, 0.0),
    ],
)
def test_known_query_probabilities(margin, truth, probability):
    assert query_probability(margin, SimulatedAgentSettings(**truth)) == pytest.approx(probability)


@given(st.floats(-2, 2), st.floats(0, 1), st.floats(0, 2), st.floats(0, 1))
def test_query_probabilities_are_probabilities_and_grow_with_the_margin(margin, more, temperature, lapse_rate):
    settings = SimulatedAgentSettings(temperature=temperature, lapse_rate=lapse_rate)
    low, high = query_probability(margin, settings), query_probability(margin + more, settings)
    assert 0 <= low <= high <= 1


def test_the_share_of_queries_is_the_known_probability():
    truth = {"temperature": 0.1, "boundary_shift": -0.02, "lapse_rate": 0.1}
    for query_cost in (0.0, 0.1, 0.35):
        payoffs = PRIMARY._replace(query_cost=query_cost)
        expected = query_probability(private_margin(payoffs), SimulatedAgentSettings(**truth))
        assert close(share(turns_of(payoffs, **truth), "work", is_query), expected, 2000)


def test_warnings_and_the_use_of_the_board_have_their_known_rates():
    turns = turns_of(warning_rate=0.7, board_use_rate=0.6)
    assert share(turns, "work", is_query) == 1
    assert close(share(turns, "note", lambda turn: turn.parsed.act.kind == "note"), 0.7, 2000)
    targets = {
        (agent, episode): draw_case(0, 2, 0, episode, agent, "original").target_option()
        for agent in (1, 2)
        for episode in range(1000)
    }
    finals = [turn for turn in turns if turn.phase == "final"]
    correct = [turn.parsed.act.option == targets[turn.agent, index // 2] for index, turn in enumerate(finals)]
    assert close(sum(correct) / 2000, 0.7 * 0.6, 2000)


def test_malformed_replies_have_their_known_rate_in_every_phase():
    turns = turns_of(format_error_rate=0.3)
    for phase in ("work", "note", "final"):
        replies = [turn for turn in turns if turn.phase == phase]
        assert close(share(replies, phase, lambda turn: turn.parsed.act is None), 0.3, len(replies))
    assert {turn.parsed.outcome for turn in turns} == set(ParseOutcome)


@pytest.mark.parametrize("phase", LEGAL_ACTS)
@pytest.mark.parametrize("fault", range(6))
def test_a_spoiled_act_never_parses(phase, fault):
    for act in LEGAL_ACTS[phase]:
        reply = malformed(act, fault)
        assert parse(phase, reply.text, reply.finish_reason).act is None


def test_a_faultless_rational_agent_is_the_private_threshold_policy():
    threshold = controls(RankClassifier(1, (1.0, 0.0, 0.0, 0.0)))["private_threshold"]
    agent = SimulatedAgent(SimulatedAgentSettings())
    for query_cost in (0.0, 0.1, 0.2, 0.35):
        cases = tuple(draw_case(0, 3, 0, 0, number, "balanced") for number in (1, 2, 3))
        episode = Episode(cases, PRIMARY._replace(query_cost=query_cost), False, 0, 0, 0)
        assert list(conduct([play(episode, list)], agent)) == list(conduct([play(episode, list)], threshold))


def test_draws_do_not_follow_the_condition():
    """Common random numbers: whoever queries at a high cost queries at a low one."""
    truth = {"temperature": 0.2}
    cheap, dear = (turns_of(PRIMARY._replace(query_cost=cost), **truth) for cost in (0.0, 0.35))
    queries = [[is_query(turn) for turn in turns if turn.phase == "work"] for turns in (cheap, dear)]
    assert all(at_low or not at_high for at_low, at_high in zip(*queries, strict=True))
    assert sum(queries[0]) > sum(queries[1])
