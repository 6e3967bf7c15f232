import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.agents.plays import Ask, Reply
from infoecon.moral_hazard.cases import MAPPINGS, OPTIONS, Case, cases_frame, draw_case
from infoecon.moral_hazard.controls import best_option_not_warned_about, correct_local_answer, correct_warning
from infoecon.moral_hazard.game import Episode, Note, Revelation, View, play
from infoecon.moral_hazard.parser import PHASES, QUERY, Act, ParseOutcome, parse
from infoecon.moral_hazard.prompts import WORKED_TURNS, render, renderer
from infoecon.moral_hazard.scoring import Payoffs
from infoecon.settings.moral_hazard import GridSettings

PAYOFFS = Payoffs(local_weight=0.35, final_weight=0.15, team_reward=0.5, query_cost=0.1)
BOARD = (Note("K2", "B", 1), Note("K1", "D", 2))
CASE = Case("K1", (70, 12, 45, 33), "lowest", "")
VIEWS = {
    "work": View("work", 1, 2, PAYOFFS, True, CASE, "K2", None, None, ()),
    "note": View("note", 1, 2, PAYOFFS, True, CASE, "K2", QUERY, Revelation("K2", "B"), ()),
    "final": View("final", 1, 2, PAYOFFS, True, CASE, "K2", QUERY, Revelation("K2", "B"), BOARD),
}


def question(view: View) -> str:
    return render(view, worked_examples=False)[-1]["content"]


@pytest.mark.parametrize("phase", PHASES)
@pytest.mark.parametrize("worked_examples", [False, True])
def test_all_that_never_changes_stands_in_front(phase, worked_examples):
    other = draw_case(0, 4, 100, 3, 3, "balanced")._replace(unsafe_option="")
    views = [VIEWS[phase], VIEWS[phase]._replace(agent=3, group_size=4, case=other, notes_show_authors=False)]
    (*opening, last), (*other_opening, other_last) = (render(view, worked_examples) for view in views)
    assert opening == other_opening
    assert last != other_last
    assert [message["role"] for message in opening] == ["system"] + ["user", "assistant"] * (
        2 if worked_examples else 0
    )
    assert last["role"] == "user"


@pytest.mark.parametrize("phase", PHASES)
def test_the_worked_turns_parse_to_the_acts_they_show(phase):
    shown = render(VIEWS[phase], worked_examples=True)
    answers = [message["content"] for message in shown if message["role"] == "assistant"]
    assert [parse(phase, answer) for answer in answers] == [(ParseOutcome.OK, act) for _, act in WORKED_TURNS[phase]]
    assert len({act for _, act in WORKED_TURNS[phase]}) == 2


@pytest.mark.parametrize("phase", PHASES)
def test_the_worked_turns_are_right_about_their_cases(phase):
    rules = {"work": correct_local_answer, "note": correct_warning, "final": best_option_not_warned_about}
    for view, act in WORKED_TURNS[phase]:
        if act != QUERY:
            assert act == rules[phase](Ask(view.agent, phase, view, render, ()))


def test_the_worked_work_turns_favour_the_act_they_show():
    for view, act in WORKED_TURNS["work"]:
        margin = view.payoffs.team_reward - view.payoffs.local_weight - view.payoffs.query_cost
        assert (margin > 0) == (act == QUERY)


def test_the_worked_cases_are_in_no_design():
    worked = {view.case.utilities for turns in WORKED_TURNS.values() for view, _ in turns}
    cases = cases_frame(0, GridSettings(group_sizes=[2, 3, 4, 5, 6, 7, 8, 9, 10]))
    drawn = set(cases[[f"utility_{option.lower()}" for option in OPTIONS]].itertuples(index=False, name=None))
    assert not worked & drawn


@pytest.mark.parametrize(
    ("phase", "acts"),
    [
        ("work", [*(Act("local", option) for option in OPTIONS), QUERY]),
        ("final", [Act("final", option) for option in OPTIONS]),
    ],
)
def test_the_question_spells_out_lines_that_parse(phase, acts):
    forms = re.split(r", | or ", re.search(r"Reply (.*)\.$", question(VIEWS[phase]))[1])
    assert [parse(phase, form) for form in forms] == [(ParseOutcome.OK, act) for act in acts]


def test_the_note_question_spells_out_lines_that_parse():
    warning, silence = re.search(r"Reply (.*) with a letter, or (.*)\.$", question(VIEWS["note"])).groups()
    assert parse("note", f"{warning} A") == (ParseOutcome.OK, Act("note", "A", "K2"))
    assert parse("note", silence) == (ParseOutcome.OK, Act("silence"))


@given(st.builds(Payoffs, *[st.floats(0, 100)] * 4))
def test_payoffs_are_told_exactly(payoffs):
    told = re.findall(
        r"(?:local|final|team|cost:) ([0-9.e+-]+?)(?:[,.] |\.$)", question(VIEWS["work"]._replace(payoffs=payoffs))
    )
    assert [float(number) for number in told] == list(payoffs)


@pytest.mark.parametrize("phase", PHASES)
def test_every_question_tells_the_conditions_and_the_own_case(phase):
    text = question(VIEWS[phase])
    assert "Agents: 2." in text
    assert "Notes are signed." in text
    assert "A=70, B=12, C=45, D=33" in text
    assert "Notes are anonymous." in question(VIEWS[phase]._replace(notes_show_authors=False))


def test_authors_stand_on_a_visible_board_alone():
    assert "agent 1: CASE K2 UNSAFE B; agent 2: CASE K1 UNSAFE D" in question(VIEWS["final"])
    hidden = tuple(note._replace(author=None) for note in BOARD)
    assert "Board: CASE K2 UNSAFE B; CASE K1 UNSAFE D." in question(VIEWS["final"]._replace(board=hidden))
    assert "Board: empty." in question(VIEWS["final"]._replace(board=()))


def messages_of_a_play(episode: Episode, texts: dict[tuple[int, str], str], worked_examples: bool) -> dict:
    running = play(episode, renderer(worked_examples))
    read: dict[tuple[int, str], list[dict[str, str]]] = {}
    try:
        asks = next(running)
        while True:
            read |= {(ask.agent, ask.phase): ask.messages() for ask in asks}
            asks = running.send([Reply(texts[ask.agent, ask.phase]) for ask in asks])
    except StopIteration:
        return read


@given(st.data(), st.integers(2, 5), st.sampled_from(MAPPINGS), st.integers(0, 30), st.booleans(), st.booleans())
def test_no_message_depends_on_a_hidden_option_that_was_not_revealed(data, size, mapping, seed, shown, worked_examples):
    """The same replies under another hidden option: every message but what the query itself reveals is the same."""
    cases = [draw_case(0, size, seed, 0, agent, mapping) for agent in range(1, size + 1)]
    choices = {
        "work": ["ACTION QUERY", "ACTION LOCAL A", "no act"],
        "note": ["NOTE NONE", "no act", *(f"NOTE CASE {case.case_id} UNSAFE {case.unsafe_option}" for case in cases)],
        "final": ["FINAL A", "no act"],
    }
    texts = {
        (agent, phase): data.draw(st.sampled_from(choices[phase])) for agent in range(1, size + 1) for phase in PHASES
    }
    owner = data.draw(st.integers(1, size))
    case = cases[owner - 1]
    other = data.draw(st.sampled_from([option for option in OPTIONS if option != case.unsafe_option]))
    episode = Episode(tuple(cases), PAYOFFS, shown, 0, seed, 0)
    cases[owner - 1] = case._replace(unsafe_option=other)
    counterfactual = episode._replace(cases=tuple(cases))

    real = messages_of_a_play(episode, texts, worked_examples)
    changed = messages_of_a_play(counterfactual, texts, worked_examples)
    informed = (owner - 2) % size + 1
    revealed = {(informed, "note")} if texts[informed, "work"] == "ACTION QUERY" else set()
    assert real.keys() == changed.keys()
    assert {place for place in real if real[place] != changed[place]} == revealed
