"""The embedded model, really served."""

import asyncio
import os
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request

import psutil
import pytest

from infoecon.language_models.endpoints import open_client
from infoecon.language_models.requests import Request
from infoecon.language_models.servers import embedded_server
from infoecon.settings.budget import Budget
from infoecon.settings.models import Sampling
from infoecon.settings.pipeline import load_models

MODEL = "smollm2-135m-instruct"
SAMPLING = Sampling(temperature=1.0, max_output_tokens=10)


@pytest.fixture(scope="module")
def models(repository):
    return load_models(repository / "config/models.yaml")


def ask(models, directory, together):
    """Ask six seeded questions one by one or together."""

    async def run():
        async with open_client(MODEL, models, directory, Budget(), directory / "server.log") as client:
            requests = [
                Request(client.identity, ({"role": "user", "content": f"Name {number} animals."},), SAMPLING, number)
                for number in range(6)
            ]
            if together:
                return [response.text for response in await asyncio.gather(*map(client.respond, requests))]
            return [(await client.respond(request)).text for request in requests]

    return asyncio.run(run())


def test_texts_do_not_depend_on_what_else_is_asked(models, tmp_path):
    one_by_one = ask(models, tmp_path / "serial", together=False)
    together = ask(models, tmp_path / "together", together=True)
    assert len(set(one_by_one)) > 1
    assert one_by_one == together


def test_nobody_without_the_key_is_answered(models, tmp_path):
    async def run():
        async with embedded_server(MODEL, models.root[MODEL], tmp_path / "server.log") as address:
            assert address.base_url.startswith("http://127.0.0.1:")
            body = b'{"messages": [{"role": "user", "content": "hi"}], "max_tokens": 1}'
            headers = {"content-type": "application/json", "authorization": "Bearer wrong"}
            request = urllib.request.Request(f"{address.base_url}/chat/completions", body, headers)
            with pytest.raises(urllib.error.HTTPError) as caught:
                await asyncio.to_thread(urllib.request.urlopen, request)
            assert caught.value.code == 401
            caught.value.close()
            return address.api_key

    key = asyncio.run(run())
    assert key not in (tmp_path / "server.log").read_text()


PARENT = """
import asyncio, sys
from pathlib import Path
from infoecon.language_models.servers import embedded_server
from infoecon.settings.pipeline import load_models

async def main():
    model = load_models(Path(sys.argv[1])).root["smollm2-135m-instruct"]
    async with embedded_server("small", model, Path(sys.argv[2])):
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_does_not_outlive_its_parent(repository, tmp_path, signal_number):
    parent = subprocess.Popen(
        [sys.executable, "-c", PARENT, str(repository / "config/models.yaml"), str(tmp_path / "server.log")],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    )
    assert parent.stdout.readline() == "ready\n"
    (server,) = psutil.Process(parent.pid).children(recursive=True)
    command = " ".join(server.cmdline())
    assert "api_key" not in command
    parent.send_signal(signal_number)
    parent.wait(timeout=20)
    parent.stdout.close()
    begin = time.monotonic()
    while server.is_running() and server.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() - begin < 5
        time.sleep(0.05)
