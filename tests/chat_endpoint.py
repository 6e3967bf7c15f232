"""A real HTTP server on loopback that speaks the OpenAI chat protocol as a test tells it to."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def completion(text: Any = "FINAL A", **changes: Any) -> dict[str, Any]:
    """Give a chat completion as an endpoint sends it."""
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 0,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 20,
            "completion_tokens": 7,
            "total_tokens": 27,
            "prompt_tokens_details": {"cached_tokens": 5},
            "completion_tokens_details": {"reasoning_tokens": 3},
        },
    } | changes


Answer = Callable[[int, dict[str, Any]], tuple[int, Any, dict[str, str]]]
"""Gives status, body and headers for the number of the request, from 0, and its JSON."""


class Endpoint:
    """What the server saw."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self.requests: list[dict[str, Any]] = []
        self.authorizations: list[str | None] = []
        self.in_flight = 0
        self.most_in_flight = 0
        self.base_url = ""
        self.lock = threading.Lock()


@contextmanager
def serving(answer: Answer | dict[str, Any], delay: float = 0.0) -> Iterator[Endpoint]:
    """Serve on a free port while the body runs."""
    fixed = answer
    endpoint = Endpoint(answer if callable(answer) else lambda number, request: (200, fixed, {}))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with endpoint.lock:
                number = len(endpoint.requests)
                endpoint.requests.append(body)
                endpoint.authorizations.append(self.headers.get("authorization"))
                endpoint.in_flight += 1
                endpoint.most_in_flight = max(endpoint.most_in_flight, endpoint.in_flight)
            time.sleep(delay)
            status, content, headers = endpoint.answer(number, body)
            with endpoint.lock:
                endpoint.in_flight -= 1
            raw = content if isinstance(content, bytes) else json.dumps(content).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    endpoint.base_url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
    thread.start()
    try:
        yield endpoint
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
