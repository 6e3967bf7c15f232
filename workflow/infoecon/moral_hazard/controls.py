"""The ten scripted policies of App. E: each answers text that goes through the same parser as a model's.

Oracles read the hidden labels from ``ask.truth`` and are calibrations of the protocol, not agents; all others see
what a model sees.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import product
from typing import NamedTuple

from infoecon.agents.plays import Ask, Policy, Reply
from infoecon.moral_hazard.cases import OPTIONS, Case
from infoecon.moral_hazard.game import View, successor_case
from infoecon.moral_hazard.parser import QUERY, SILENCE, Act
from infoecon.moral_hazard.rank_classifier import RankClassifier
from infoecon.moral_hazard.scoring import Payoffs, episode_score
from infoecon.randomness import keyed_integer

_TIE = 1e-12

Rule = Callable[[Ask], Act]

_REPLIES: dict[Act, Reply] = {}


def say(act: Act) -> Reply:
    """Answer with the canonical line of an act."""
    reply = _REPLIES.get(act)
    if reply is None:
        reply = _REPLIES[act] = Reply(act.line())
    return reply


class ScriptedPolicy(NamedTuple):
    """A policy made of one rule for each phase."""

    work: Rule
    note: Rule
    final: Rule

    def answer(self, ask: Ask) -> Reply:
        """Answer with the act that the phase's rule names."""
        phase = ask.phase
        return say(self.work(ask) if phase == "work" else self.final(ask) if phase == "final" else self.note(ask))


def correct_local_answer(ask: Ask) -> Act:
    """Take the local action with the correct answer."""
    return Act("local", ask.view.case.local_answer())


def query(_ask: Ask) -> Act:
    """Pay for the query."""
    return QUERY


def silence(_ask: Ask) -> Act:
    """Post nothing."""
    return SILENCE


def correct_warning(ask: Ask) -> Act:
    """Post what the query revealed."""
    case_id, unsafe_option = ask.view.revelation
    return Act("note", unsafe_option, case_id)


def warning_about_the_target(ask: Ask) -> Act:
    """Warn of the successor's best safe option, which is wrong in every mapping."""
    successor = successor_case(ask.truth, ask.agent)
    return Act("note", successor.target_option(), successor.case_id)


def best_option_not_warned_about(ask: Ask) -> Act:
    """Choose the highest public utility among the options that no note on the board calls unsafe."""
    view: View = ask.view
    ranked = view.case.by_rank()
    warned = {note.option for note in view.board if note.case_id == view.case.case_id}
    return Act("final", next((option for option in ranked if option not in warned), ranked[0]))


def highest_option(ask: Ask) -> Act:
    """Choose the highest public utility, whatever the board says."""
    return Act("final", ask.view.case.by_rank()[0])


def second_highest_option(ask: Ask) -> Act:
    """Choose the second highest public utility."""
    return Act("final", ask.view.case.by_rank()[1])


def query_if_the_visible_optimum_is_unsafe(ask: Ask) -> Act:
    """Query exactly where the revelation changes the successor's best visible option."""
    successor = successor_case(ask.truth, ask.agent)
    return QUERY if successor.target_option() != successor.by_rank()[0] else correct_local_answer(ask)


def query_if_privately_worthwhile(ask: Ask) -> Act:
    """Query where the own share of the team reward exceeds cost and forfeited local reward (α = 1/n in Eq. 5)."""
    payoffs: Payoffs = ask.view.payoffs
    margin = payoffs.team_reward - payoffs.local_weight - payoffs.query_cost
    return QUERY if margin > _TIE else correct_local_answer(ask)


def best_query_set(cases: tuple[Case, ...], payoffs: Payoffs) -> tuple[bool, ...]:
    """Find who must query so that the realised score of Eq. 2 is highest; ties go to fewer queries.

    Those who query warn correctly, the others answer their local question correctly, and everybody follows the board.
    """
    size = len(cases)
    safe_unwarned = [case.by_rank()[0] != case.unsafe_option for case in cases]

    def score(queries: tuple[bool, ...]) -> float:
        correct = [safe or queries[agent - 1] for agent, safe in enumerate(safe_unwarned)]
        local, final = (size - sum(queries)) / size, sum(correct) / size
        return episode_score(local, final, float(all(correct)), sum(queries) / size, payoffs)

    best: tuple[bool, ...] = (False,) * size
    for queries in sorted(product((False, True), repeat=size), key=sum):
        if score(queries) > score(best) + _TIE:
            best = queries
    return best


def query_if_in_the_best_query_set(ask: Ask) -> Act:
    """Query where the social planner wants it."""
    planned = best_query_set(ask.truth, ask.view.payoffs)
    return QUERY if planned[ask.agent - 1] else correct_local_answer(ask)


def random_work(ask: Ask) -> Act:
    """Query or answer locally with probability ½ each, the local label uniform."""
    drawn = keyed_integer(ask.key, 32)
    return QUERY if drawn & 1 else Act("local", OPTIONS[(drawn >> 1) & 3])


def random_note(ask: Ask) -> Act:
    """Choose uniformly among silence and the four warnings for the target case."""
    drawn = keyed_integer(ask.key, 53) % 5
    return SILENCE if drawn == 4 else Act("note", OPTIONS[drawn], ask.view.successor_case_id)


def random_final(ask: Ask) -> Act:
    """Choose uniformly among the four options."""
    return Act("final", OPTIONS[keyed_integer(ask.key, 2)])


def classified_option(classifier: RankClassifier) -> Rule:
    """Choose the highest option that the classifier does not call unsafe."""

    def choose(ask: Ask) -> Act:
        ranked = ask.view.case.by_rank()
        return Act("final", ranked[1 if classifier.unsafe_rank == 1 else 0])

    return choose


def controls(classifier: RankClassifier) -> Mapping[str, Policy]:
    """Give the ten scripted policies under their published names.

    Parameters
    ----------
    classifier
        The fitted observable-rank classifier, frozen.
    """
    final = best_option_not_warned_about
    return {
        "random_valid": ScriptedPolicy(random_work, random_note, random_final),
        "always_local": ScriptedPolicy(correct_local_answer, silence, final),
        "rank_second_no_query": ScriptedPolicy(correct_local_answer, silence, second_highest_option),
        "query_ignore_information": ScriptedPolicy(query, correct_warning, highest_option),
        "always_query_oracle": ScriptedPolicy(query, correct_warning, final),
        "selective_query_oracle": ScriptedPolicy(query_if_the_visible_optimum_is_unsafe, correct_warning, final),
        "wrong_information": ScriptedPolicy(query, warning_about_the_target, final),
        "private_threshold": ScriptedPolicy(query_if_privately_worthwhile, correct_warning, final),
        "social_planner": ScriptedPolicy(query_if_in_the_best_query_set, correct_warning, final),
        "observable_rank_classifier": ScriptedPolicy(correct_local_answer, silence, classified_option(classifier)),
    }
