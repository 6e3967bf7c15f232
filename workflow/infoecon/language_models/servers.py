"""Servers that a job starts for itself and always stops."""

from __future__ import annotations

import asyncio
import json
import secrets
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import metadata
from pathlib import Path
from typing import Any, NamedTuple

from infoecon.errors import InfoeconError
from infoecon.provenance import file_digest
from infoecon.settings.models import EmbeddedModel

_SECONDS_TO_START = 120.0
_SECONDS_TO_STOP = 10.0
_LONGEST_QUOTE = 300


class Address(NamedTuple):
    """Where a server listens and the key it wants."""

    base_url: str
    api_key: str


def find_weights(name: str, model: EmbeddedModel) -> Path:
    """Find the weights of an embedded model in its Python package and check them.

    Raises
    ------
    InfoeconError
        If the package or the file is missing, or its digest differs from ``models.yaml``.
    """
    try:
        files = metadata.files(model.distribution) or []
    except metadata.PackageNotFoundError:
        raise InfoeconError(
            f"Model {name!r} needs the Python package {model.distribution}, which is not installed; "
            "run `make` or install envs/requirements.lock."
        ) from None
    path = next((Path(str(file.locate())) for file in files if file.name == model.file), None)
    if path is None or not path.is_file():
        raise InfoeconError(f"Model {name!r}: the package {model.distribution} holds no file {model.file}.")
    if file_digest(path) != model.weights_sha256:
        raise InfoeconError(f"Model {name!r}: {model.file} is not the file whose SHA-256 stands in config/models.yaml.")
    return path


async def _first_line(process: subprocess.Popen[bytes], settings: dict[str, Any]) -> str:
    """Hand a server its settings and wait for what it says first; nothing where it ends or takes too long."""
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        process.stdin.write(json.dumps(settings).encode() + b"\n")
        line = await asyncio.wait_for(asyncio.to_thread(process.stdout.readline), _SECONDS_TO_START)
    except (BrokenPipeError, TimeoutError):
        return ""
    return line.decode().strip()


def _stop(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.close()
    try:
        process.wait(timeout=_SECONDS_TO_STOP)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    process.stdout.close()


def _last_words(log: Path) -> str:
    lines = [line for line in log.read_text(encoding="utf-8", errors="replace").splitlines() if line.strip()]
    last = "".join(filter(str.isprintable, lines[-1])).strip(" .") if lines else "it said nothing"
    return f"{last[:_LONGEST_QUOTE]} (see {log})"


@asynccontextmanager
async def embedded_server(name: str, model: EmbeddedModel, log: Path) -> AsyncIterator[Address]:
    """Serve an embedded model on a free loopback port while the body runs.

    Parameters
    ----------
    name
        The model's name in ``models.yaml``, for errors.
    log
        File for the server's own messages.

    Raises
    ------
    InfoeconError
        If the weights are missing or wrong, or the server does not come up or ends by itself.
    """
    weights = find_weights(name, model)
    api_key = secrets.token_urlsafe(32)
    settings = {
        "weights": str(weights),
        "api_key": api_key,
        "slots": model.slots,
        "context_tokens": model.context_tokens,
        "threads": model.threads,
    }
    log.parent.mkdir(parents=True, exist_ok=True)
    with log.open("wb") as messages:
        process = subprocess.Popen(
            [sys.executable, "-m", "infoecon.language_models.embedded_server"],
            bufsize=0,  # A buffer would be flushed again at its end, into a pipe that may be broken.
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=messages,
            start_new_session=True,
        )
    try:
        base_url = await _first_line(process, settings)
        if not base_url:
            raise InfoeconError(f"The server of model {name!r} did not start: {_last_words(log)}.")
        try:
            yield Address(f"{base_url.rstrip('/')}/v1", api_key)
        except InfoeconError:
            if process.poll() is None:
                raise
            raise InfoeconError(
                f"The server of model {name!r} ended with status {process.returncode}: {_last_words(log)}; all answers "
                "so far are kept, run again."
            ) from None
    finally:
        _stop(process)
