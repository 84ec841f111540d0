"""The one exception of the package: what the server said, or why no server was reached. Names arguments instead of the API's parameters."""
from __future__ import annotations

import json
import re
from contextlib import contextmanager
from email.message import Message
from typing import Any, Iterator, Mapping
from urllib.parse import urljoin


class AlmanacError(Exception):
    """A call failed. ``message`` is the server's own sentence; ``code`` is for programs: the API lists the codes at /docs/errors.

    Two codes come from this package: ``unreachable`` (no answer; ``status`` is None) and ``unexpected_answer`` (an answer that
    is not Almanac's, for example of a proxy).
    """

    def __init__(
        self,
        message: str,
        *,
        code: str,
        status: int | None = None,
        param: str | None = None,
        request_id: str | None = None,
        docs_url: str | None = None,
        retry_after: float | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
        self.status = status
        self.param = param
        """The parameter at fault, as the function that was called names it: ``as_of`` for the API's ``vintage``."""
        self.request_id = request_id
        """Identifies the call in the operator's log."""
        self.docs_url = docs_url
        self.retry_after = retry_after
        """Seconds after which the call may be repeated, if the server said so."""

    def __str__(self) -> str:
        facts = [self.code if self.status is None else f"{self.status} {self.code}"]
        if self.request_id is not None:
            facts.append(f"request {self.request_id}")
        return f"{self.message} ({', '.join(facts)})"


@contextmanager
def named_as(names: Mapping[str, str]) -> Iterator[None]:
    """Errors name the arguments of the function instead of the parameters of the API: ``names`` has the former by the latter."""
    try:
        yield
    except AlmanacError as error:
        error.param = names.get(error.param or "", error.param)
        if error.code == "invalid_parameter":  # other messages may quote a dimension with such a name
            error.message = re.sub(r'"(\w+)"', lambda quoted: f'"{names.get(quoted[1], quoted[1])}"', error.message)
            error.args = (error.message,)
        raise


def error_of(status: int, headers: Message, body: bytes, url: str) -> AlmanacError:
    """The error of an answer that is not 2xx. ``url`` is that of the call: the links of the server are relative to it."""
    retry_after = seconds_of(headers.get("Retry-After"))
    error = _envelope_of(body)
    if error is None:
        return AlmanacError(
            f"{url} answered {status} without an error message of Almanac. Check the URL, and any proxy in between.",
            code="unexpected_answer",
            status=status,
            request_id=headers.get("X-Request-Id"),
            retry_after=retry_after,
        )
    docs_url = error.get("docs_url")
    return AlmanacError(
        error["message"],
        code=error["code"],
        status=status,
        param=error.get("param"),
        request_id=error.get("request_id", headers.get("X-Request-Id")),
        docs_url=None if docs_url is None else urljoin(url, docs_url),
        retry_after=retry_after,
    )


def _envelope_of(body: bytes) -> dict[str, Any] | None:
    try:
        answer = json.loads(body)
    except ValueError:
        return None
    error = answer.get("error") if isinstance(answer, dict) else None
    is_known = isinstance(error, dict) and isinstance(error.get("message"), str) and isinstance(error.get("code"), str)
    return error if is_known else None


def seconds_of(retry_after: str | None) -> float | None:
    """The seconds of a Retry-After header. Almanac never sends the other form, a date."""
    return float(retry_after) if retry_after is not None and retry_after.isascii() and retry_after.isdigit() else None
