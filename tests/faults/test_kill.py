"""A run that is killed with signal 9, anywhere, is simply run again: same bytes, and nobody is asked twice for long."""

import json
import os
import shutil
import signal
from pathlib import Path

import psutil
import pytest

TRANSCRIPTS = "results/moral_hazard/transcripts/embedded_model.parquet"
RUN = "moral_hazard={runs: {embedded_model: {sweeps: [provenance], evaluation_seeds: [0], episodes_per_seed: 1}}}"
ASKS_IN_FLIGHT = 1


def answers(clone) -> list[bytes]:
    """Whole lines in the response store."""
    shards = sorted((clone.root / "cache").rglob("*.jsonl"))
    return [line for shard in shards for line in shard.read_bytes().split(b"\n")[:-1]]


def keys(clone) -> list[str]:
    return [json.loads(line)["key"] for line in answers(clone)]


def start(clone):
    return clone.start(TRANSCRIPTS, "--config", RUN)


def descendants_with(process: int, word: str) -> list[psutil.Process]:
    return [
        child
        for child in psutil.Process(process).children(recursive=True)
        if any(word in part for part in child.cmdline())
    ]


@pytest.fixture(scope="module")
def prepared(fresh_clone):
    """A clone whose episodes are generated, so that what follows is the asking alone."""
    clone = fresh_clone()
    run = clone.snakemake("results/moral_hazard/episodes/embedded_model.parquet", "--config", RUN)
    assert run.returncode == 0, run.stderr
    return clone


@pytest.fixture(scope="module")
def undisturbed(prepared, tmp_path_factory):
    clone = copy(prepared, tmp_path_factory)
    assert start(clone).wait(timeout=300) == 0, (clone.root / "driver.log").read_text()
    return clone


def copy(clone, tmp_path_factory):
    root = tmp_path_factory.mktemp("killed") / "project"
    shutil.copytree(clone.root, root)
    return type(clone)(root)


@pytest.mark.parametrize(("victim", "after"), [("job", 0), ("driver", 3), ("job", 6)])
def test_a_killed_run_goes_on_where_it_was(victim, after, prepared, undisturbed, tmp_path_factory):
    clone = copy(prepared, tmp_path_factory)
    driver = start(clone)
    clone.wait_for(lambda: len(answers(clone)) > after - 1 and descendants_with(driver.pid, "infer_transcripts"))
    job = descendants_with(driver.pid, "infer_transcripts")[-1]
    everything = psutil.Process(driver.pid).children(recursive=True)
    os.kill(driver.pid if victim == "driver" else job.pid, signal.SIGKILL)
    driver.wait(timeout=60)
    psutil.wait_procs(everything, timeout=20)
    assert not [process for process in everything if process.is_running() and process.status() != "zombie"]
    kept = keys(clone)
    assert not (clone.root / TRANSCRIPTS).exists()

    assert start(clone).wait(timeout=300) == 0, (clone.root / "driver.log").read_text()

    assert (clone.root / TRANSCRIPTS).read_bytes() == (undisturbed.root / TRANSCRIPTS).read_bytes()
    assert sorted(set(keys(clone))) == sorted(set(keys(undisturbed)))
    assert keys(clone)[: len(kept)] == kept or set(kept) <= set(keys(clone))
    repeated = len(keys(clone)) - len(set(keys(clone)))
    assert repeated <= ASKS_IN_FLIGHT


def test_a_torn_line_in_the_store_is_asked_again(undisturbed, tmp_path_factory):
    clone = copy(undisturbed, tmp_path_factory)
    shard = max((clone.root / "cache").rglob("*.jsonl"), key=lambda file: file.stat().st_size)
    before, count = (clone.root / TRANSCRIPTS).read_bytes(), len(answers(clone))
    os.truncate(shard, shard.stat().st_size - 40)
    (clone.root / TRANSCRIPTS).unlink()
    assert start(clone).wait(timeout=300) == 0, (clone.root / "driver.log").read_text()
    assert (clone.root / TRANSCRIPTS).read_bytes() == before
    assert len(answers(clone)) == count
    assert Path(shard).exists()
