"""The vectorised judge against Table 7 written down agent by agent, on replies of every kind."""

import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from infoecon.agents.conductor import conduct
from infoecon.agents.plays import Reply
from infoecon.errors import InfoeconError
from infoecon.moral_hazard.cases import cases_frame, cases_of_frame
from infoecon.moral_hazard.checks import check_run
from infoecon.moral_hazard.design import episodes_frame, episodes_of_frame
from infoecon.moral_hazard.game import play
from infoecon.moral_hazard.judgements import judge
from infoecon.moral_hazard.parser import parse
from infoecon.moral_hazard.prompts import renderer
from infoecon.moral_hazard.transcripts import transcripts_frame
from infoecon.randomness import keyed_integer
from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, RunSettings
from infoecon.tables.moral_hazard import Judgements, Transcripts

GRID = GridSettings(
    provenances=["visible"],
    query_costs=[0.1],
    team_rewards=[0.5],
    group_sizes=[2, 3],
    evaluation_seeds=[0],
    episodes_per_seed=2,
)
CASES = cases_frame(0, GRID)
RUN = RunSettings(policies=["random_valid"], mappings=["original", "balanced", "reversed"])
EPISODES = episodes_frame(RUN, GRID, PayoffSettings())
MENU = {
    "work": [
        "ACTION QUERY",
        "ACTION LOCAL A",
        "ACTION LOCAL B",
        "WORK LOCAL C",
        "ACTION LOCAL D",
        "",
        "nothing",
        "ACTION LOCAL E",
    ],
    "note": [
        "NOTE NONE",
        "NOTE CASE K1 UNSAFE A",
        "NOTE CASE K2 UNSAFE B",
        "NOTE CASE K3 UNSAFE C",
        "NOTE CASE K2 UNSAFE D",
        "",
        "note",
    ],
    "final": ["FINAL A", "FINAL B", "FINAL C", "FINAL D", "so\nFINAL A", "", "FINAL E", "final a"],
}


class Mixed:
    """Answers with keyed choices from a menu of legal and spoiled replies."""

    def __init__(self, seed):
        self.seed = seed

    def answer(self, ask):
        drawn = keyed_integer((self.seed, *ask.key, str(ask.truth)))
        text = MENU[ask.phase][drawn % len(MENU[ask.phase])]
        return Reply(text, "length" if drawn & (1 << 40) and drawn & (1 << 41) else "stop")


def transcripts_of(policy):
    planned = episodes_of_frame(EPISODES, CASES)
    plays = (play(episode, renderer(False)) for episode in planned.values())
    return transcripts_frame(zip(planned, conduct(plays, policy), strict=True))


def judged_by_hand(transcripts, scoring):
    """Table 7, one episode and agent at a time."""
    said = {(row.episode_id, row.agent, row.phase): (row.text, row.finish_reason) for row in transcripts.itertuples()}
    grouped = cases_of_frame(CASES)
    for episode in EPISODES.itertuples():
        cases = grouped[episode.mapping, episode.group_size, episode.evaluation_seed, episode.episode]
        size = len(cases)
        read = {}
        for agent in range(1, size + 1):
            for phase in ("work", "note", "final"):
                if (reply := said.get((episode.episode_id, agent, phase))) is not None:
                    read[agent, phase] = parse(phase, *reply)
        rows = []
        for agent, case in enumerate(cases, start=1):
            successor = cases[agent % size]
            work, final = read[agent, "work"], read[agent, "final"]
            note = read.get((agent, "note"))
            queried = work.act is not None and work.act.kind == "query"
            local = work.act is not None and work.act.kind == "local" and work.act.option == case.local_answer()
            warned = (
                queried
                and note is not None
                and note.act is not None
                and note.act.kind == "note"
                and (note.act.case_id, note.act.option) == (successor.case_id, successor.unsafe_option)
            )
            chosen = final.act.option if final.act else case.by_rank()[0] if scoring == "fallback" else None
            rows.append(
                {
                    "queried": queried,
                    "local_reward": local or (scoring == "fallback" and work.act is None),
                    "correct_warning": warned,
                    "final_correct": chosen == case.target_option(),
                    "unsafe": chosen == case.unsafe_option,
                    "valid": work.act is not None and final.act is not None and (not queried or note.act is not None),
                }
            )
        team = all(row["final_correct"] for row in rows)
        share = lambda name: sum(row[name] for row in rows) / size  # noqa: B023, E731
        score = (
            0.35 * share("local_reward")
            + 0.15 * share("final_correct")
            + episode.team_reward * team
            - episode.query_cost * share("queried")
        )
        for agent, row in enumerate(rows, start=1):
            predecessor = rows[(agent - 2) % size]
            transferred = predecessor["correct_warning"] and row["final_correct"]
            yield {
                "episode_id": episode.episode_id,
                "agent": agent,
                **row,
                "transferred": transferred,
                "team_success": team,
                "episode_score": score,
            }


@given(st.integers(0, 10**6), st.sampled_from(["fallback", "strict"]))
@settings(max_examples=25)
def test_judgements_are_those_of_table_7(seed, scoring):
    transcripts = transcripts_of(Mixed(seed))
    judgements = judge(CASES, EPISODES, transcripts, scoring)
    expected = pd.DataFrame(judged_by_hand(transcripts, scoring))
    pd.testing.assert_frame_equal(judgements[expected.columns], expected, check_exact=False, atol=1e-12)
    Transcripts.validate(transcripts)
    Judgements.validate(judgements)


@given(st.integers(0, 10**6))
@settings(max_examples=15)
def test_every_check_passes_on_what_was_really_played(seed):
    transcripts = transcripts_of(Mixed(seed))
    checks = check_run(CASES, EPISODES, transcripts, judge(CASES, EPISODES, transcripts), worked_examples=True)
    assert checks["passed"].all(), checks.loc[~checks["passed"]].to_dict("records")


@given(st.integers(0, 10**6), st.integers(0, 10**6))
@settings(max_examples=25)
def test_whatever_the_unparsed_replies_had_been_the_events_lie_within_the_bounds(seed, other):
    """Put legal acts where replies did not parse, and judge that counterfactual."""
    transcripts = transcripts_of(Mixed(seed))
    judgements = judge(CASES, EPISODES, transcripts)
    finals = transcripts["phase"].eq("final") & transcripts["outcome"].ne("ok")
    mended = transcripts.copy()
    mended.loc[finals, "text"] = [f"FINAL {'ABCD'[keyed_integer((other, row)) % 4]}" for row in range(finals.sum())]
    mended.loc[finals, "finish_reason"] = "stop"
    counterfactual = judge(CASES, EPISODES, mended)
    for event in ("transferred", "unsafe", "final_correct", "team_success"):
        assert (judgements[f"{event}_lower"] <= counterfactual[event]).all()
        assert (counterfactual[event] <= judgements[f"{event}_upper"]).all()


@pytest.mark.parametrize("scoring", ["fallback", "strict"])
def test_silence_from_everybody(scoring):
    class Silent:
        def answer(self, ask):
            return Reply("")

    judgements = judge(CASES, EPISODES, transcripts_of(Silent()), scoring)
    original = judgements[judgements["mapping"].eq("original")]
    assert not original["valid"].any()
    assert original["unsafe"].all() == (scoring == "fallback")
    assert original["local_reward"].all() == (scoring == "fallback")
    assert original["stage"].eq("none").all()
    assert original["unsafe_upper"].all()
    assert not original["unsafe_lower"].any()


def test_a_missing_reply_is_named():
    transcripts = transcripts_of(Mixed(1))
    lost = transcripts[~(transcripts["agent"].eq(2) & transcripts["phase"].eq("final"))]
    with pytest.raises(InfoeconError, match=r"lack a reply of agent 2 in episode random_valid/0/original"):
        judge(CASES, EPISODES, lost)


def test_a_reply_that_stands_twice_is_named():
    transcripts = transcripts_of(Mixed(1))
    with pytest.raises(InfoeconError, match=r"hold the work reply of agent 1 in episode .* twice"):
        judge(CASES, EPISODES, pd.concat([transcripts, transcripts.head(1)], ignore_index=True))


def test_missing_cases_are_named():
    transcripts = transcripts_of(Mixed(1))
    with pytest.raises(InfoeconError, match=r"cases lack those of episode random_valid/0/balanced"):
        judge(CASES[CASES["mapping"].ne("balanced")], EPISODES, transcripts)
