"""Asks per second of client and conductor, beside a plain HTTP client that does nothing else.

First with the embedded model, where the endpoint decides the speed: the same server answers both sides in turn, with
prompts of one length that it never saw. Then with a backend that answers every request at once with the same bytes,
where what is left is this project's own time, and once more from the store that this filled.

The baseline keeps as many requests in flight and only reads the bytes of the answers. Rates and their ratio are those
of the median rounds: a machine that others use as well has slow moments.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from itertools import count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path

import httpx2

from infoecon.agents.conductor import conduct_concurrently
from infoecon.agents.language_model_policy import LanguageModelPolicy
from infoecon.agents.plays import Ask, Play
from infoecon.language_models.client import Endpoint, LanguageModelClient
from infoecon.language_models.meter import Meter
from infoecon.language_models.requests import Message, ModelIdentity
from infoecon.language_models.servers import embedded_server
from infoecon.language_models.store import ResponseStore
from infoecon.settings.budget import Budget
from infoecon.settings.models import EmbeddedModel, Sampling
from infoecon.settings.pipeline import load_models

MODEL = "smollm2-135m-instruct"
IDENTITY = ModelIdentity("model", "engine", "revision")
AGENTS = 2
PLAYS = 24
INSTANT_ROUNDS = 5
INSTANT_PLAYS = 200
INSTANT_CONCURRENCY = 32
SAMPLING = Sampling(max_output_tokens=4)

numbers = count(10_000_000)


def messages(number: int) -> list[Message]:
    """Ask about a number of eight digits, so that all prompts are as long."""
    digits = " ".join(str(number))
    return [{"role": "user", "content": f"{digits}. Read the digits aloud, add them up and tell me what you found."}]


def play(number: int) -> Play[None]:
    """Ask some agents at once, once."""
    yield tuple(
        Ask(agent, "ask", AGENTS * number + agent, messages, ("serving", number, agent)) for agent in range(AGENTS)
    )


@asynccontextmanager
async def client_of(endpoint: Endpoint, concurrency: int, directory: Path) -> AsyncIterator[LanguageModelClient]:
    """Open a client of an endpoint with a store of its own."""

    async def connect() -> Endpoint:
        return endpoint

    with ResponseStore(directory) as store:
        client = LanguageModelClient(IDENTITY, store, Meter(Budget(), "free"), concurrency, connect)
        yield client
        await client.close()


async def seconds_of_pipeline(client: LanguageModelClient, plays: list[int]) -> float:
    """Conduct some plays."""
    start = time.perf_counter()
    await conduct_concurrently(map(play, plays), LanguageModelPolicy(client, SAMPLING), 2 * client.concurrency)
    return time.perf_counter() - start


async def seconds_of_plain_client(client: httpx2.AsyncClient, concurrency: int, plays: list[int]) -> float:
    """Send as many requests as some plays would, each as soon as another one is answered."""
    waiting = iter([AGENTS * number + agent for number in plays for agent in range(AGENTS)])

    async def work() -> None:
        for number in waiting:
            body = {
                "model": "m",
                "messages": messages(number),
                "temperature": SAMPLING.temperature,
                "top_p": SAMPLING.top_p,
                "max_tokens": SAMPLING.max_output_tokens,
                "seed": number,
            }
            (await client.post("chat/completions", json=body)).raise_for_status()

    start = time.perf_counter()
    await asyncio.gather(*(work() for _ in range(concurrency)))
    return time.perf_counter() - start


async def compare(endpoint: Endpoint, concurrency: int, rounds: int, plays_of_a_round: int, directory: Path) -> dict:
    """Let both sides ask in turn, each always something new."""
    asks = rounds * plays_of_a_round * AGENTS
    pipeline, plain = [], []
    limits = httpx2.Limits(max_connections=concurrency, max_keepalive_connections=concurrency)
    headers = {"Authorization": f"Bearer {endpoint.api_key}"}
    async with (
        client_of(endpoint, concurrency, directory) as client,
        httpx2.AsyncClient(
            base_url=endpoint.base_url, headers=headers, limits=limits, timeout=600, trust_env=False
        ) as plain_client,
    ):
        # Connections, imports and the server's own first steps count for nobody.
        await seconds_of_pipeline(client, [next(numbers)])
        await seconds_of_plain_client(plain_client, concurrency, [next(numbers)])
        conducted = []
        for _ in range(rounds):
            fresh = [next(numbers) for _ in range(2 * plays_of_a_round)]
            conducted += fresh[:plays_of_a_round]
            pipeline.append(await seconds_of_pipeline(client, fresh[:plays_of_a_round]))
            plain.append(await seconds_of_plain_client(plain_client, concurrency, fresh[plays_of_a_round:]))
        asked = client.meter.usage.asked
        stored = await seconds_of_pipeline(client, conducted)
        if client.meter.usage.asked != asked or asked != asks + AGENTS:
            raise AssertionError(f"{client.meter.usage.asked} asked")
    return {
        "asks": asks,
        "asks_per_second": AGENTS * plays_of_a_round / statistics.median(pipeline),
        "baseline": f"httpx2 with {concurrency} requests in flight",
        "baseline_asks_per_second": AGENTS * plays_of_a_round / statistics.median(plain),
        "ratio": statistics.median(plain) / statistics.median(pipeline),
        "ratios": sorted(bare / whole for bare, whole in zip(plain, pipeline, strict=True)),
        "stored_asks_per_second": asks / stored,
    }


class InstantProtocol(asyncio.Protocol):
    """Answers each request with the same completion."""

    completion = json.dumps(
        {
            "id": "1",
            "object": "chat.completion",
            "created": 0,
            "model": "m",
            "choices": [
                {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "ACTION QUERY"}}
            ],
            "usage": {"prompt_tokens": 40, "completion_tokens": 4, "total_tokens": 44},
        }
    ).encode()
    answer = (
        b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(completion)
    ) + completion

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin with nothing received."""
        self.transport = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        """Answer as soon as a request is whole."""
        self.received += data
        head, separator, body = self.received.partition(b"\r\n\r\n")
        if separator:
            length = int(head.lower().split(b"content-length:")[1].split(b"\r\n")[0])
            if len(body) >= length:
                self.received = b""
                self.transport.write(self.answer)


def serve_instantly(port: Connection) -> None:
    """Serve until this process is ended."""

    async def serve() -> None:
        server = await asyncio.get_running_loop().create_server(InstantProtocol, "127.0.0.1", 0)
        port.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(serve())


@contextmanager
def instant_endpoint() -> Iterator[Endpoint]:
    """Run the backend that answers at once, in a process of its own."""
    here, there = get_context("spawn").Pipe()
    process = get_context("spawn").Process(target=serve_instantly, args=(there,))
    process.start()
    try:
        yield Endpoint("instant", f"http://127.0.0.1:{here.recv()}/v1", "m", "no-key", None, 60.0, 0)
    finally:
        process.terminate()
        process.join()


async def main() -> None:
    """Print one JSON line for each backend."""
    model = load_models(Path(__file__).parent.parent / "config/models.yaml").root[MODEL]
    if not isinstance(model, EmbeddedModel):
        sys.exit(f"{MODEL} is no embedded model.")
    # Two threads wait for each other at every step, at random where the machine is busy.
    model = model.model_copy(update={"threads": 1})
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        async with embedded_server(MODEL, model, directory / "server.log") as address:
            endpoint = Endpoint(MODEL, address.base_url, model.file, address.api_key, None, 600.0, 0)
            plays = max(2, model.slots)
            measured = await compare(endpoint, model.slots, PLAYS // plays, plays, directory / "embedded")
        print(json.dumps({"benchmark": "serving, embedded model", **measured}), flush=True)
        with instant_endpoint() as endpoint:
            measured = await compare(
                endpoint, INSTANT_CONCURRENCY, INSTANT_ROUNDS, INSTANT_PLAYS, directory / "instant"
            )
        print(json.dumps({"benchmark": "serving, instant backend", **measured}))


if __name__ == "__main__":
    asyncio.run(main())
