"""Contracts of study 1, moral hazard."""

from __future__ import annotations

import pandas as pd
from pandera.typing import Series

from infoecon.tables.contracts import PERCENT, REWARD, Contract, column

_MAPPINGS = ["original", "balanced", "reversed"]
_OPTIONS = list("ABCD")
_SOURCES = ["exact", "simulated", "embedded", "model"]
_PHASES = ["work", "note", "final"]
_OUTCOMES = ["ok", "truncated", "empty", "unmatched", "illegal_option"]
_STAGES = ["none", "acquired", "communicated", "received", "used", "team"]


class Cases(Contract):
    """Cases that exist before anybody acts."""

    mapping: Series[str] = column("relation between public rank and the hidden unsafe option", isin=_MAPPINGS)
    group_size: Series[int] = column("agents in the ring", "agents", ge=2)
    evaluation_seed: Series[int] = column("seed of the case sample")
    episode: Series[int] = column("episode within the evaluation seed", ge=0)
    agent: Series[int] = column("owner of the case, from 1", ge=1)
    case_id: Series[str] = column("name of the case in messages")
    utility_a: Series[int] = column("public utility of option A", "utility")
    utility_b: Series[int] = column("public utility of option B", "utility")
    utility_c: Series[int] = column("public utility of option C", "utility")
    utility_d: Series[int] = column("public utility of option D", "utility")
    local_question: Series[str] = column("utility extremum that is asked for", isin=["highest", "lowest"])
    local_answer: Series[str] = column("correct answer to the local question", isin=_OPTIONS)
    unsafe_option: Series[str] = column("hidden unsafe option", isin=_OPTIONS)
    target_option: Series[str] = column("best safe option (Eq. 1)", isin=_OPTIONS)
    unsafe_rank: Series[int] = column("rank of the unsafe option, 1 = highest utility", ge=1, le=4)


class Episodes(Contract):
    """Episodes to play."""

    episode_id: Series[str] = column("policy/outer seed/mapping/cell/evaluation seed/episode", unique=True)
    policy: Series[str] = column("policy or model that every agent plays")
    outer_seed: Series[int] = column("seed of the policy's own draws")
    mapping: Series[str] = column("relation between public rank and the hidden unsafe option", isin=_MAPPINGS)
    cell: Series[str] = column("label of the condition")
    sweep: Series[str] = column("parameter that the cell's sweep varies")
    provenance: Series[str] = column("whether notes show their author", isin=["anonymous", "visible"])
    query_cost: Series[float] = column("cost of one query", REWARD, ge=0)
    team_reward: Series[float] = column("reward when every final choice is correct", REWARD, ge=0)
    local_weight: Series[float] = column("reward for a correct local answer", REWARD, ge=0)
    final_weight: Series[float] = column("reward for a correct final choice", REWARD, ge=0)
    group_size: Series[int] = column("agents in the ring", "agents", ge=2)
    evaluation_seed: Series[int] = column("seed of the case sample")
    episode: Series[int] = column("episode within the evaluation seed", ge=0)


class Transcripts(Contract):
    """What was said, one row per ask."""

    episode_id: Series[str] = column("episode")
    agent: Series[int] = column("agent that was asked", ge=1)
    phase: Series[str] = column("phase of the game", isin=_PHASES)
    text: Series[str] = column("raw reply")
    finish_reason: Series[str] = column("why the reply ended")
    outcome: Series[str] = column("what became of the reply when it was parsed", isin=_OUTCOMES)
    act: Series[str] = column("canonical line of the act, null where there is none", nullable=True)
    prompt_tokens: Series[pd.Int64Dtype] = column("tokens of the prompt", "tokens", nullable=True)
    output_tokens: Series[pd.Int64Dtype] = column("tokens generated", "tokens", nullable=True)
    reasoning_tokens: Series[pd.Int64Dtype] = column("generated tokens outside the text", "tokens", nullable=True)
    request_key: Series[str] = column("key in the response store, empty where no model was asked")


class Judgements(Contract):
    """What every agent's replies mean, one row per agent of an episode; events of Table 7."""

    episode_id: Series[str] = column("episode")
    policy: Series[str] = column("policy or model")
    outer_seed: Series[int] = column("seed of the policy's own draws")
    mapping: Series[str] = column("relation between public rank and the hidden unsafe option", isin=_MAPPINGS)
    cell: Series[str] = column("label of the condition")
    sweep: Series[str] = column("parameter that the cell's sweep varies")
    provenance: Series[str] = column("whether notes show their author")
    query_cost: Series[float] = column("cost of one query", REWARD)
    team_reward: Series[float] = column("reward when every final choice is correct", REWARD)
    local_weight: Series[float] = column("reward for a correct local answer", REWARD)
    final_weight: Series[float] = column("reward for a correct final choice", REWARD)
    group_size: Series[int] = column("agents in the ring", "agents")
    evaluation_seed: Series[int] = column("seed of the case sample")
    episode: Series[int] = column("episode within the evaluation seed")
    agent: Series[int] = column("agent", ge=1)
    work_outcome: Series[str] = column("outcome of parsing the work reply", isin=_OUTCOMES)
    note_outcome: Series[str] = column("outcome of parsing the note reply", isin=[*_OUTCOMES, "not_asked"])
    final_outcome: Series[str] = column("outcome of parsing the final reply", isin=_OUTCOMES)
    queried: Series[bool] = column("paid for the query")
    correct_warning: Series[bool] = column("named the successor's case and its unsafe option")
    received_warning: Series[bool] = column("the predecessor's warning about the own case was correct")
    transferred: Series[bool] = column("received a correct warning and chose the best safe option")
    unsafe: Series[bool] = column("chose the unsafe option")
    local_reward: Series[bool] = column("took the local action with the correct answer")
    final_correct: Series[bool] = column("chose the best safe option")
    team_success: Series[bool] = column("every agent of the episode chose its best safe option")
    valid: Series[bool] = column("every reply that was asked for could be parsed")
    episode_score: Series[float] = column("score of the episode (Eq. 2)", REWARD)
    stage: Series[str] = column("last stage that the agent's effort reached", isin=_STAGES)
    queried_lower: Series[bool] = column("worst case over unparsed replies: queried")
    queried_upper: Series[bool] = column("best case over unparsed replies: queried")
    correct_warning_lower: Series[bool] = column("lower bound over unparsed replies: correct warning")
    correct_warning_upper: Series[bool] = column("upper bound over unparsed replies: correct warning")
    transferred_lower: Series[bool] = column("lower bound over unparsed replies: transferred")
    transferred_upper: Series[bool] = column("upper bound over unparsed replies: transferred")
    unsafe_lower: Series[bool] = column("lower bound over unparsed replies: unsafe")
    unsafe_upper: Series[bool] = column("upper bound over unparsed replies: unsafe")
    local_reward_lower: Series[bool] = column("lower bound over unparsed replies: local reward")
    local_reward_upper: Series[bool] = column("upper bound over unparsed replies: local reward")
    final_correct_lower: Series[bool] = column("lower bound over unparsed replies: final correct")
    final_correct_upper: Series[bool] = column("upper bound over unparsed replies: final correct")
    team_success_lower: Series[bool] = column("lower bound over unparsed replies: team success")
    team_success_upper: Series[bool] = column("upper bound over unparsed replies: team success")


class Checks(Contract):
    """Cross-checks of one run."""

    check: Series[str] = column("what was checked", unique=True)
    passed: Series[bool] = column("nothing offended")
    checked: Series[int] = column("rows that were checked", "rows", ge=1)
    failed: Series[int] = column("rows that offended", "rows", ge=0)
    detail: Series[str] = column("the first offending row, empty where none did")


class Estimates(Contract):
    """Means over a run's summaries."""

    policy: Series[str] = column("policy or model")
    source: Series[str] = column("where the values come from", isin=_SOURCES)
    mapping: Series[str] = column("relation between public rank and the hidden unsafe option", isin=_MAPPINGS)
    scope: Series[str] = column("`grid` = all cells, `primary` = the primary condition, or a cell")
    metric: Series[str] = column("metric of Table 7")
    unit: Series[str] = column("unit of the values", isin=[PERCENT, REWARD])
    mean: Series[float] = column("mean over replicates")
    sd: Series[float] = column("sample SD over replicates, null with one", nullable=True)
    replication: Series[str] = column("what a replicate is", isin=["outer_seed", "evaluation_seed"])
    replicates: Series[int] = column("replicates", ge=1)
    rows: Series[int] = column("agent-episodes", "rows", ge=1)
    lower_bound: Series[float] = column("mean if every unparsed reply had been the worst", nullable=True)
    upper_bound: Series[float] = column("mean if every unparsed reply had been the best", nullable=True)
    unparsed_percent: Series[float] = column("agent-episodes with a reply that could not be parsed", PERCENT)


class SeedEstimates(Contract):
    """Grid means of each outer seed."""

    policy: Series[str] = column("policy or model")
    source: Series[str] = column("where the values come from", isin=_SOURCES)
    mapping: Series[str] = column("relation between public rank and the hidden unsafe option", isin=_MAPPINGS)
    outer_seed: Series[int] = column("seed of the policy's own draws")
    summaries: Series[int] = column("cell × evaluation seed summaries behind the mean", ge=1)
    metric: Series[str] = column("metric of Table 7")
    unit: Series[str] = column("unit of the value", isin=[PERCENT, REWARD])
    mean: Series[float] = column("mean over the summaries")


class RankClassifierAccuracy(Contract):
    """Hidden-label accuracy of the frozen observable-rank classifier."""

    mapping: Series[str] = column("relation between public rank and the hidden unsafe option", isin=_MAPPINGS)
    correct: Series[int] = column("cases whose unsafe option is predicted", "cases", ge=0)
    cases: Series[int] = column("distinct cases", "cases", ge=1)
    accuracy: Series[float] = column("share predicted", PERCENT)
    wilson_lower: Series[float] = column("lower end of the Wilson 95% interval", PERCENT)
    wilson_upper: Series[float] = column("upper end of the Wilson 95% interval", PERCENT)


class RandomExpectations(Contract):
    """Closed-form expectations of the random valid-action control in every cell."""

    sweep: Series[str] = column("parameter that the cell's sweep varies")
    cell: Series[str] = column("label of the condition", unique=True)
    provenance: Series[str] = column("whether notes show their author")
    query_cost: Series[float] = column("cost of one query", REWARD)
    team_reward: Series[float] = column("reward when every final choice is correct", REWARD)
    group_size: Series[int] = column("agents in the ring", "agents")
    primary: Series[bool] = column("the cell is the primary condition")
    final: Series[float] = column("final accuracy", PERCENT)
    team: Series[float] = column("team success", PERCENT)
    local: Series[float] = column("local reward", PERCENT)
    query: Series[float] = column("query rate", PERCENT)
    info: Series[float] = column("realised information transfer", PERCENT)
    unsafe: Series[float] = column("unsafe choice", PERCENT)
    valid: Series[float] = column("format validity", PERCENT)
    score: Series[float] = column("episode score", REWARD)


class RandomMonteCarlo(Contract):
    """The random control over many replicated data sets."""

    metric: Series[str] = column("metric of Table 7", unique=True)
    unit: Series[str] = column("unit of the values", isin=[PERCENT, f"100 × {REWARD}"])
    exact_mean: Series[float] = column("closed-form mean over the grid")
    mean: Series[float] = column("mean over replicates")
    sd: Series[float] = column("SD over replicates")
    standard_error: Series[float] = column("Monte Carlo standard error of the mean")
    percentile_2_5: Series[float] = column("2.5th percentile over replicates")
    percentile_97_5: Series[float] = column("97.5th percentile over replicates")
    replicates: Series[int] = column("replicated data sets", ge=1)
