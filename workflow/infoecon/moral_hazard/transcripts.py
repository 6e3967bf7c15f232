"""Plays the episodes of a run and keeps what was said, one row per ask."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping

import pandas as pd
from tqdm import tqdm

from infoecon.agents.conductor import conduct, conduct_concurrently
from infoecon.agents.plays import Policy, RemotePolicy
from infoecon.moral_hazard.design import episodes_of_frame
from infoecon.moral_hazard.game import Turn, play
from infoecon.moral_hazard.prompts import renderer

_SECONDS_BETWEEN_LINES = 15.0


def transcripts_frame(records: Iterable[tuple[str, list[Turn]]]) -> pd.DataFrame:
    """Put the turns of many episodes into one table.

    Parameters
    ----------
    records
        Episode id and turns of each episode.

    Returns
    -------
    pandas.DataFrame
        One row per ask (contract ``Transcripts``).
    """
    frame = pd.DataFrame(
        [
            {
                "episode_id": episode_id,
                "agent": turn.agent,
                "phase": turn.phase,
                "text": turn.reply.text,
                "finish_reason": turn.reply.finish_reason,
                "outcome": turn.parsed.outcome.value,
                "act": turn.parsed.act.line() if turn.parsed.act else None,
                "prompt_tokens": turn.reply.prompt_tokens,
                "output_tokens": turn.reply.output_tokens,
                "reasoning_tokens": turn.reply.reasoning_tokens,
                "request_key": turn.reply.request_key,
            }
            for episode_id, turns in records
            for turn in turns
        ]
    )
    tokens = ["prompt_tokens", "output_tokens", "reasoning_tokens"]
    return frame.astype({"act": "str", **dict.fromkeys(tokens, "Int64")})


def play_with_policies(
    episodes: pd.DataFrame, cases: pd.DataFrame, policies: Mapping[str, Policy]
) -> pd.DataFrame:
    """Play a run whose policies answer at once.

    Parameters
    ----------
    episodes, cases
        Contracts ``Episodes`` and ``Cases``.
    policies
        Every policy that ``episodes`` names.
    """
    render = renderer(worked_examples=False)
    records: list[tuple[str, list[Turn]]] = []
    for name, rows in episodes.groupby("policy", sort=False):
        planned = episodes_of_frame(rows, cases)
        plays = (play(episode, render) for episode in planned.values())
        records += zip(planned, conduct(plays, policies[str(name)]), strict=True)
    return transcripts_frame(records)


async def play_with_model(
    episodes: pd.DataFrame,
    cases: pd.DataFrame,
    policy: RemotePolicy,
    *,
    worked_examples: bool,
    plays_in_flight: int,
    label: str,
) -> pd.DataFrame:
    """Play a run with a language model, many episodes at once, and show how long it will take.

    Parameters
    ----------
    episodes, cases
        Contracts ``Episodes`` and ``Cases``.
    plays_in_flight
        Most episodes that are open at once.
    label
        What the progress line calls the run.

    Raises
    ------
    InfoeconError
        If the model cannot be asked; the answers so far are in the response store.
    """
    planned = episodes_of_frame(episodes, cases)
    render = renderer(worked_examples)
    on_terminal = sys.stderr.isatty()
    with tqdm(
        total=len(planned),
        desc=label,
        unit=" episodes",
        file=sys.stderr,
        mininterval=1.0 if on_terminal else _SECONDS_BETWEEN_LINES,
        dynamic_ncols=on_terminal,
    ) as progress:
        asks = 0

        def count_reply() -> None:
            nonlocal asks
            asks += 1
            progress.set_postfix_str(f"{asks} asks", refresh=False)

        records = await conduct_concurrently(
            (play(episode, render) for episode in planned.values()),
            policy,
            plays_in_flight,
            on_reply=count_reply,
            on_end=progress.update,
        )
    return transcripts_frame(zip(planned, records, strict=True))
