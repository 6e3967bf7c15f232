"""Two-agent episodes per second through the real play and parser, on one core.

The baseline is a generator that yields the same number of waves of ready-made asks and reads no reply; it runs through
the same conductor with a policy that always says the same.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable

from infoecon.agents.conductor import conduct
from infoecon.agents.plays import Ask, Play, Policy, Reply
from infoecon.moral_hazard.cases import draw_case
from infoecon.moral_hazard.controls import controls
from infoecon.moral_hazard.game import Episode, play
from infoecon.moral_hazard.prompts import renderer
from infoecon.moral_hazard.rank_classifier import RankClassifier
from infoecon.moral_hazard.scoring import Payoffs

EPISODES = 10_000
REPETITIONS = 5
POLICIES = ("always_query_oracle", "random_valid")


class SameReply:
    """Says the same to everybody."""

    reply = Reply("ACTION QUERY")

    def answer(self, ask: Ask) -> Reply:  # noqa: ARG002
        """Answer with the one reply."""
        return self.reply


def bare_play() -> Play[None]:
    """Ask as often as an episode in which everybody queries, and do nothing else."""
    asks = (Ask(1, "work", None, list, ()), Ask(2, "work", None, list, ()))
    for _ in range(3):
        yield asks


def episodes_per_second(plays: Callable[[], Iterable[Play]], policy: Policy) -> float:
    """Take the best of some repetitions, which is the least disturbed one."""
    seconds = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        for _record in conduct(plays(), policy):
            pass
        seconds.append(time.perf_counter() - start)
    return EPISODES / min(seconds)


def main() -> None:
    """Print one JSON line."""
    payoffs = Payoffs(local_weight=0.35, final_weight=0.15, team_reward=0.5, query_cost=0.1)
    episodes = [
        Episode(tuple(draw_case(0, 2, 0, number, agent, "original") for agent in (1, 2)), payoffs, False, 0, 0, number)
        for number in range(EPISODES)
    ]
    render = renderer(worked_examples=False)
    baseline = episodes_per_second(lambda: (bare_play() for _ in range(EPISODES)), SameReply())
    registry = controls(RankClassifier(1, (1.0, 0.0, 0.0, 0.0)))
    rates = {
        name: episodes_per_second(lambda: (play(episode, render) for episode in episodes), registry[name])
        for name in POLICIES
    }
    print(
        json.dumps(
            {
                "benchmark": "scripted_episodes",
                "episodes_per_second": {name: round(rate) for name, rate in rates.items()},
                "baseline": "a bare generator with as many waves",
                "baseline_episodes_per_second": round(baseline),
                "ratio_to_baseline": {name: round(rate / baseline, 4) for name, rate in rates.items()},
            }
        )
    )


if __name__ == "__main__":
    main()
