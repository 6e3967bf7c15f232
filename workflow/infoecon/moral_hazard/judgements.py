"""What the replies of a run mean: the events of Table 7 for every agent of every episode.

The raw texts are parsed again here; nothing is taken over from the play that asked for them.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from infoecon.errors import InfoeconError
from infoecon.moral_hazard.cases import OPTIONS
from infoecon.moral_hazard.mechanism import reached_stage
from infoecon.moral_hazard.parser import PHASES, parse
from infoecon.moral_hazard.scoring import Payoffs, episode_score

Scoring = Literal["fallback", "strict"]
CASE_KEY = ["mapping", "group_size", "evaluation_seed", "episode", "agent"]
EPISODE_COLUMNS = [
    "episode_id", "policy", "outer_seed", "mapping", "cell", "sweep", "provenance", "query_cost", "team_reward",
    "local_weight", "final_weight", "group_size", "evaluation_seed", "episode",
]  # fmt: skip
NOT_ASKED = "not_asked"


def _parsed(transcripts: pd.DataFrame) -> pd.DataFrame:
    """Parse every distinct reply once; kind, option and case id of the act are empty where there is none."""
    replies = transcripts[["phase", "text", "finish_reason"]]
    distinct = replies.drop_duplicates()
    rows = []
    for phase, text, finish_reason in distinct.itertuples(index=False):
        outcome, act = parse(phase, text, finish_reason)
        rows.append((outcome.value, act.kind, act.option, act.case_id) if act else (outcome.value, "", "", ""))
    read = pd.DataFrame(rows, columns=["read", "kind", "option", "named_case"], index=distinct.index)
    return transcripts[["episode_id", "agent", "phase"]].join(
        replies.merge(distinct.join(read), how="left").set_index(transcripts.index)[list(read)]
    )


def _by_phase(transcripts: pd.DataFrame, agents: pd.DataFrame) -> pd.DataFrame:
    """Lay the parsed replies of each agent side by side, one row per row of ``agents``."""
    key = ["episode_id", "agent"]
    repeated = transcripts.duplicated([*key, "phase"])
    if repeated.any():
        episode, agent, phase = transcripts.loc[repeated, [*key, "phase"]].iloc[0]
        raise InfoeconError(
            f"The transcripts hold the {phase} reply of agent {agent} in episode {episode} twice; delete them and run "
            "again."
        )
    parsed = _parsed(transcripts)
    wide = agents[key]
    for phase in PHASES:
        replies = parsed[parsed["phase"].eq(phase)].drop(columns="phase").set_index(key).add_prefix(f"{phase}_")
        wide = wide.join(replies, on=key)
    queried = wide["work_kind"].eq("query")
    missing = wide["work_read"].isna() | wide["final_read"].isna() | (wide["note_read"].isna() & queried)
    if missing.any():
        episode, agent = wide.loc[missing, key].iloc[0]
        raise InfoeconError(
            f"The transcripts lack a reply of agent {agent} in episode {episode}; delete them and run again."
        )
    wide["note_read"] = wide["note_read"].fillna(NOT_ASKED)
    return wide.fillna("")


def _agents(cases: pd.DataFrame, episodes: pd.DataFrame) -> pd.DataFrame:
    """List every agent of every episode with its case, in the order of the episodes."""
    agents = episodes.loc[episodes.index.repeat(episodes["group_size"])].reset_index(drop=True)
    agents["agent"] = agents.groupby("episode_id", sort=False).cumcount() + 1
    whole = agents.merge(cases, on=CASE_KEY, how="left", validate="many_to_one")
    if whole["case_id"].isna().any():
        episode = whole.loc[whole["case_id"].isna(), "episode_id"].iloc[0]
        raise InfoeconError(f"The cases lack those of episode {episode}; delete both tables and run again.")
    utilities = whole[[f"utility_{option.lower()}" for option in OPTIONS]].to_numpy()
    whole["highest_option"] = np.asarray(OPTIONS)[utilities.argmax(axis=1)]
    return whole


def judge(
    cases: pd.DataFrame, episodes: pd.DataFrame, transcripts: pd.DataFrame, scoring: Scoring = "fallback"
) -> pd.DataFrame:
    """Judge one run.

    Parameters
    ----------
    cases, episodes, transcripts
        Contracts ``Cases``, ``Episodes`` and ``Transcripts``.
    scoring
        ``fallback`` replaces an unparsed act as Table 7 says: the correct local answer, no note, the highest public
        utility. ``strict`` replaces nothing: an unparsed act earns and does nothing (Table 26).

    Returns
    -------
    pandas.DataFrame
        One row per agent of every episode (contract ``Judgements``). The columns ``*_lower`` and ``*_upper`` bound
        each event over all acts that the unparsed replies could have been.

    Raises
    ------
    InfoeconError
        If a reply or a case is missing, or a reply stands there twice.
    """
    agents = _agents(cases, episodes)
    said = _by_phase(transcripts, agents)
    fallback = scoring == "fallback"

    size, agent = agents["group_size"].to_numpy(), agents["agent"].to_numpy()
    first = np.arange(len(agents)) - (agent - 1)
    successor, predecessor = first + agent % size, first + (agent - 2) % size

    work_unparsed = said["work_read"].ne("ok").to_numpy()
    note_unparsed = ~said["note_read"].isin(["ok", NOT_ASKED]).to_numpy()
    final_unparsed = said["final_read"].ne("ok").to_numpy()

    queried = said["work_kind"].eq("query").to_numpy()
    answered = (said["work_kind"].eq("local") & said["work_option"].eq(agents["local_answer"])).to_numpy()
    warned = (
        said["note_kind"].eq("note").to_numpy()
        & (said["note_named_case"].to_numpy() == agents["case_id"].to_numpy()[successor])
        & queried
    )
    correct_warning = warned & (said["note_option"].to_numpy() == agents["unsafe_option"].to_numpy()[successor])

    chosen = said["final_option"]
    chose_target = chosen.eq(agents["target_option"]).to_numpy()
    chose_unsafe = chosen.eq(agents["unsafe_option"]).to_numpy()
    fallback_option = agents["highest_option"]
    final_correct = chose_target | (fallback & final_unparsed & fallback_option.eq(agents["target_option"]).to_numpy())
    unsafe = chose_unsafe | (fallback & final_unparsed & fallback_option.eq(agents["unsafe_option"]).to_numpy())
    local_reward = answered | (fallback & work_unparsed)

    received = correct_warning[predecessor]
    warning_upper = correct_warning | (queried & note_unparsed) | work_unparsed
    final_upper = chose_target | final_unparsed

    def mean(flags: NDArray[np.bool_]) -> NDArray[np.float64]:
        means: NDArray[np.float64] = pd.Series(flags, dtype=float).groupby(first).transform("mean").to_numpy()
        return means

    def of_all(flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        every: NDArray[np.bool_] = mean(flags) == 1.0
        return every

    team = of_all(final_correct)
    payoffs = Payoffs(
        *(agents[name].to_numpy() for name in ("local_weight", "final_weight", "team_reward", "query_cost"))
    )
    judged = agents[[*EPISODE_COLUMNS, "agent"]].assign(
        work_outcome=said["work_read"],
        note_outcome=said["note_read"],
        final_outcome=said["final_read"],
        queried=queried,
        correct_warning=correct_warning,
        received_warning=received,
        transferred=received & final_correct,
        unsafe=unsafe,
        local_reward=local_reward,
        final_correct=final_correct,
        team_success=team,
        valid=~(work_unparsed | note_unparsed | final_unparsed),
        episode_score=episode_score(
            mean(local_reward), mean(final_correct), team.astype(float), mean(queried), payoffs
        ),
        stage=reached_stage(queried, warned, correct_warning, final_correct[successor], team),
    )
    bounds = {
        "queried": (queried, queried | work_unparsed),
        "correct_warning": (correct_warning, warning_upper),
        "transferred": (received & chose_target, warning_upper[predecessor] & final_upper),
        "unsafe": (chose_unsafe, chose_unsafe | final_unparsed),
        "local_reward": (answered, answered | work_unparsed),
        "final_correct": (chose_target, final_upper),
        "team_success": (of_all(chose_target), of_all(final_upper)),
    }
    for event, (lower, upper) in bounds.items():
        judged[f"{event}_lower"], judged[f"{event}_upper"] = lower, upper
    return judged
