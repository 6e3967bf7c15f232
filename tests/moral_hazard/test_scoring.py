import numpy as np
import pytest

from infoecon.moral_hazard.scoring import Payoffs, episode_score

PRIMARY = Payoffs(local_weight=0.35, final_weight=0.15, team_reward=0.5, query_cost=0.1)


@pytest.mark.parametrize(
    ("rates", "score"),
    [
        # Everybody queries, warns and follows the board: w_F + w_T - k.
        ((0.0, 1.0, 1.0, 1.0), 0.55),
        # Everybody takes the local reward and chooses wrongly: w_L.
        ((1.0, 0.0, 0.0, 0.0), 0.35),
        # Uniformly random valid actions of two agents (Table 23).
        ((0.125, 0.25, 0.0625, 0.5), 0.0625),
    ],
)
def test_eq_2_at_known_points(rates, score):
    assert episode_score(*rates, PRIMARY) == pytest.approx(score)


def test_arrays_of_episodes_under_arrays_of_payoffs():
    payoffs = Payoffs(0.35, 0.15, np.array([0.5, 1.0]), np.array([0.1, 0.0]))
    scores = episode_score(np.array([0.0, 0.5]), np.ones(2), np.ones(2), np.array([1.0, 0.5]), payoffs)
    np.testing.assert_allclose(scores, [0.55, 0.175 + 0.15 + 1.0])
