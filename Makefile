# make         set up, run the pipeline, name what came out        make CONFIG=config/paper.yaml TARGET=moral_hazard
# make test    set up, run the tests
# make help    all of it

PYTHON ?= python3
CORES ?= $(shell getconf _NPROCESSORS_ONLN 2>/dev/null || echo 2)
CONFIG ?=
TARGET ?=

BIN := .venv/bin
export PYTHONPATH := workflow
export PATH := $(CURDIR)/$(BIN):$(PATH)

.DEFAULT_GOAL := run
.PHONY: run test lint bench clean help

run: .venv/ready
	@$(BIN)/snakemake $(TARGET) --cores $(CORES) $(if $(CONFIG),--configfile $(CONFIG))
	@$(if $(TARGET),:,cat results/index.txt)

.venv/ready: envs/requirements.lock
	@$(PYTHON) -c 'import sys; sys.exit("error: infoecon needs Python 3.11 or newer; name one with `make PYTHON=…`." if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check uv torch==2.13.0
	$(BIN)/uv pip install --quiet --python $(BIN)/python --no-deps -r envs/requirements.lock
	@touch $@

test: .venv/ready
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(BIN)/snakemake --lint

bench: .venv/ready
	@for benchmark in benchmarks/*.py; do echo "$$benchmark"; $(BIN)/python $$benchmark || exit 1; done

clean:
	rm -rf results figures logs .snakemake

help:
	@echo "make              set up and run the pipeline; ends by naming what came out"
	@echo "make test         set up and run the tests"
	@echo "make lint         check style, types, layers and rules"
	@echo "make bench        measure speed and memory against named baselines"
	@echo "make clean        remove results, figures and logs; the answers of models stay in cache/"
	@echo "make help         this list"
	@echo
	@echo "CONFIG=file.yaml  values that change config/config.yaml, for example config/test.yaml"
	@echo "TARGET=name       one study, section, table or figure, for example moral_hazard_table_13 (snakemake --list)"
	@echo "CORES=n           cores to use (now $(CORES))"
	@echo "PYTHON=python3.12 the Python that .venv is made with"
