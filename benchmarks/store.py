"""Opening a response store of a million answers: time, memory and look-ups.

The baseline reads lines into a dict with a plain loop of ``json.loads``, for a tenth of the rows, and is scaled up.
Both run in processes of their own, on files that the page cache holds.
"""

from __future__ import annotations

import json
import random
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from infoecon.language_models.requests import ModelIdentity, Request, Response
from infoecon.language_models.store import ResponseStore
from infoecon.settings.models import Sampling

ROWS = 1_000_000
SHARDS = 4
BASELINE_SHARE = 10
REAL_ROWS = 5_000
PEAK_UNIT_BYTES = 1 if sys.platform == "darwin" else 1024

Measurement = dict[str, float]


def request(number: int) -> Request:
    """Ask something short; a row with its answer takes some 600 bytes."""
    return Request(ModelIdentity("m", "e", "r"), ({"role": "user", "content": "?"},), Sampling(), number)


def build(directory: Path) -> int:
    """Store some real answers and put them among copies of one line under random keys; give the size in bytes."""
    with ResponseStore(directory) as store:
        for number in range(REAL_ROWS):
            store.put(request(number), Response("ACTION QUERY", "stop", 578, 500, None, 12))
    (shard,) = directory.iterdir()
    lines = shard.read_bytes().splitlines(keepends=True)
    shard.unlink()
    key = request(0).key.encode()
    head, tail = lines[0].split(key, 1)
    draw = random.Random(0)
    for number in range(SHARDS):
        with (directory / f"{number}.jsonl").open("wb") as file:
            for real in lines[number::SHARDS]:
                for _ in range(ROWS // REAL_ROWS - 1):
                    file.write(b"%s%064x%s" % (head, draw.getrandbits(256), tail))
                file.write(real)
    return sum(path.stat().st_size for path in directory.iterdir())


def peak_bytes() -> int:
    """Give the most memory that this process ever held."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * PEAK_UNIT_BYTES


def measure_store(directory: Path) -> Measurement:
    """Open the store and look up answers that it holds and others that it does not."""
    before = peak_bytes()
    start = time.perf_counter()
    store = ResponseStore(directory)
    seconds = time.perf_counter() - start
    peak = peak_bytes() - before
    if len(store) != ROWS:
        raise AssertionError(f"{len(store)} rows found, not {ROWS}")
    index = sum(part.nbytes for part in vars(store._index).values() if isinstance(part, np.ndarray))
    numbers = random.Random(0).sample(range(REAL_ROWS), REAL_ROWS)
    held, missing = ([request(number + shift).key for number in numbers] for shift in (0, REAL_ROWS))
    return {
        "open_seconds": seconds,
        "index_bytes_per_row": index / ROWS,
        "peak_growth_bytes": peak,
        "get_microseconds": 1e6 * seconds_per_look_up(store, held, True),
        "miss_microseconds": 1e6 * seconds_per_look_up(store, missing, False),
    }


def seconds_per_look_up(store: ResponseStore, keys: list[str], expected: bool) -> float:
    """Look up keys that are all held or all missing."""
    start = time.perf_counter()
    for key in keys:
        if (store.get(key) is not None) != expected:
            raise AssertionError(f"{key} is {'not ' * expected}held")
    return (time.perf_counter() - start) / len(keys)


def measure_baseline(directory: Path) -> Measurement:
    """Read a share of the rows into a dict and scale up what that took."""
    before = peak_bytes()
    start = time.perf_counter()
    rows = {}
    with (directory / "0.jsonl").open("rb") as file:
        for _, line in zip(range(ROWS // BASELINE_SHARE), file, strict=False):
            row = json.loads(line)
            rows[row["key"]] = row["response"]
    seconds = time.perf_counter() - start
    return {
        "open_seconds": BASELINE_SHARE * seconds,
        "peak_growth_bytes": BASELINE_SHARE * (peak_bytes() - before),
    }


def measure_apart(measure: Callable[[Path], Measurement], directory: Path) -> Measurement:
    """Measure in a fresh process, so that its peak is its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, directory).result()


def main() -> None:
    """Print one JSON line."""
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        size = build(directory)
        store = measure_apart(measure_store, directory)
        baseline = measure_apart(measure_baseline, directory)
    print(
        json.dumps(
            {
                "benchmark": "response store",
                "rows": ROWS,
                "bytes_per_row": size / ROWS,
                **store,
                "baseline": f"json.loads of each line into a dict, {ROWS // BASELINE_SHARE} rows scaled up",
                "baseline_open_seconds": baseline["open_seconds"],
                "baseline_peak_growth_bytes": baseline["peak_growth_bytes"],
                "open_ratio": store["open_seconds"] / baseline["open_seconds"],
                "peak_ratio": store["peak_growth_bytes"] / baseline["peak_growth_bytes"],
            }
        )
    )


if __name__ == "__main__":
    main()
