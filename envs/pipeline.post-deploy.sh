#!/usr/bin/env bash
# Snakemake runs this once inside the conda environment that pipeline.yaml describes, from the run directory.
set -euo pipefail
uv pip install torch==2.13.0
uv pip install --no-deps -r envs/requirements.lock
