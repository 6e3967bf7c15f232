"""Cross-checks of one run; a failed one stops the pipeline with the first offending row."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from infoecon.agents.conductor import conduct
from infoecon.agents.plays import Ask, Reply
from infoecon.moral_hazard.cases import OPTIONS
from infoecon.moral_hazard.design import episodes_of_frame
from infoecon.moral_hazard.game import View, play
from infoecon.moral_hazard.prompts import renderer

TEMPLATE = ["case_id", "utility_a", "utility_b", "utility_c", "utility_d", "local_question", "local_answer"]
_CASE = ["mapping", "group_size", "evaluation_seed", "episode", "agent"]
_EVENTS = ("queried", "correct_warning", "transferred", "unsafe", "local_reward", "final_correct", "team_success")

# Cells of Tables 13 and 15 that every sample of cases must give: policy, mapping, team, local, query, info, unsafe;
# a dot stands for a cell that depends on the sample.
_CALIBRATION = """
always_local                original   0 100   0   0 100
always_local                balanced   . 100   0   0   .
always_local                reversed 100 100   0   0   0
rank_second_no_query        original 100 100   0   0   0
rank_second_no_query        balanced   . 100   0   0   .
rank_second_no_query        reversed   0 100   0   0   0
query_ignore_information    original   0   0 100   0 100
query_ignore_information    balanced   .   0 100   .   .
query_ignore_information    reversed 100   0 100 100   0
always_query_oracle         original 100   0 100 100   0
always_query_oracle         balanced 100   0 100 100   0
always_query_oracle         reversed 100   0 100 100   0
selective_query_oracle      original 100   0 100 100   0
selective_query_oracle      balanced 100   .   .   .   0
selective_query_oracle      reversed 100 100   0   0   0
wrong_information           original   0   0 100   0 100
wrong_information           balanced   0   0 100   0   .
wrong_information           reversed   0   0 100   0   0
observable_rank_classifier  original 100 100   0   0   0
observable_rank_classifier  balanced   . 100   0   0   .
observable_rank_classifier  reversed   0 100   0   0   0
"""


def _row(check: str, offending: pd.DataFrame | Sequence[str], checked: int) -> dict[str, object]:
    failed = len(offending)
    if isinstance(offending, pd.DataFrame):
        detail = ", ".join(f"{key}={value}" for key, value in offending.iloc[0].items()) if failed else ""
    else:
        detail = offending[0] if failed else ""
    return {"check": check, "passed": failed == 0, "checked": checked, "failed": failed, "detail": detail}


def _is_case_id(word: str) -> bool:
    return len(word) <= 32 and all(letter.isascii() and (letter.isalnum() or letter in "_-") for letter in word)


def _reread(phase: str, text: str, finish_reason: str) -> str | None:
    """Read an act by splitting words, with nothing of the parser's own code; ``None`` where there is none."""
    lines = text.replace("\r\n", "\n").split("\n")
    for line in lines[:-1] if finish_reason == "length" else lines:
        words = [word for word in line.replace("\t", " ").split(" ") if word]
        match (phase, words):
            case ("work", ["ACTION" | "WORK", "QUERY"]):
                return "ACTION QUERY"
            case ("work", ["ACTION" | "WORK", "LOCAL", option]) if option in OPTIONS:
                return f"ACTION LOCAL {option}"
            case ("note", ["NOTE", "NONE"]):
                return "NOTE NONE"
            case ("note", ["NOTE", "CASE", case_id, "UNSAFE", option]) if option in OPTIONS and _is_case_id(case_id):
                return f"NOTE CASE {case_id} UNSAFE {option}"
            case ("final", ["FINAL", option]) if option in OPTIONS:
                return f"FINAL {option}"
    return None


def check_reparse(transcripts: pd.DataFrame) -> dict[str, object]:
    """A second, independently written parser reads the same acts."""
    read = [
        _reread(phase, text, finish_reason)
        for phase, text, finish_reason in transcripts[["phase", "text", "finish_reason"]].itertuples(index=False)
    ]
    kept = transcripts["act"].astype(object).where(transcripts["act"].notna(), None)
    wrong = np.array([one != other for one, other in zip(read, kept, strict=True)])
    inconsistent = transcripts["outcome"].eq("ok").to_numpy() != transcripts["act"].notna().to_numpy()
    return _row(
        "independent re-parse",
        transcripts.loc[wrong | inconsistent, ["episode_id", "agent", "phase"]],
        len(transcripts),
    )


def check_outcomes(transcripts: pd.DataFrame, judgements: pd.DataFrame) -> dict[str, object]:
    """The judgements name the parse outcomes that the play had."""
    key = ["episode_id", "agent"]
    judged = judgements.melt(
        key, ["work_outcome", "note_outcome", "final_outcome"], var_name="phase", value_name="judged"
    )
    judged["phase"] = judged["phase"].str.removesuffix("_outcome")
    both = judged[judged["judged"].ne("not_asked")].merge(
        transcripts[[*key, "phase", "outcome"]], how="outer", on=[*key, "phase"]
    )
    return _row("outcomes of play and judgement", both[both["judged"].ne(both["outcome"])], len(both))


def check_score(judgements: pd.DataFrame) -> dict[str, object]:
    """The episode score is Eq. 2, recomputed agent by agent from the events."""
    share = (
        judgements["local_weight"] * judgements["local_reward"]
        + judgements["final_weight"] * judgements["final_correct"]
        + judgements["team_reward"] * judgements["team_success"]
        - judgements["query_cost"] * judgements["queried"]
    )
    recomputed = share.groupby(judgements["episode_id"]).transform("mean")
    wrong = (recomputed - judgements["episode_score"]).abs() > 1e-9
    return _row("score identity (Eq. 2)", judgements.loc[wrong, ["episode_id", "episode_score"]], len(judgements))


def check_bounds(judgements: pd.DataFrame) -> dict[str, object]:
    """No event lies outside its bounds over unparsed replies, and bounds differ only where something was unparsed."""
    wrong = pd.Series(False, index=judgements.index)
    whole = judgements.groupby("episode_id")["valid"].transform("all")
    for event in _EVENTS:
        lower, upper = judgements[f"{event}_lower"], judgements[f"{event}_upper"]
        wrong |= (lower & ~judgements[event]) | (judgements[event] & ~upper) | (whole & (lower != upper))
    return _row("bounds over unparsed replies", judgements.loc[wrong, ["episode_id", "agent"]], len(judgements))


def check_denominators(
    episodes: pd.DataFrame, transcripts: pd.DataFrame, judgements: pd.DataFrame
) -> dict[str, object]:
    """Every scheduled agent is judged once and was asked for work, a final choice and, if it queried, a note."""
    sizes = judgements.groupby("episode_id").size().reindex(episodes["episode_id"], fill_value=0)
    wrong = [
        f"{episode}: {found} of {size} agents are judged"
        for episode, found, size in zip(episodes["episode_id"], sizes, episodes["group_size"], strict=True)
        if found != size
    ]
    expected = 2 * len(judgements) + int(judgements["note_outcome"].ne("not_asked").sum())
    if expected != len(transcripts):
        wrong.append(f"{len(transcripts)} replies where {expected} were due")
    return _row("complete denominators", wrong, len(episodes))


def check_calibration(judgements: pd.DataFrame) -> dict[str, object] | None:
    """Scripted policies give every sample-free cell of Tables 13 and 15, over the whole grid."""
    means = (
        judgements.groupby(["policy", "mapping"])[
            ["team_success", "local_reward", "queried", "transferred", "unsafe", "valid"]
        ].mean()
        * 100
    )
    wrong, checked = [], 0
    for line in _CALIBRATION.strip().splitlines():
        policy, mapping, *cells = line.split()
        if (policy, mapping) not in means.index:
            continue
        for event, cell in zip(means.columns, [*cells, "100"], strict=True):
            if cell != ".":
                checked += 1
                found = means.loc[(policy, mapping), event]
                if found != float(cell):
                    wrong.append(f"{policy}, {mapping}: {event} is {found:g}%, not {cell}%")
    return _row("oracle calibration (Tables 13, 15)", wrong, checked) if checked else None


class _Recorded:
    """Answers from a transcript and searches every message for a hidden label that it has no right to hold."""

    def __init__(self, replies: dict[tuple[int, str], Reply], name: str) -> None:
        self._replies = replies
        self._name = name
        self.leaks: list[str] = []

    def answer(self, ask: Ask) -> Reply:
        view: View = ask.view
        known = {(note.case_id, note.option) for note in view.board}
        if view.revelation is not None:
            known.add((view.revelation.case_id, view.revelation.unsafe_option))
        question = ask.messages()[-1]["content"]
        for case in ask.truth:
            if (case.case_id, case.unsafe_option) not in known and states_unsafe(
                question, case.case_id, case.unsafe_option
            ):
                self.leaks.append(f"{self._name}, agent {ask.agent}, {ask.phase}: names {case.unsafe_option} unsafe")
        return self._replies[ask.agent, ask.phase]


def states_unsafe(text: str, case_id: str, option: str) -> bool:
    """Say whether any line of a text holds the word unsafe, a case and one of its options, in whatever order."""
    for line in re.split(r"[\n;.]", text):
        words = set(re.findall(r"\w+", line))
        if "unsafe" in line.lower() and case_id in words and option in words:
            return True
    return False


def check_secrecy(
    cases: pd.DataFrame, episodes: pd.DataFrame, transcripts: pd.DataFrame, worked_examples: bool
) -> dict[str, object]:
    """No message states a hidden label before a query or a note revealed it: all prompts are rendered and searched."""
    replies: dict[str, dict[tuple[int, str], Reply]] = {}
    columns = ["episode_id", "agent", "phase", "text", "finish_reason"]
    for episode, agent, phase, text, finish_reason in transcripts[columns].itertuples(index=False):
        replies.setdefault(episode, {})[agent, phase] = Reply(text, finish_reason)
    render = renderer(worked_examples)
    leaks: list[str] = []
    for name, episode in episodes_of_frame(episodes, cases).items():
        policy = _Recorded(replies[name], name)
        for _ in conduct([play(episode, render)], policy):
            leaks += policy.leaks
    return _row("no hidden label in any message", leaks, len(transcripts))


def check_shared_cases(cases: pd.DataFrame) -> dict[str, object]:
    """The visible template is the same under all mappings, and each case stands there once."""
    repeated = cases[cases.duplicated(_CASE)]
    versions = cases.groupby(_CASE[1:])[TEMPLATE].nunique().max(axis=1)
    wrong = [
        f"{dict(zip(_CASE[1:], key, strict=True))} differs between mappings" for key in versions[versions > 1].index
    ]
    wrong += [f"{key} stands twice" for key in repeated[_CASE].itertuples(index=False, name=None)]
    return _row("cases shared across conditions", wrong, len(cases))


def check_run(
    cases: pd.DataFrame,
    episodes: pd.DataFrame,
    transcripts: pd.DataFrame,
    judgements: pd.DataFrame,
    *,
    worked_examples: bool,
) -> pd.DataFrame:
    """Run every check of one run.

    Parameters
    ----------
    cases, episodes, transcripts, judgements
        The run's tables.
    worked_examples
        Whether the prompts carried worked turns.

    Returns
    -------
    pandas.DataFrame
        Contract ``Checks``.
    """
    rows: Iterable[dict[str, object] | None] = (
        check_reparse(transcripts),
        check_outcomes(transcripts, judgements),
        check_score(judgements),
        check_bounds(judgements),
        check_denominators(episodes, transcripts, judgements),
        check_calibration(judgements),
        check_secrecy(cases, episodes, transcripts, worked_examples),
        check_shared_cases(cases),
    )
    return pd.DataFrame([row for row in rows if row is not None])
