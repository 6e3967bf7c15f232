import asyncio
import json
import socket
import time
from contextlib import asynccontextmanager

import pytest

from infoecon.errors import InfoeconError
from infoecon.language_models.client import Endpoint, LanguageModelClient
from infoecon.language_models.meter import BudgetExceededError, Meter
from infoecon.language_models.requests import ModelIdentity, Request, Response
from infoecon.language_models.store import ResponseStore
from infoecon.settings.budget import Budget
from infoecon.settings.models import Price, Sampling

IDENTITY = ModelIdentity("model", "engine", "revision")
KEY = "sk-very-secret-0123456789"


def request(number=0, content="?"):
    return Request(IDENTITY, ({"role": "user", "content": content},), Sampling(max_output_tokens=50), seed=number)


def completion(content="ACTION 1", finish_reason="stop", **changes):
    return {
        "id": "1",
        "object": "chat.completion",
        "created": 0,
        "model": "served",
        "choices": [{"index": 0, "finish_reason": finish_reason, "message": {"role": "assistant", "content": content}}],
        "usage": {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10},
        **changes,
    }


class Server:
    """A chat endpoint on a loopback port that does what its script says.

    The script is called with the number of the call, from 0, and gives status, headers and body, or ``None`` for
    never.
    """

    def __init__(self, script, seconds=0.0):
        self.script = script
        self.seconds = seconds
        self.heads, self.bodies, self.times = [], [], []
        self.in_flight = self.most_in_flight = 0

    async def serve(self, reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                head = head.decode()
                size = next(int(line.split(":")[1]) for line in head.lower().split("\r\n") if "content-length" in line)
                body = json.loads(await reader.readexactly(size))
                number = len(self.bodies)
                self.heads.append(head)
                self.bodies.append(body)
                self.times.append(time.monotonic())
                self.in_flight += 1
                self.most_in_flight = max(self.most_in_flight, self.in_flight)
                try:
                    await asyncio.sleep(self.seconds)
                    answer = self.script(number)
                    if answer is None:
                        await asyncio.sleep(60)
                finally:
                    self.in_flight -= 1
                status, headers, content = answer
                content = content if isinstance(content, bytes) else json.dumps(content).encode()
                headers = {"Content-Type": "application/json", "Content-Length": len(content), **headers}
                lines = [f"HTTP/1.1 {status} Whatever", *(f"{name}: {value}" for name, value in headers.items())]
                writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass  # Python 3.11 would print a cancelled handler.
        finally:
            writer.close()


@asynccontextmanager
async def opened(directory, script, *, seconds=0.0, concurrency=4, budget=Budget(), price="free", **changes):  # noqa: B008
    """A client with a store of its own, and the server that it asks."""
    server = Server(script, seconds)
    listener = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    settings = {
        "name": "my-model",
        "base_url": f"http://127.0.0.1:{port}/v1",
        "served_model": "served",
        "api_key": KEY,
        "api_key_variable": "MY_KEY",
        "timeout_seconds": 20.0,
        "max_retries": 3,
        **changes,
    }

    async def connect():
        return Endpoint(**settings)

    with ResponseStore(directory / "store") as store:
        client = LanguageModelClient(IDENTITY, store, Meter(budget, price), concurrency, connect)
        try:
            yield client, server
        finally:
            await client.close()
            listener.close()


def always(status, content, **headers):
    return lambda number: (status, headers, content)


def ask(directory, script, asked=None, **changes):
    """Ask one thing; what came of it, and the server and the meter's usage afterwards."""

    async def main():
        async with opened(directory, script, **changes) as (client, server):
            try:
                outcome = await client.respond(asked or request())
            except InfoeconError as error:
                outcome = error
            return outcome, server, client.meter.usage

    return asyncio.run(main())


def refusal(directory, script, capfd, **changes):
    """The one sentence that a failure ends in; it never holds the key, and nothing is stored."""
    error, server, usage = ask(directory, script, **changes)
    assert isinstance(error, InfoeconError), error
    assert usage.asked == 0
    assert not (directory / "store").exists()
    sentence = str(error)
    assert sentence.isprintable()
    assert sentence.endswith(".")
    assert len(sentence) < 700
    written = capfd.readouterr()
    assert KEY not in sentence + written.out + written.err
    assert "Traceback" not in written.err
    return sentence, server


def test_what_is_sent(tmp_path):
    outcome, server, usage = ask(tmp_path, always(200, completion()))
    assert outcome == Response("ACTION 1", "stop", prompt_tokens=7, output_tokens=3)
    assert server.bodies == [
        {
            "model": "served",
            "messages": [{"role": "user", "content": "?"}],
            "temperature": 1.0,
            "top_p": 1.0,
            "max_tokens": 50,
            "seed": 0,
            "n": 1,
            "stream": False,
        }
    ]
    assert f"authorization: bearer {KEY}".lower() in server.heads[0].lower()
    assert server.heads[0].startswith("POST /v1/chat/completions ")
    assert (usage.asked, usage.stored, usage.retries) == (1, 0, 0)


def test_a_stored_answer_is_not_asked_again(tmp_path):
    async def main():
        async with opened(tmp_path, always(200, completion())) as (client, server):
            first = await client.respond(request())
            assert await client.respond(request()) == first
            assert (client.meter.usage.asked, client.meter.usage.stored) == (1, 1)
        async with opened(tmp_path, always(500, {})) as (client, later):
            assert await client.respond(request()) == first
        return server, later

    server, later = asyncio.run(main())
    assert len(server.bodies) == 1
    assert later.bodies == []


def test_the_same_request_in_flight_is_one_call(tmp_path):
    async def main():
        async with opened(tmp_path, lambda number: (200, {}, completion(f"{number}")), seconds=0.1) as (client, server):
            answers = await asyncio.gather(*[client.respond(request()) for _ in range(20)], client.respond(request(1)))
            usage = client.meter.usage
            assert {answer.text for answer in answers[:20]} == {answers[0].text}
            assert (len(server.bodies), usage.asked, usage.stored) == (2, 2, 19)

    asyncio.run(main())


def test_the_same_request_in_flight_twice_outlives_a_failure_of_the_first(tmp_path):
    async def main():
        fails_once = lambda number: (200, {}, completion()) if number else (400, {}, {})  # noqa: E731
        async with opened(tmp_path, fails_once, seconds=0.05) as (client, server):
            outcomes = await asyncio.gather(*[client.respond(request()) for _ in range(5)], return_exceptions=True)
            assert [isinstance(outcome, InfoeconError) for outcome in outcomes] == [True] + 4 * [False]
            assert len(server.bodies) == 2
            assert client.meter.usage.stored == 3

    asyncio.run(main())


def test_the_same_request_in_flight_twice_outlives_whoever_sent_it_first(tmp_path):
    async def main():
        async with opened(tmp_path, always(200, completion()), seconds=0.2) as (client, _):
            first, second = (asyncio.create_task(client.respond(request())) for _ in range(2))
            await asyncio.sleep(0.1)
            first.cancel()
            assert (await second).text == "ACTION 1"
            assert first.cancelled()

    asyncio.run(main())


def test_what_was_cancelled_neither_holds_a_slot_nor_the_budget(tmp_path):
    async def main():
        worst = sum(Meter(Budget(), "free").reserve(request()))
        hangs = lambda number: (200, {}, completion()) if number >= 2 else None  # noqa: E731
        async with opened(tmp_path, hangs, concurrency=2, budget=Budget(max_tokens=2 * worst)) as (client, server):
            tasks = [asyncio.create_task(client.respond(request(number))) for number in range(5)]
            while len(server.bodies) < 2:
                await asyncio.sleep(0.01)
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*[client.respond(request(number)) for number in range(2)])

    asyncio.run(main())


def test_no_more_are_in_flight_than_allowed(tmp_path):
    async def main():
        async with opened(tmp_path, always(200, completion()), seconds=0.02, concurrency=3) as (client, server):
            await asyncio.gather(*[client.respond(request(number)) for number in range(20)])
            assert server.most_in_flight == 3

    asyncio.run(main())


def test_a_storm_of_429_halves_the_limit_and_what_is_served_lets_it_grow(tmp_path, capfd):
    async def main():
        storm = lambda number: (200, {}, completion()) if number >= 8 else (429, {"Retry-After": "1"}, {})  # noqa: E731
        async with opened(tmp_path, storm, seconds=0.02, concurrency=8) as (client, server):
            limits = []
            tasks = [asyncio.create_task(client.respond(request(number))) for number in range(8)]
            await asyncio.sleep(0.5)
            limits.append(client._limit.limit)
            await asyncio.gather(*tasks)
            await asyncio.gather(*[client.respond(request(number)) for number in range(8, 100)])
            limits.append(client._limit.limit)
            assert limits == [4, 8]
            assert len(server.bodies) == 108
            assert client.meter.usage.retries == 8
            assert min(server.times[8:]) - max(server.times[:8]) > 0.9
            assert max(server.times[8:16]) - max(server.times[:8]) < 5

    asyncio.run(main())
    (notice,) = capfd.readouterr().err.splitlines()
    assert notice == "model: retries so far: 1, requests in flight: at most 4"


def test_429_to_the_end(tmp_path, capfd):
    sentence, server = refusal(tmp_path, always(429, {}, **{"Retry-After-Ms": "10"}), capfd, max_retries=2)
    assert len(server.bodies) == 3
    assert "keeps refusing with 429 (Error code: 429" in sentence


def test_a_failing_server_is_asked_again(tmp_path):
    script = lambda number: (200, {}, completion()) if number == 2 else (500 + number, {"retry-after-ms": "5"}, b"oops")  # noqa: E731
    outcome, server, usage = ask(tmp_path, script)
    assert outcome.text == "ACTION 1"
    assert (len(server.bodies), usage.retries, usage.asked) == (3, 2, 1)


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        (always(500, {"error": {"message": f"bad\nthing with {KEY}"}}), "answered 500: Error code: 500"),
        (always(400, {"error": {"message": "\x1b[31mcontext\u202e too long"}}), "context too long"),
        (always(400, b"\xff\xfe\x00 no text"), "answered 400: "),
        (always(401, {"error": {"message": f"Incorrect API key {KEY}"}}), "refused (401); all answers so far are kept"),
        (always(403, b"<html>no</html>", **{"Content-Type": "text/html"}), "refused (403)"),
        (always(404, {"error": {"message": "no model served"}}), "is not there (404: "),
        (always(200, b"<html>\n<p>Log in!</p>\n</html>", **{"Content-Type": "text/html"}), "<p>Log in!</p>"),
        (always(200, b'{"choices": [{"mess'), "no chat completion"),
        (always(200, b""), "no chat completion"),
        (always(200, b"\xff\xfe"), "no chat completion"),
        (always(200, b"[]"), "no chat completion"),
        (always(200, b"null"), "no chat completion"),
        (always(200, {}), "no chat completion"),
        (always(200, {"choices": None, "error": {"message": "overloaded"}}), "overloaded"),
        (always(200, {"choices": {"0": 1}}), "no chat completion"),
        (always(200, {"choices": ["text"]}), "no chat completion"),
        (always(200, completion({"text": "a"})), "no chat completion"),
        (always(200, completion(["a", "b"])), "no chat completion"),
        (always(200, b"[" * 10_000), "no chat completion"),
        (always(302, b"", **{"Location": "/v1/chat/completions"}), "Cannot reach model 'my-model'"),
        (lambda number: None, "within 0.5 s, after 0 retries; all answers so far are kept, raise timeout_seconds"),
    ],
)
def test_a_failure_is_one_sentence(tmp_path, capfd, script, expected):
    sentence, _ = refusal(tmp_path, script, capfd, max_retries=0, timeout_seconds=0.5)
    assert expected in sentence
    assert "my-model" in sentence


def test_a_connection_that_is_refused(tmp_path, capfd):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        sentence, _ = refusal(tmp_path, always(500, {}), capfd, base_url=address, max_retries=0)
    assert sentence == (
        f"Cannot reach model 'my-model' at {address}; all answers so far are kept, check that the server is up and "
        "run again."
    )


def test_a_host_that_does_not_exist(tmp_path, capfd):
    sentence, _ = refusal(tmp_path, always(500, {}), capfd, base_url="http://nowhere.invalid/v1", max_retries=0)
    assert sentence.startswith("Cannot reach model 'my-model' at http://nowhere.invalid/v1; ")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (completion(choices=[]), Response("", "no choice", 7, None, None, 3)),
        (completion(None), Response("", "stop", 7, None, None, 3)),
        (completion(None, "content_filter"), Response("", "content_filter", 7, None, None, 3)),
        (completion("", "length"), Response("", "length", 7, None, None, 3)),
        (completion("cut", None), Response("cut", "unknown", 7, None, None, 3)),
        (completion("odd", "odd \ud800 reason"), Response("odd", "odd \ufffd reason", 7, None, None, 3)),
        (completion("half \ud800 pair \ud83d\ude00"), Response("half \ufffd pair 😀", "stop", 7, None, None, 3)),
        (completion("é" * 500_000), Response("é" * 500_000, "stop", 7, None, None, 3)),
        (completion("\0\x1b\r\n\u202e"), Response("\0\x1b\r\n\u202e", "stop", 7, None, None, 3)),
        (completion(usage=None), Response("ACTION 1", "stop")),
        (completion(usage={"prompt_tokens": "7", "completion_tokens": -1}), Response("ACTION 1", "stop")),
        (completion(usage=[1]), Response("ACTION 1", "stop")),
        (
            completion(
                usage={
                    "prompt_tokens": 7,
                    "completion_tokens": 9,
                    "prompt_tokens_details": {"cached_tokens": 5},
                    "completion_tokens_details": {"reasoning_tokens": 4},
                }
            ),
            Response("ACTION 1", "stop", 7, 5, 4, 9),
        ),
    ],
)
def test_an_answer_is_stored_as_it_is(tmp_path, answer, expected):
    outcome, _, usage = ask(tmp_path, always(200, answer))
    assert outcome == expected
    assert usage.asked == 1
    assert ResponseStore(tmp_path / "store").get(request().key) == expected
    assert all(KEY.encode() not in shard.read_bytes() for shard in (tmp_path / "store").iterdir())


def test_a_call_past_the_budget_is_not_sent(tmp_path):
    outcome, server, _ = ask(tmp_path, always(200, completion()), budget=Budget(max_tokens=60))
    assert isinstance(outcome, BudgetExceededError)
    assert server.bodies == []


def test_a_call_that_failed_costs_nothing(tmp_path):
    async def main():
        budget = Budget(max_usd=0.001)
        price = Price(prompt=1.0, output=9.0)
        async with opened(tmp_path, lambda number: (200, {}, completion()) if number == 50 else (400, {}, {}),
                          budget=budget, price=price) as (client, _):  # fmt: skip
            for number in range(50):
                with pytest.raises(InfoeconError, match="answered 400"):
                    await client.respond(request(number))
            await client.respond(request(50))
            assert client.meter.usage.usd == (7 * 1 + 3 * 9) / 1e6

    asyncio.run(main())


def test_a_proxy_is_not_asked_for_this_machine(tmp_path, monkeypatch):
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    for name in ("no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    outcome, _, _ = ask(tmp_path, always(200, completion()), max_retries=0)
    assert outcome.text == "ACTION 1"


def test_a_full_disk_ends_in_one_sentence(tmp_path):
    (tmp_path / "store").symlink_to(tmp_path / "unmounted")
    outcome, _, _ = ask(tmp_path, always(200, completion()))
    assert "An answer cannot be stored" in str(outcome)
