"""CPU of a run with nothing to do, as a ratio to ``snakemake --version``.

Both are whole processes, in turn, on a finished run of config/test.yaml in a copy of the project.
"""

import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "tests"))

from clones import copy_of

ROUNDS = 5


def cpu_seconds(command: list[str], directory: Path) -> float:
    """Run a command and give the CPU seconds of it and its children."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=directory, env=os.environ, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Finish a run and measure the next ones."""
    with tempfile.TemporaryDirectory() as folder:
        clone = copy_of(Path(__file__).parent.parent, Path(folder) / "project")
        run = clone.snakemake()
        if run.returncode:
            sys.exit(run.stderr[-2000:])
        no_op, version = [], []
        for _ in range(ROUNDS):
            no_op.append(cpu_seconds(clone.command(), clone.root))
            version.append(cpu_seconds([sys.executable, "-m", "snakemake", "--version"], clone.root))
    ratio = statistics.median(a / b for a, b in zip(no_op, version, strict=True))
    print(
        json.dumps(
            {
                "benchmark": "nothing to do",
                "no_op_cpu_seconds": round(statistics.median(no_op), 2),
                "version_cpu_seconds": round(statistics.median(version), 2),
                "ratio": round(ratio, 2),
                "baseline": "snakemake --version",
            }
        )
    )


if __name__ == "__main__":
    main()
