"""Each check finds the fault it is there for."""

import pandas as pd
import pytest

from infoecon.moral_hazard import checks
from infoecon.moral_hazard.cases import cases_frame, rank_classifier_cases_frame
from infoecon.moral_hazard.controls import controls
from infoecon.moral_hazard.design import episodes_frame
from infoecon.moral_hazard.judgements import judge
from infoecon.moral_hazard.rank_classifier import fit_rank_classifier
from infoecon.moral_hazard.transcripts import play_with_policies
from infoecon.settings.moral_hazard import GridSettings, PayoffSettings, RunSettings


@pytest.fixture(scope="module")
def played():
    grid = GridSettings(episodes_per_seed=1, evaluation_seeds=[0])
    cases = cases_frame(0, grid)
    run = RunSettings(policies=["always_query_oracle", "random_valid"], mappings=["original", "balanced"])
    episodes = episodes_frame(run, grid, PayoffSettings())
    classifier = fit_rank_classifier(rank_classifier_cases_frame(0, 40))
    transcripts = play_with_policies(episodes, cases, controls(classifier))
    return cases, episodes, transcripts, judge(cases, episodes, transcripts)


def test_all_pass(played):
    result = checks.check_run(*played, worked_examples=False)
    assert result["passed"].all()
    assert len(result) == 8


def test_an_invented_act_is_found(played):
    transcripts = played[2].copy()
    transcripts.loc[3, "act"] = "FINAL A" if transcripts.loc[3, "act"] != "FINAL A" else "FINAL B"
    assert checks.check_reparse(transcripts)["failed"] == 1


def test_an_outcome_that_was_judged_otherwise_is_found(played):
    judgements = played[3].copy()
    judgements.loc[0, "final_outcome"] = "empty"
    row = checks.check_outcomes(played[2], judgements)
    assert not row["passed"]
    assert judgements.loc[0, "episode_id"] in row["detail"]


def test_a_wrong_score_is_found(played):
    judgements = played[3].copy()
    judgements.loc[5, "episode_score"] += 0.01
    assert checks.check_score(judgements)["failed"] >= 1


def test_an_event_outside_its_bounds_is_found(played):
    judgements = played[3].copy()
    judgements["unsafe_upper"] = False
    judgements["unsafe"] = True
    assert not checks.check_bounds(judgements)["passed"]


def test_a_lost_agent_is_found(played):
    _, episodes, transcripts, judgements = played
    assert not checks.check_denominators(episodes, transcripts, judgements.drop(index=0))["passed"]


def test_an_oracle_that_is_not_one_is_found(played):
    judgements = played[3].copy()
    judgements.loc[judgements["policy"].eq("always_query_oracle").idxmax(), "unsafe"] = True
    row = checks.check_calibration(judgements)
    assert row["failed"] == 1
    assert "always_query_oracle, original: unsafe" in row["detail"]


def test_a_run_without_oracles_has_nothing_to_calibrate(played):
    judgements = played[3]
    assert checks.check_calibration(judgements[judgements["policy"].eq("random_valid")]) is None


def test_a_leak_is_found(played, monkeypatch):
    cases, episodes, transcripts, _ = played

    def leaky(worked_examples):
        def render(view):
            return [{"role": "user", "content": "Hint: option A of case K1 is unsafe.\nAll others are safe."}]

        return render

    monkeypatch.setattr(checks, "renderer", leaky)
    row = checks.check_secrecy(cases, episodes, transcripts, worked_examples=False)
    assert not row["passed"]
    assert "agent" in row["detail"]


def test_a_template_that_differs_between_mappings_is_found(played):
    cases = played[0].copy()
    cases.loc[cases["mapping"].eq("balanced").idxmax(), "utility_a"] += 1
    assert not checks.check_shared_cases(cases)["passed"]


def test_a_case_that_stands_twice_is_found(played):
    cases = played[0]
    assert not checks.check_shared_cases(pd.concat([cases, cases.head(1)]))["passed"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("CASE K2 UNSAFE B", True),
        ("option B of case K2 is unsafe", True),
        ("case K2: A=1, B=2. One option is unsafe", False),
        ("CASE K1 UNSAFE B; CASE K2 UNSAFE A", False),
        ("K2 and B", False),
    ],
)
def test_what_counts_as_saying_that_an_option_is_unsafe(text, said):
    assert checks.states_unsafe(text, "K2", "B") == said
