"""Picks one real successful episode of the run and lays out what happened in it (App. C)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import pandas as pd

from infoecon.errors import InfoeconError
from infoecon.moral_hazard.cases import Case
from infoecon.moral_hazard.design import PRIMARY_PROVENANCE, episodes_of_frame
from infoecon.moral_hazard.game import Episode
from infoecon.moral_hazard.parser import Parsed, Phase, parse

# What a reader wants to see first: a model's own episode, then one of an agent with known behaviour.
_PREFERENCE = {"model": 0, "embedded": 1, "simulated": 2, "exact": 3}


class Answer(NamedTuple):
    """What one agent said in one phase."""

    text: str
    parsed: Parsed


class Example(NamedTuple):
    """One successful two-agent episode."""

    episode_id: str
    policy: str
    source: str
    episode: Episode
    answers: Mapping[tuple[int, Phase], Answer]
    """By agent and phase."""
    score: float
    """Episode score, in reward units (Eq. 2)."""
    passed_over: tuple[str, ...]
    """Policies that come first but have no such episode."""

    def successor(self, agent: int) -> int:
        """Name the agent whose case a query of ``agent`` reveals."""
        return agent % len(self.episode.cases) + 1

    def case(self, agent: int) -> Case:
        """Give the case of an agent."""
        return self.episode.cases[agent - 1]


def _candidates(judgements: pd.DataFrame, sources: Mapping[str, str]) -> pd.DataFrame:
    two = judgements[judgements["group_size"].eq(2)]
    complete = (two["stage"].eq("team") & two["valid"]).groupby(two["episode_id"]).transform("all")
    chosen = two[complete].drop_duplicates("episode_id")
    return chosen.assign(
        preference=chosen["policy"].map(sources).map(_PREFERENCE),
        is_other_condition=chosen["cell"].ne(f"provenance={PRIMARY_PROVENANCE}"),
    )


def pick_example(
    cases: pd.DataFrame,
    episodes: pd.DataFrame,
    transcripts: pd.DataFrame,
    judgements: pd.DataFrame,
    sources: Mapping[str, str],
) -> Example:
    """Pick the first two-agent episode in which both efforts went all the way to team success.

    Episodes of models come first, then those of the embedded model, of simulated agents and of scripted policies;
    among them those of the primary condition, and then the order of the runs decides.

    Parameters
    ----------
    cases, episodes, transcripts, judgements
        Tables of one or several runs.
    sources
        Source of each policy's values.

    Raises
    ------
    InfoeconError
        If there is no such episode.
    """
    candidates = _candidates(judgements, sources)
    if candidates.empty:
        raise InfoeconError(
            "No two-agent episode of any run went from query to team success, so there is none to show; add a run that "
            "queries, for example the policy always_query_oracle."
        )
    found = candidates.sort_values(["preference", "is_other_condition"], kind="stable").iloc[0]
    rows = transcripts[transcripts["episode_id"].eq(found["episode_id"])]
    answers: dict[tuple[int, Phase], Answer] = {
        (agent, phase): Answer(text, parse(phase, text, finish_reason))
        for agent, phase, text, finish_reason in rows[["agent", "phase", "text", "finish_reason"]].itertuples(
            index=False
        )
    }
    planned = episodes_of_frame(episodes[episodes["episode_id"].eq(found["episode_id"])], cases)
    return Example(
        found["episode_id"],
        found["policy"],
        sources[found["policy"]],
        planned[found["episode_id"]],
        answers,
        float(found["episode_score"]),
        tuple(policy for policy in judgements["policy"].unique() if _PREFERENCE[sources[policy]] < found["preference"]),
    )


def example_of_inputs(inputs: Mapping[str, pd.DataFrame]) -> Example:
    """Pick the example from the inputs of a table or figure."""
    estimates = inputs["estimates"]
    sources = dict(zip(estimates["policy"], estimates["source"], strict=True))
    return pick_example(inputs["cases"], inputs["episodes"], inputs["transcripts"], inputs["judgements"], sources)
