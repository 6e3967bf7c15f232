import errno
import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest

from infoecon.errors import InfoeconError
from infoecon.jobs import job


@pytest.fixture
def snakemake(tmp_path):
    return SimpleNamespace(
        rule="a_rule",
        log=[str(tmp_path / "logs/a_rule.log")],
        params=SimpleNamespace(code="0" * 64, settings="{}"),
        input=[],
    )


def log_of(snakemake):
    from pathlib import Path

    return Path(snakemake.log[0]).read_text(encoding="utf-8")


def test_a_job_knows_what_made_its_outputs(snakemake):
    with job(snakemake) as made_by:
        assert made_by["rule"] == "a_rule"
        assert made_by["code"] == "0" * 64
    assert log_of(snakemake) == ""


def test_a_mistake_is_one_sentence_without_traceback(snakemake):
    with pytest.raises(SystemExit, match=r"^error: Mend it\.$"), job(snakemake):
        raise InfoeconError("Mend it.")
    assert log_of(snakemake) == "error: Mend it.\n"


def test_a_fault_leaves_its_traceback_in_the_log(snakemake):
    with pytest.raises(SystemExit, match=r"ZeroDivisionError.*traceback is in"), job(snakemake):
        _ = 1 / 0
    assert "Traceback" in log_of(snakemake)
    assert log_of(snakemake).splitlines()[-1].startswith("error: ZeroDivisionError")


def test_a_full_disk_is_one_sentence(snakemake):
    with pytest.raises(SystemExit, match=r"disk is full \(writing out\.parquet\)"), job(snakemake):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "out.parquet")


SCRIPT = """
import os, sys, time
from types import SimpleNamespace
from infoecon.jobs import job
with job(SimpleNamespace(rule="r", log=[sys.argv[1]], params=SimpleNamespace(code="", settings=""), input=[])):
    print("ready", flush=True)
    time.sleep(60)
"""


def start(tmp_path, driver):
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "r.log")],
        env=os.environ | {"INFOECON_DRIVER": str(driver), "PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "ready\n"
    return process


def test_a_job_ends_when_its_driver_is_gone(tmp_path):
    driver = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    process = start(tmp_path, driver.pid)
    driver.send_signal(signal.SIGKILL)
    driver.wait()
    begin = time.monotonic()
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 1
    assert time.monotonic() - begin < 5
    assert stderr.startswith("error: The job was told to stop")


def test_a_terminated_job_says_one_sentence(tmp_path):
    process = start(tmp_path, os.getpid())
    process.terminate()
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 1
    assert stderr == "error: The job was told to stop; what was answered so far is kept, run it again to go on.\n"
