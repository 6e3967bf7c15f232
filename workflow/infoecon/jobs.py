"""How a script of the workflow runs: its log, its provenance, its one sentence when something is wrong."""

from __future__ import annotations

import errno
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

from infoecon.errors import InfoeconError
from infoecon.provenance import describe

DRIVER_VARIABLE = "INFOECON_DRIVER"
_SECONDS_BETWEEN_LOOKS = 0.25


def _is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _end_with_driver() -> None:
    """End this job soon after its driver was killed: an orphan would go on asking what the next run asks again."""
    driver = int(os.environ.get(DRIVER_VARIABLE, "0"))
    if not driver:
        return

    def watch() -> None:
        while _is_alive(driver):
            time.sleep(_SECONDS_BETWEEN_LOOKS)
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=watch, daemon=True).start()


def _terminate(_signal: int, _frame: FrameType | None) -> None:
    # An ordinary error would be swallowed where it strikes inside a callback of asyncio.
    raise KeyboardInterrupt


def _sentence(error: BaseException, log: Path) -> str:
    if isinstance(error, InfoeconError):
        return str(error)
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full (writing {error.filename or 'an output'}); free some space and run again."
    if isinstance(error, KeyboardInterrupt):
        return "The job was told to stop; what was answered so far is kept, run it again to go on."
    return f"{type(error).__name__}: {error} (a fault of the pipeline; the traceback is in {log})."


@contextmanager
def job(snakemake: Any) -> Iterator[Mapping[str, str]]:
    """Run the body of a script as a job of the workflow.

    Parameters
    ----------
    snakemake
        The object that Snakemake puts into every script; its params hold ``code`` and ``settings``.

    Yields
    ------
    Mapping[str, str]
        What made the outputs, for their metadata.

    Raises
    ------
    SystemExit
        With status 1 after any error; one sentence goes to standard error and to the log, a traceback of an
        unforeseen one to the log alone.
    """
    log = Path(snakemake.log[0])
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text("", encoding="utf-8")
    signal.signal(signal.SIGTERM, _terminate)
    _end_with_driver()
    try:
        yield describe(snakemake.rule, snakemake.params.code, snakemake.params.settings, snakemake.input)
    except (Exception, KeyboardInterrupt) as error:
        sentence = _sentence(error, log)
        with log.open("a", encoding="utf-8") as file:
            if not isinstance(error, InfoeconError | KeyboardInterrupt):
                file.write("".join(traceback.format_exception(error)))
            file.write(f"error: {sentence}\n")
        sys.exit(f"error: {sentence}")
