from collections.abc import Iterator
from itertools import product
from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoecon.agents.plays import Ask, Reply
from infoecon.moral_hazard.cases import MAPPINGS, OPTIONS, Case, draw_case
from infoecon.moral_hazard.controls import controls
from infoecon.moral_hazard.game import Episode, Note, Turn, play
from infoecon.moral_hazard.parser import Act, ParseOutcome
from infoecon.moral_hazard.rank_classifier import RankClassifier
from infoecon.moral_hazard.scoring import Payoffs, episode_score
from infoecon.moral_hazard.simulated_agents import SimulatedAgent
from infoecon.settings.moral_hazard_agents import SimulatedAgentSettings

PAYOFFS = Payoffs(local_weight=0.35, final_weight=0.15, team_reward=0.5, query_cost=0.1)
GARBLED = "I would rather not say"
CASES = (Case("K1", (40, 30, 20, 10), "highest", "A"), Case("K2", (15, 95, 35, 75), "lowest", "D"))


class Playthrough(NamedTuple):
    waves: list[tuple[Ask, ...]]
    turns: list[Turn]

    def acts(self, phase: str) -> dict[int, Act | None]:
        return {turn.agent: turn.parsed.act for turn in self.turns if turn.phase == phase}


def unread(view) -> list:
    raise AssertionError("a play must not render what nobody reads")


def follow(episode: Episode, answer) -> Playthrough:
    waves: list[tuple[Ask, ...]] = []
    running = play(episode, unread)
    try:
        waves.append(next(running))
        while True:
            waves.append(running.send([answer(ask) for ask in waves[-1]]))
    except StopIteration as stop:
        return Playthrough(waves, stop.value)


def two_agents(**changes) -> Episode:
    return Episode(CASES, PAYOFFS, True, outer_seed=0, evaluation_seed=0, episode=0)._replace(**changes)


CHOICES = {
    "work": ["ACTION QUERY", *(f"ACTION LOCAL {option}" for option in OPTIONS), GARBLED],
    "note": [
        "NOTE NONE",
        "NOTE CASE K1 UNSAFE A",
        "NOTE CASE K2 UNSAFE D",
        "NOTE CASE K2 UNSAFE B",
        "NOTE CASE K9 UNSAFE A",
        GARBLED,
    ],
    "final": [*(f"FINAL {option}" for option in OPTIONS), GARBLED],
}


def full_tree(episode: Episode) -> Iterator[Playthrough]:
    """Play every combination of replies."""
    unfinished: list[list[tuple[str, ...]]] = [[]]
    while unfinished:
        said = unfinished.pop()
        waves: list[tuple[Ask, ...]] = []
        running = play(episode, unread)
        try:
            waves.append(next(running))
            for texts in said:
                waves.append(running.send([Reply(text) for text in texts]))
            unfinished += [[*said, texts] for texts in product(*(CHOICES[ask.phase] for ask in waves[-1]))]
        except StopIteration as stop:
            yield Playthrough(waves, stop.value)


@pytest.fixture(scope="module")
def tree() -> list[Playthrough]:
    return list(full_tree(two_agents()))


def test_the_tree_holds_every_combination_of_replies(tree):
    finals = 5 * 5
    assert len(tree) == (5 * 5 + 2 * 5 * 6 + 6 * 6) * finals


def test_phases_follow_one_another_and_notes_are_asked_of_queriers_alone(tree):
    for playthrough in tree:
        queriers = [agent for agent, act in playthrough.acts("work").items() if act == Act("query")]
        asked = [(wave[0].phase, [ask.agent for ask in wave]) for wave in playthrough.waves]
        notes = [("note", queriers)] if queriers else []
        assert asked == [("work", [1, 2]), *notes, ("final", [1, 2])]
        assert [(turn.phase, turn.agent) for turn in playthrough.turns] == [
            (phase, agent) for phase, agents in asked for agent in agents
        ]


def test_all_see_one_board_and_it_holds_the_parsed_notes_alone(tree):
    for playthrough in tree:
        notes = playthrough.acts("note").items()
        board = tuple(Note(act.case_id, act.option, agent) for agent, act in notes if act and act.kind == "note")
        assert {ask.view.board for ask in playthrough.waves[-1]} == {board}
        assert {ask.view.board for wave in playthrough.waves[:-1] for ask in wave} == {()}


def test_a_query_reveals_the_successor_and_nothing_else_reveals_anything(tree):
    for playthrough in tree:
        works = playthrough.acts("work")
        for wave in playthrough.waves:
            for ask in wave:
                queried = ask.phase != "work" and works[ask.agent] == Act("query")
                successor = CASES[ask.agent % 2]
                assert ask.view.revelation == ((successor.case_id, successor.unsafe_option) if queried else None)
                assert ask.view.successor_case_id == successor.case_id
                assert ask.view.case == CASES[ask.agent - 1]._replace(unsafe_option="")


def test_an_unparsed_work_action_counts_as_the_correct_local_answer_and_is_kept_as_it_was(tree):
    for playthrough in tree:
        for turn in playthrough.turns:
            if turn.reply.text == GARBLED:
                assert turn.parsed == (ParseOutcome.UNMATCHED, None)
        for ask in playthrough.waves[-1]:
            own = playthrough.acts("work")[ask.agent]
            assert ask.view.work == (own or Act("local", CASES[ask.agent - 1].local_answer()))


def score(playthrough: Playthrough) -> float:
    """Score by Eq. 2 with nothing but the acts."""
    works, finals = playthrough.acts("work"), playthrough.acts("final")
    local = [works[agent] == Act("local", CASES[agent - 1].local_answer()) for agent in (1, 2)]
    correct = [finals[agent] == Act("final", CASES[agent - 1].target_option()) for agent in (1, 2)]
    queried = [works[agent] == Act("query") for agent in (1, 2)]
    return episode_score(sum(local) / 2, sum(correct) / 2, float(all(correct)), sum(queried) / 2, PAYOFFS)


def test_scores_lie_between_a_wasted_query_and_a_lucky_guess(tree):
    scores = [score(playthrough) for playthrough in tree]
    assert min(scores) == pytest.approx(-0.10)
    assert max(scores) == pytest.approx(0.35 + 0.15 + 0.50)
    both_query_and_succeed = [
        value
        for playthrough, value in zip(tree, scores, strict=True)
        if set(playthrough.acts("work").values()) == {Act("query")}
        and playthrough.acts("final") == {1: Act("final", "B"), 2: Act("final", "B")}
    ]
    assert both_query_and_succeed == pytest.approx([0.55] * 36)


def random_episode(group_size: int, mapping: str, seed: int, **changes) -> Episode:
    cases = tuple(draw_case(0, group_size, seed, 0, agent, mapping) for agent in range(1, group_size + 1))
    return Episode(cases, PAYOFFS, False, outer_seed=seed, evaluation_seed=seed, episode=0)._replace(**changes)


def random_texts(seed: int):
    """Answer at random, sometimes with nonsense, as a pure function of the key."""
    agent = SimulatedAgent(
        SimulatedAgentSettings(temperature=10.0, warning_rate=0.7, board_use_rate=0.5, format_error_rate=0.2)
    )
    return lambda ask: agent.answer(ask._replace(key=(*ask.key, seed)))


EPISODES = st.builds(random_episode, st.integers(2, 6), st.sampled_from(MAPPINGS), st.integers(0, 50))


@given(EPISODES, st.integers(0, 1000))
def test_recorded_replies_play_again_to_the_same_turns(episode, seed):
    first = follow(episode, random_texts(seed))
    recorded = {(turn.agent, turn.phase): turn.reply for turn in first.turns}
    again = follow(episode, lambda ask: recorded[ask.agent, ask.phase])
    assert again == first


@given(EPISODES, st.integers(0, 1000), st.floats(0, 1), st.sampled_from(MAPPINGS))
def test_keys_are_distinct_and_hold_no_condition(episode, seed, team_reward, mapping):
    size, evaluation_seed = len(episode.cases), episode.evaluation_seed
    changed = random_episode(size, mapping, evaluation_seed, notes_show_authors=True)
    changed = changed._replace(payoffs=PAYOFFS._replace(team_reward=team_reward))
    keys = [ask.key for wave in follow(episode, random_texts(seed)).waves for ask in wave]
    assert len(set(keys)) == len(keys)
    for phase in ("work", "final"):
        others = {ask.key for wave in follow(changed, random_texts(seed)).waves for ask in wave if ask.phase == phase}
        assert others == {key for key in keys if key[-1] == phase}
    for key in keys:
        assert key[:-2] == ("moral_hazard", episode.outer_seed, size, evaluation_seed, 0)


@given(EPISODES, st.integers(0, 1000), st.data())
def test_no_view_depends_on_a_hidden_option_that_was_not_revealed(episode, seed, data):
    owner = data.draw(st.integers(1, len(episode.cases)))
    case = episode.cases[owner - 1]
    other = data.draw(st.sampled_from([option for option in OPTIONS if option != case.unsafe_option]))
    cases = list(episode.cases)
    cases[owner - 1] = case._replace(unsafe_option=other)
    first = follow(episode, random_texts(seed))
    recorded = {(turn.agent, turn.phase): turn.reply for turn in first.turns}
    counterfactual = follow(episode._replace(cases=tuple(cases)), lambda ask: recorded[ask.agent, ask.phase])
    informed = (owner - 2) % len(cases) + 1
    for asks, others in zip(first.waves, counterfactual.waves, strict=True):
        for ask, changed in zip(asks, others, strict=True):
            if ask.agent == informed and ask.view.revelation is not None:
                assert (ask.view.revelation, changed.view.revelation) == (
                    (case.case_id, case.unsafe_option),
                    (case.case_id, other),
                )
            else:
                assert ask.view == changed.view


def test_an_anonymous_board_does_not_tell_who_wrote():
    def notes_of(texts: dict[int, str], shown: bool) -> tuple[Note, ...]:
        texts_of_phase = {"work": dict.fromkeys((1, 2), "ACTION QUERY"), "note": texts, "final": texts}
        playthrough = follow(
            two_agents(notes_show_authors=shown), lambda ask: Reply(texts_of_phase[ask.phase][ask.agent])
        )
        return playthrough.waves[-1][0].view.board

    one, other = "NOTE CASE K1 UNSAFE A", "NOTE CASE K2 UNSAFE D"
    assert notes_of({1: one, 2: other}, shown=False) == notes_of({1: other, 2: one}, shown=False)
    assert {note.author for note in notes_of({1: one, 2: other}, shown=False)} == {None}
    assert [note.author for note in notes_of({1: other, 2: one}, shown=True)] == [1, 2]


def write_out(episode: Episode, playthrough: Playthrough) -> str:
    """Write a playthrough for people to read."""
    lines = [
        f"{case.case_id} {dict(zip(OPTIONS, case.utilities, strict=True))} {case.local_question}? "
        f"unsafe {case.unsafe_option}, target {case.target_option()}"
        for case in episode.cases
    ]
    turns = iter(playthrough.turns)
    for wave in playthrough.waves:
        lines.append(f"-- {wave[0].phase}")
        if wave[0].phase == "final":
            lines += [f"   board: {note}" for note in wave[0].view.board]
        for ask in wave:
            turn = next(turns)
            if ask.phase == "note":
                lines.append(f"   {ask.agent} learns {ask.view.revelation}")
            lines.append(f"   {ask.agent} says {turn.reply.text!r}: {turn.parsed.outcome}")
    return "\n".join(lines) + "\n"


GOLDEN = {
    "always_query_oracle": random_episode(2, "original", 0),
    "random_valid": random_episode(3, "balanced", 100, notes_show_authors=True),
    "faulty_agent": random_episode(4, "reversed", 200),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_golden_playthroughs(name, repository):
    """Where a change of the game is meant, replace the file with what this test shows."""
    faulty = SimulatedAgent(SimulatedAgentSettings(temperature=0.3, warning_rate=0.8, format_error_rate=0.6))
    policies = {**controls(RankClassifier(1, (1.0, 0.0, 0.0, 0.0))), "faulty_agent": faulty}
    episode = GOLDEN[name]
    written = write_out(episode, follow(episode, policies[name].answer))
    golden = repository / "tests" / "moral_hazard" / "golden" / f"{name}.txt"
    assert written == golden.read_text(encoding="utf-8")
