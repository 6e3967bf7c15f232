"""The llama.cpp server inside this process: ``python -m infoecon.language_models.embedded_server``.

It reads its settings as one JSON line from standard input, the API key among them, so that no process list shows it;
prints its address as one line; and ends when standard input does, that is, when its parent ends in whatever way.
"""

from __future__ import annotations

import json
import os
import sys

import xllamacpp


def serve() -> None:
    """Serve until standard input ends."""
    settings = json.loads(sys.stdin.readline())
    parameters = xllamacpp.CommonParams()
    parameters.model.path = settings["weights"]
    parameters.hostnames = ["127.0.0.1"]
    parameters.port = 0
    parameters.api_keys = [settings["api_key"]]
    parameters.n_parallel = settings["slots"]
    parameters.n_ctx = settings["slots"] * settings["context_tokens"]
    parameters.n_gpu_layers = 0
    parameters.fit_params = False
    parameters.cpuparams.n_threads = settings["threads"]
    parameters.cpuparams_batch.n_threads = settings["threads"]
    parameters.cpuparams.poll = 0
    parameters.cpuparams_batch.poll = 0
    # A reused prefix changes how numbers round, so that no text would repeat; every prompt is read whole.
    parameters.cache_prompt = False
    # A request names all that shapes its distribution; llama.cpp's own cuts are switched off.
    parameters.sampling.top_k = 0
    parameters.sampling.min_p = 0.0
    parameters.ui = False
    parameters.endpoint_slots = False
    server = xllamacpp.Server(parameters)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    # The server's threads may be in the middle of an answer that nobody waits for any more.
    os._exit(0)


if __name__ == "__main__":
    serve()
