"""Plays the episodes of a run and keeps what was said, one row per ask."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from itertools import count
from pathlib import Path

import pandas as pd
from tqdm import tqdm

from infoecon.agents.conductor import conduct, conduct_concurrently
from infoecon.agents.language_model_policy import LanguageModelPolicy
from infoecon.agents.plays import Policy
from infoecon.language_models.endpoints import open_client
from infoecon.moral_hazard.design import episodes_of_frame
from infoecon.moral_hazard.game import Turn, play
from infoecon.moral_hazard.prompts import renderer
from infoecon.settings.budget import Budget
from infoecon.settings.models import ModelRegistry
from infoecon.settings.moral_hazard import RunSettings

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


def play_with_policies(episodes: pd.DataFrame, cases: pd.DataFrame, policies: Mapping[str, Policy]) -> pd.DataFrame:
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


async def ask_model(
    episodes: pd.DataFrame,
    cases: pd.DataFrame,
    run: RunSettings,
    *,
    models: ModelRegistry,
    budget: Budget,
    cache_directory: Path,
    server_log: Path,
) -> pd.DataFrame:
    """Play a run with its language model, many episodes at once, and show how long it will take.

    Parameters
    ----------
    episodes, cases
        Contracts ``Episodes`` and ``Cases``.
    run
        Names the model, its sampling and its prompts.
    models, budget, cache_directory, server_log
        See ``endpoints.open_client``.

    Returns
    -------
    pandas.DataFrame
        Contract ``Transcripts``.

    Raises
    ------
    InfoeconError
        If the model cannot be asked; the answers so far are in the response store.
    """
    assert run.model is not None
    planned = episodes_of_frame(episodes, cases)
    plays = (play(episode, renderer(run.worked_examples)) for episode in planned.values())
    async with open_client(run.model, models, cache_directory, budget, server_log) as client:
        with _progress(run.model, len(planned)) as progress:
            asks = count(1)
            records = await conduct_concurrently(
                plays,
                LanguageModelPolicy(client, run.sampling),
                plays_in_flight=2 * client.concurrency,
                on_reply=lambda: progress.set_postfix_str(f"{next(asks)} asks", refresh=False),
                on_end=progress.update,
            )
    return transcripts_frame(zip(planned, records, strict=True))


def _progress(label: str, episodes: int) -> tqdm:
    """Open a progress bar; where nobody watches a terminal it prints a line now and then."""
    on_terminal = sys.stderr.isatty()
    return tqdm(
        total=episodes,
        desc=label,
        unit=" episodes",
        file=sys.stderr,
        mininterval=1.0 if on_terminal else _SECONDS_BETWEEN_LINES,
        dynamic_ncols=on_terminal,
    )
