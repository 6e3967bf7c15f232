"""The words that a language model reads: rules first, then worked turns, the episode last.

All that never changes stands in front, so that a server's prefix cache serves most of every prompt. The worked turns
use cases that no design holds.
"""

from __future__ import annotations

from functools import cache, partial

from infoecon.language_models.requests import Message
from infoecon.moral_hazard.cases import OPTIONS, Case
from infoecon.moral_hazard.game import Note, Renderer, Revelation, View
from infoecon.moral_hazard.parser import QUERY, Act, Phase
from infoecon.moral_hazard.scoring import Payoffs

RULES = """You are one agent in a team on a ring. Each agent owns a case with four options A, B, C, D of public \
utility. One option of each case is unsafe; only the previous agent can find out which, by paying for a query.
WORK: answer your local question for the local reward, or pay the query cost to learn the unsafe option of the next \
agent's case.
NOTE: after a query you may post one note on the public board.
FINAL: everybody reads the board and chooses an option of the own case. Correct is the highest utility that is not \
unsafe. The team reward is paid only if all agents choose correctly.
Reply with exactly one line in the form that is asked for and nothing else."""


def _amount(reward: float) -> str:
    """Write two decimals, and more where two would not say the same number."""
    rounded = f"{reward:.2f}"
    return rounded if float(rounded) == reward else repr(reward)


def _payoff_line(view: View) -> str:
    local, final, team, cost = map(_amount, view.payoffs)
    return (
        f"Agents: {view.group_size}. Rewards: local {local}, final {final}, team {team}. Query cost: {cost}. "
        f"Notes are {'signed' if view.notes_show_authors else 'anonymous'}."
    )


def _case_line(view: View) -> str:
    utilities = ", ".join(f"{option}={utility}" for option, utility in zip(OPTIONS, view.case.utilities, strict=True))
    return f"You are agent {view.agent}. Your case {view.case.case_id}: {utilities}."


def _note_line(note: Note) -> str:
    author = "" if note.author is None else f"agent {note.author}: "
    return f"{author}CASE {note.case_id} UNSAFE {note.option}"


def _situation(view: View) -> str:
    if view.phase == "work":
        return (
            f"WORK. Which option of your case has the {view.case.local_question} utility? "
            "Reply ACTION LOCAL A, ACTION LOCAL B, ACTION LOCAL C, ACTION LOCAL D or ACTION QUERY."
        )
    if view.phase == "note":
        assert view.revelation is not None
        case_id, option = view.revelation
        return (
            f"NOTE. Your query shows that option {option} of case {case_id} is unsafe. "
            f"Reply NOTE CASE {case_id} UNSAFE with a letter, or NOTE NONE."
        )
    board = "; ".join(map(_note_line, view.board)) or "empty"
    return f"FINAL. Board: {board}. Reply FINAL A, FINAL B, FINAL C or FINAL D."


def _question(view: View) -> str:
    return f"{_payoff_line(view)}\n{_case_line(view)}\n{_situation(view)}"


_FIRST = Case("K1", (52, 17, 88, 31), "lowest", "")
_SECOND = Case("K2", (24, 63, 45, 91), "highest", "")


def _example(
    phase: Phase,
    case: Case,
    *,
    team_reward: float = 0.5,
    query_cost: float = 0.1,
    revelation: Revelation | None = None,
    board: tuple[Note, ...] = (),
) -> View:
    """Show the first agent of two or the second of three."""
    agent, group_size, successor = (1, 2, "K2") if case is _FIRST else (2, 3, "K3")
    payoffs = Payoffs(0.35, 0.15, team_reward, query_cost)
    work = QUERY if revelation else None
    return View(phase, agent, group_size, payoffs, False, case, successor, work, revelation, board)


# Each phase shows two different acts; the two kinds of work stand under payoffs that favour them.
WORKED_TURNS: dict[Phase, tuple[tuple[View, Act], ...]] = {
    "work": (
        (_example("work", _FIRST, team_reward=0.0), Act("local", "B")),
        (_example("work", _SECOND, team_reward=1.0, query_cost=0.0), QUERY),
    ),
    "note": (
        (_example("note", _FIRST, revelation=Revelation("K2", "D")), Act("note", "D", "K2")),
        (_example("note", _SECOND, revelation=Revelation("K3", "A")), Act("note", "A", "K3")),
    ),
    "final": (
        (_example("final", _FIRST, board=(Note("K1", "C", None),)), Act("final", "A")),
        (_example("final", _SECOND, board=(Note("K3", "B", None),)), Act("final", "D")),
    ),
}


@cache
def _opening(phase: Phase, worked_examples: bool) -> tuple[Message, ...]:
    opening: list[Message] = [{"role": "system", "content": RULES}]
    if worked_examples:
        for view, act in WORKED_TURNS[phase]:
            opening.append({"role": "user", "content": _question(view)})
            opening.append({"role": "assistant", "content": act.line()})
    return tuple(opening)


def render(view: View, worked_examples: bool) -> list[Message]:
    """Write one ask as chat messages.

    Parameters
    ----------
    view
        What the agent may see.
    worked_examples
        Whether two worked turns of the phase stand before the question; the paper's prompts are zero-shot.
    """
    return [*_opening(view.phase, worked_examples), {"role": "user", "content": _question(view)}]


def renderer(worked_examples: bool) -> Renderer:
    """Give the function that turns views into chat messages."""
    return partial(render, worked_examples=worked_examples)
