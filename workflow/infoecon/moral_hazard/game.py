"""The Dialogue Moral Hazard Game as a play: it asks, it never answers (Section 2.1 of the moral-hazard paper).

Agents stand on a directed ring. All choose at once to answer their local question or to pay for a query, which
privately reveals the unsafe option of their successor's case; those who queried may then post one note each; at last
everybody sees the same board and chooses a final option of the own case.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

from infoecon.agents.plays import Ask, Play, Reply
from infoecon.language_models.requests import Message
from infoecon.moral_hazard.cases import Case
from infoecon.moral_hazard.parser import Act, Parsed, Phase, parse
from infoecon.moral_hazard.scoring import Payoffs


class Note(NamedTuple):
    """A note on the public board."""

    case_id: str
    """Case that the note names."""
    option: str
    """Option that the note calls unsafe."""
    author: int | None
    """Agent who posted it; ``None`` where notes are anonymous."""


class Revelation(NamedTuple):
    """What a query reveals to the agent who paid for it."""

    case_id: str
    """The successor's case."""
    unsafe_option: str
    """Its hidden unsafe option."""


class View(NamedTuple):
    """All that an agent may see when it is asked."""

    phase: Phase
    agent: int
    """The own number, from 1."""
    group_size: int
    payoffs: Payoffs
    notes_show_authors: bool
    """Whether the board says who posted a note."""
    case: Case
    """The own case, its unsafe option blanked."""
    successor_case_id: str
    """Case that a query reveals."""
    work: Act | None
    """The own work action, after the work phase."""
    revelation: Revelation | None
    """What the own query revealed."""
    board: tuple[Note, ...]
    """The public board, in the final phase."""


class Episode(NamedTuple):
    """What is played once."""

    cases: tuple[Case, ...]
    """Cases of the agents 1 to n."""
    payoffs: Payoffs
    notes_show_authors: bool
    outer_seed: int
    """Seed of the policy's own draws."""
    evaluation_seed: int
    episode: int


class Turn(NamedTuple):
    """One ask, its reply and what was read in it."""

    agent: int
    phase: Phase
    reply: Reply
    parsed: Parsed


Renderer = Callable[[View], list[Message]]


def successor_case(cases: Sequence[Case], agent: int) -> Case:
    """Give the case that a query of ``agent`` is about: that of the next agent on the ring."""
    return cases[agent % len(cases)]


def play(episode: Episode, render: Renderer) -> Play[list[Turn]]:
    """Play one episode.

    An act that cannot be parsed is replaced by Table 7's fallback, so that the episode goes on: the correct local
    answer, no note, the highest public utility. The turn keeps what was really said.

    Yields
    ------
    tuple of Ask
        The asks of one phase, which are simultaneous. Their keys hold no payoff, provenance, mapping or policy.

    Returns
    -------
    list of Turn
        One for each ask, in order.
    """
    cases, payoffs, shown = episode.cases, episode.payoffs, episode.notes_show_authors
    size = len(cases)
    agents = range(1, size + 1)
    blanked = [case._replace(unsafe_option="") for case in cases]
    successors = [successor_case(cases, agent) for agent in agents]
    key = ("moral_hazard", episode.outer_seed, size, episode.evaluation_seed, episode.episode)
    turns: list[Turn] = []

    def ask(phase: Phase, agent: int, work: Act | None, board: tuple[Note, ...]) -> Ask:
        successor = successors[agent - 1]
        reveals = work is not None and work.kind == "query"
        revelation = Revelation(successor.case_id, successor.unsafe_option) if reveals else None
        own = blanked[agent - 1]
        view = View(phase, agent, size, payoffs, shown, own, successor.case_id, work, revelation, board)
        return Ask(agent, phase, view, render, (*key, agent, phase), cases)

    def read(asks: tuple[Ask, ...], replies: Sequence[Reply]) -> list[Act | None]:
        acts = []
        for asked, reply in zip(asks, replies, strict=True):
            phase: Phase = asked.view.phase
            parsed = parse(phase, reply.text, reply.finish_reason)
            turns.append(Turn(asked.agent, phase, reply, parsed))
            acts.append(parsed.act)
        return acts

    asks = tuple([ask("work", agent, None, ()) for agent in agents])
    works = [
        act or Act("local", case.local_answer()) for act, case in zip(read(asks, (yield asks)), cases, strict=True)
    ]

    queriers = [agent for agent, work in zip(agents, works, strict=True) if work.kind == "query"]
    board: tuple[Note, ...] = ()
    if queriers:
        asks = tuple([ask("note", agent, works[agent - 1], ()) for agent in queriers])
        notes = [
            Note(act.case_id, act.option, agent if shown else None)
            for agent, act in zip(queriers, read(asks, (yield asks)), strict=True)
            if act is not None and act.kind == "note"
        ]
        # The order in which agents were asked would tell who wrote an anonymous note.
        board = tuple(notes if shown else sorted(notes))

    asks = tuple([ask("final", agent, works[agent - 1], board) for agent in agents])
    read(asks, (yield asks))
    return turns
