# What all rules share: checked settings, digests, names of runs.

import fcntl
import os
import sys
from pathlib import Path

BASE = Path(os.path.relpath(workflow.basedir))
sys.path.insert(0, str((BASE / "workflow").resolve()))
os.environ.update(PYTHONPATH=sys.path[0])

from infoecon.errors import InfoeconError
from infoecon.jobs import DRIVER_VARIABLE
from infoecon.provenance import code_digest
from infoecon.settings.artefacts import ArtefactRegistry
from infoecon.settings.pipeline import canonical, load_models, load_settings, read_yaml, validate

os.environ.update({DRIVER_VARIABLE: str(os.getpid())})

try:
    models = load_models(BASE / "config/models.yaml")
    settings = load_settings(config, models, "configuration")
    artefacts = validate(ArtefactRegistry, read_yaml(BASE / "config/artefacts.yaml"), "config/artefacts.yaml")
except InfoeconError as error:
    sys.exit(f"error: {error}")


def code(script, *modules):
    """Digest a script below workflow/scripts with all that it imports, and modules that it imports by name."""
    return code_digest(BASE / "workflow/scripts" / script, *modules)


def threads_of_model(name):
    """Threads of a job that asks a model: those of its server where the job starts one."""
    return getattr(models.root.get(name), "threads", 1)


def models_of_run(name):
    """Name the models that a run's model needs: itself and, for a replay, the one that it replays."""
    return [] if name is None else [name, *models_of_run(getattr(models.root[name], "of", None))]


def source_of_model(name):
    """Say whether a model is the small embedded one or any other."""
    model = models.root[name]
    return (
        source_of_model(model.of)
        if model.endpoint == "replay"
        else "embedded" if model.endpoint == "embedded" else "model"
    )


def inputs_of(study, artefact):
    """List the inputs of an artefact; `{run}` stands for every run of its study."""
    runs = list(getattr(settings, study).runs)
    files = [file for pattern in artefacts.inputs(study, artefact) for file in expand(pattern, run=runs)]
    return list(dict.fromkeys(files))


def files_of_artefacts(kind):
    """List the files of all tables or of all figures."""
    return [
        file for study, name, _ in artefacts.items() if name.startswith(kind) for file in artefacts.files(study, name)
    ]


study = settings.moral_hazard


def episode_settings(run):
    """Settings that decide which episodes a run plays."""
    played = {"policies", "model", "mappings", "outer_seeds", "sweeps", "evaluation_seeds", "episodes_per_seed"}
    return canonical(study.payoffs, study.grid, study.runs[run].model_dump(mode="json", include=played))


def answer_settings(run):
    """Settings that decide what the agents of a run answer."""
    policies = study.runs[run]
    simulated = {name: agent for name, agent in study.simulated_agents.items() if name in (policies.policies or ())}
    model = {name: models.root[name] for name in models_of_run(policies.model)}
    return canonical(
        {
            "run": policies.model_dump(mode="json", include={"policies", "model", "sampling", "worked_examples"}),
            "simulated_agents": {name: agent.model_dump(mode="json") for name, agent in simulated.items()},
            "models": {name: model.model_dump(mode="json") for name, model in model.items()},
            "budget": settings.budget.model_dump(mode="json"),
        }
    )


def sources_of_run(run):
    """Say for each policy of a run where its values come from."""
    policies = study.runs[run]
    if policies.model:
        return {policies.model: source_of_model(policies.model)}
    return {name: "simulated" if name in study.simulated_agents else "exact" for name in policies.policies}


RUN_LOCK = Path(".snakemake/infoecon.lock")


def take_lock():
    """Refuse a second run in the same folder; the system releases the lock when this process ends, however it ends."""
    RUN_LOCK.parent.mkdir(exist_ok=True)
    workflow.globals["run_lock"] = lock = RUN_LOCK.open("a")
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        sys.exit("error: Another run of this pipeline is under way in this folder; wait for it or stop it first.")
    os.utime(RUN_LOCK)


def print_sentences():
    """End a failed run with the sentences of the jobs that failed in it."""
    for file in sorted(Path("logs").rglob("*.log")):
        last = file.read_text(encoding="utf-8", errors="replace").rstrip().rpartition("\n")[2]
        if last.startswith("error: ") and file.stat().st_mtime >= RUN_LOCK.stat().st_mtime:
            print(f"{file.relative_to('logs').with_suffix('')}: {last}", file=sys.stderr)
