# What all rules share: checked settings, digests, names of runs.

import fcntl
import os
import sys
from pathlib import Path

BASE = Path(os.path.relpath(workflow.basedir))
sys.path.insert(0, str((BASE / "workflow").resolve()))
os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [sys.path[0], os.environ.get("PYTHONPATH")]))

from infoecon.errors import InfoeconError
from infoecon.jobs import DRIVER_VARIABLE
from infoecon.provenance import code_digest
from infoecon.settings.artefacts import ArtefactRegistry
from infoecon.settings.pipeline import canonical, load_models, load_settings, read_yaml, validate

os.environ[DRIVER_VARIABLE] = str(os.getpid())

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
