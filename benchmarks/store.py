"""Opening a response store of a million answers: time, memory and look-ups.

The baseline reads the same lines into a dict with a plain loop of ``json.loads``, for a tenth of the rows, scaled up.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from infoecon.language_models.requests import ModelIdentity, Request, Response, canonical_json, digest
from infoecon.language_models.store import ResponseStore
from infoecon.settings.models import Sampling

ROWS = 1_000_000
SHARDS = 4
BASELINE_ROWS = ROWS // 10
LOOK_UPS = 5_000
PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024


def request(number: int) -> Request:
    """Ask something short, so that a row takes some 600 bytes."""
    return Request(ModelIdentity("m", "e", "r"), ({"role": "user", "content": "?"},), Sampling(), number)


def build(directory: Path) -> None:
    """Write a store with real rows at both ends of each shard and, between them, rows of the same form."""
    for shard in range(SHARDS):
        with (directory / f"{shard}.jsonl").open("wb") as file:
            for number in range(shard, ROWS, SHARDS):
                file.write(row(number))
