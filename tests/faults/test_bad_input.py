"""What a user gets wrong ends in one sentence, exit status 1, and nothing lost."""

import os
import resource
import socket

import pytest

TRANSCRIPTS = "results/moral_hazard/transcripts/{run}.parquet"
MODELS = """
down:
  endpoint: openai
  base_url: http://127.0.0.1:{port}/v1
  model: nobody
  price: free
  max_retries: 0
locked:
  endpoint: openai
  base_url: http://127.0.0.1:{port}/v1
  model: nobody
  price: free
  api_key_variable: INFOECON_TEST_KEY
unpriced:
  endpoint: openai
  base_url: http://127.0.0.1:{port}/v1
  model: nobody
recorded:
  endpoint: replay
  of: smollm2-135m-instruct
"""


def sentences(run):
    """All errors that a run printed; a traceback is none that a user should read."""
    output = run.stdout + run.stderr
    assert run.returncode == 1, output[-3000:]
    assert "Traceback" not in output
    return [line.partition("error: ")[2] for line in output.splitlines() if "error: " in line]


@pytest.fixture(scope="module")
def clone(fresh_clone):
    """A copy with models that cannot answer."""
    clone = fresh_clone()
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    with (clone.root / "config/models.yaml").open("a") as models:
        models.write(MODELS.format(port=port))
    return clone


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ("moral_hazrd={}", "unknown key 'moral_hazrd'"),
        ("moral_hazard={payoffs: {query_cost: -0.1}}", "'moral_hazard.payoffs.query_cost'"),
        ("moral_hazard={payoffs: {query_cost: much}}", "'moral_hazard.payoffs.query_cost'"),
        ("moral_hazard={runs: {mine: {model: gpt-9}}}", "'gpt-9', which config/models.yaml does not hold"),
    ],
)
def test_a_mistake_in_the_configuration(clone, change, sentence):
    said = sentences(clone.snakemake("--dry-run", "--config", change))
    assert len(said) == 1
    assert sentence in said[0]


@pytest.mark.parametrize(
    ("model", "sentence"),
    [
        ("down", "Cannot reach model 'down' at http://127.0.0.1:"),
        ("locked", "environment variable INFOECON_TEST_KEY"),
        ("unpriced", "has no price in config/models.yaml"),
        ("recorded", "a replay asks nobody"),
    ],
)
def test_a_model_that_cannot_answer(clone, model, sentence):
    run = clone.snakemake(
        TRANSCRIPTS.format(run="mine"),
        "--config",
        f"moral_hazard={{runs: {{mine: {{model: {model}, sweeps: [provenance]}}}}}}",
    )
    said = sentences(run)
    assert any(sentence in line for line in said)
    assert sentence in said[-1]
    assert not (clone.root / TRANSCRIPTS.format(run="mine")).exists()


def test_a_table_cut_in_half(clone):
    judgements = "results/moral_hazard/judgements/random_control.parquet"
    transcripts = clone.root / TRANSCRIPTS.format(run="random_control")
    assert clone.snakemake(judgements).returncode == 0
    os.truncate(transcripts, transcripts.stat().st_size // 2)
    said = sentences(clone.snakemake(judgements))
    assert "transcripts/random_control.parquet is damaged" in said[-1]
    assert "delete it and run again" in said[-1]
    transcripts.unlink()
    assert clone.snakemake(judgements).returncode == 0


def test_a_full_disk_loses_no_answer(clone):
    """A limit on the size of files stands in for the end of the disk; the store's shard is the first to reach it."""
    target = TRANSCRIPTS.format(run="embedded_model")
    limit = 16_000
    run = clone.snakemake(target, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)))
    said = sentences(run)
    assert "An answer cannot be stored in cache/responses" in said[-1]
    assert "all earlier answers are kept, free some space and run again" in said[-1]
    shards = list((clone.root / "cache").rglob("*.jsonl"))
    kept = b"".join(shard.read_bytes() for shard in shards)
    assert kept.endswith(b"\n")
    assert kept.count(b"\n") >= 1
    assert clone.snakemake(target).returncode == 0
    assert b"".join(shard.read_bytes() for shard in shards) == kept


def test_a_second_run_in_the_same_folder(clone):
    first = clone.start(TRANSCRIPTS.format(run="control_suite"), "--forceall")
    clone.wait_for(lambda: (clone.root / "logs/moral_hazard/prepare_cases.log").exists())
    said = sentences(clone.snakemake(TRANSCRIPTS.format(run="random_control"), "--forceall"))
    assert said == ["Another run of this pipeline is under way in this folder; wait for it or stop it first."]
    assert first.wait(timeout=120) == 0
