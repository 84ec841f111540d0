"""Calls of the API: where it is, the key, and which failures are repeated. Hides HTTP, compression and pages."""
from __future__ import annotations

import gzip
import http.client
import json
import os
import random
import time
import urllib.error
import urllib.request
import zlib
from email.message import Message
from typing import Any, Callable, Iterator, Mapping
from urllib.parse import quote, urlencode, urlsplit

from .errors import AlmanacError, error_of
from .version import __version__

DEFAULT_URL = "http://127.0.0.1:8080"

# What may be gone when the call is repeated. Not 402: its Retry-After is the end of the month.
_PASSING = (429, 502, 503, 504)


class Client:
    """An installation of Almanac, and the key to call it with.

    ``key`` defaults to the environment variable ALMANAC_KEY and ``url`` to ALMANAC_URL, then to http://127.0.0.1:8080. Search,
    catalogue, calendar and plans need no key. The key is sent as a header, and never follows a redirect.

    A call that met a limit or a passing fault is repeated: up to ``retries`` times, after the seconds that the server asks
    for in Retry-After, and not at all once the waiting of the call would exceed ``max_wait`` seconds. ``timeout`` is how long
    a connection may be silent, in seconds. All calls are reads, so repeating is safe.
    """

    def __init__(
        self,
        key: str | None = None,
        url: str | None = None,
        *,
        timeout: float = 60.0,
        retries: int = 3,
        max_wait: float = 60.0,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._key = key or os.environ.get("ALMANAC_KEY") or None
        self.url = (url or os.environ.get("ALMANAC_URL") or DEFAULT_URL).rstrip("/")
        if urlsplit(self.url).scheme not in ("http", "https"):
            raise ValueError(f'The URL of the API must begin with http:// or https://, unlike "{self.url}".')
        self.timeout = timeout
        self.retries = retries
        self.max_wait = max_wait
        self._sleep = sleep
        self._opener = urllib.request.build_opener(_NoRedirects)

    def __repr__(self) -> str:  # the key is a secret
        return f"<almanac.Client of {self.url}, {'without a key' if self._key is None else 'with a key'}>"

    def fetch(self, path: str, query: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """The parsed answer of ``GET path``. Parameters that are None are left out. Raises AlmanacError."""
        url = self.url + path + query_of(query or {})
        waited = 0.0
        for repetition in range(self.retries + 1):
            try:
                return self._once(url)
            except AlmanacError as error:
                wait = _wait_before(repetition, error)
                if wait is None or repetition == self.retries or waited + wait > self.max_wait:
                    raise
                waited += wait
                self._sleep(wait)
        raise ValueError(f"retries must be 0 or more, not {self.retries}.")

    def rows(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[dict[str, Any]]:
        """All rows of a list, page by page."""
        asked = {"limit": 1000, **(query or {})}
        while True:
            answer = self.fetch(path, asked)
            yield from answer["data"]
            cursor = (answer.get("pagination") or {}).get("next_cursor")
            if cursor is None:
                return
            asked = {**asked, "cursor": cursor}

    def _once(self, url: str) -> dict[str, Any]:
        headers = {"Accept": "application/json", "Accept-Encoding": "gzip", "User-Agent": f"almanac-python/{__version__}"}
        if self._key is not None:
            headers["X-API-Key"] = self._key
        request = urllib.request.Request(url, headers=headers)
        try:
            with self._answer_of(request) as answer:
                status, sent, body = answer.status, answer.headers, _plain(answer.headers, answer.read())
        except (OSError, EOFError, http.client.HTTPException, zlib.error) as fault:
            cause = getattr(fault, "reason", fault)
            what = f"nothing for {self.timeout:g} s" if isinstance(cause, TimeoutError) else str(cause) or repr(cause)
            error = AlmanacError(f"No answer from {self.url}: {what}.", code="unreachable")
            raise error from (cause if isinstance(cause, BaseException) else fault)
        if not 200 <= status < 300:
            raise error_of(status, sent, body, url)
        try:
            parsed = json.loads(body)
        except ValueError:
            parsed = None
        if not isinstance(parsed, dict) or parsed.get("success") is not True:
            raise error_of(status, sent, b"", url)
        return parsed

    def _answer_of(self, request: urllib.request.Request) -> Any:
        """The answer of any status, whose body is still to be read."""
        try:
            return self._opener.open(request, timeout=self.timeout)
        except urllib.error.HTTPError as answer:
            return answer


def path_of(template: str, **values: str) -> str:
    """``/v1/series/{id}`` with the values of its parameters."""
    return template.format(**{name: quote(value, safe="") for name, value in values.items()})


def query_of(query: Mapping[str, Any]) -> str:
    """``?name=value&…`` in the API's spelling; what is None is left out."""
    given = {name: _text(value, name) for name, value in query.items() if value is not None}
    return f"?{urlencode(given)}" if given else ""


def _text(value: Any, name: str = "") -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (list, tuple)):
        return ",".join(str(each) if name == "dims" else _listed(each) for each in value)
    if hasattr(value, "isoformat"):  # a day: of datetime.date, datetime.datetime or pandas.Timestamp
        return str(value.isoformat())[:10]
    return str(value)


def _listed(value: Any) -> str:
    """A value of a list, quoted if a comma or a quote of its own would divide it."""
    text = str(value)
    return '"' + text.replace('"', '""') + '"' if "," in text or '"' in text else text


def _wait_before(repetition: int, error: AlmanacError) -> float | None:
    """Seconds before a repetition, or None if it would be in vain."""
    is_silent = isinstance(error.__cause__, TimeoutError)  # it has had its time
    if is_silent or (error.status not in _PASSING and error.code != "unreachable"):
        return None
    if error.retry_after is not None:
        return error.retry_after
    return 0.5 * 2.0**repetition * random.uniform(0.75, 1.25)  # so that clients that failed together do not return together


def _plain(headers: Message, body: bytes) -> bytes:
    return gzip.decompress(body) if headers.get("Content-Encoding") == "gzip" else body


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Python sends all headers, the key too, to wherever a redirect points."""

    def redirect_request(self, *_: Any) -> None:
        return None
