"""Keyed random draws: every draw is a pure function of its key, never of what was drawn before.

A key names *what* is drawn (study, seed, episode, agent, phase, replicate) and never holds a policy, model,
mapping or condition label, so that conditions share random numbers and a job split in two draws the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import TypeVar

import numpy as np

Key = tuple[str | int, ...]
T = TypeVar("T")

_SEPARATOR = "\x1f"
_TWO_TO_53 = 1 << 53


def keyed_integer(key: Key, bits: int = 64) -> int:
    """Draw a uniform integer of ``bits`` bits (at most 64) that the key alone decides."""
    digest = blake2b(_SEPARATOR.join(map(str, key)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "little") >> (64 - bits)


def keyed_uniform(key: Key) -> float:
    """Draw a uniform number in [0, 1) with 53 random bits."""
    return keyed_integer(key, 53) / _TWO_TO_53


def keyed_choice(options: Sequence[T], key: Key) -> T:
    """Draw one of ``options`` uniformly (the bias of the modulus is below 2**-50)."""
    return options[keyed_integer(key) % len(options)]


def keyed_generator(key: Key) -> np.random.Generator:
    """Open a numpy generator (Philox) for draws that are vectorised under one key."""
    digest = blake2b(_SEPARATOR.join(map(str, key)).encode(), digest_size=16).digest()
    return np.random.Generator(np.random.Philox(key=int.from_bytes(digest, "little")))


def keyed_permutation(length: int, key: Key) -> tuple[int, ...]:
    """Draw a uniform permutation of ``range(length)``."""
    return tuple(int(i) for i in keyed_generator(key).permutation(length))
