"""A server that gives prepared answers in turn, and keeps what it was asked."""
from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Answer:
    def __init__(self, status: int, body: Any, headers: dict[str, str] | None = None) -> None:
        self.status = status
        self.body = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.headers = headers or {}


def failure(status: int, code: str, message: str = "Because.", **headers: str) -> Answer:
    body = {"success": False, "error": {"code": code, "message": message, "docs_url": f"/docs/errors#{code}"}}
    return Answer(status, body, {name.replace("_", "-"): value for name, value in headers.items()})


class Scripted:
    """A context: ``with Scripted([answer, …]) as server``. The last answer is repeated."""

    def __init__(self, answers: list[Answer]) -> None:
        self.asked: list[str] = []
        self.headers: list[dict[str, str]] = []
        left = list(answers)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                outer.asked.append(self.path)
                outer.headers.append({name.lower(): value for name, value in self.headers.items()})
                answer = left.pop(0) if len(left) > 1 else left[0]
                self.send_response(answer.status)
                for name, value in {"Content-Length": str(len(answer.body)), **answer.headers}.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *_: Any) -> None:
                return None

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self) -> Scripted:
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        return self

    def __exit__(self, *_: Any) -> None:
        self._server.shutdown()
        self._server.server_close()
