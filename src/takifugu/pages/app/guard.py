"""Who may ask the app: this browser alone, by a token that opens once and the cookie that it becomes."""

from __future__ import annotations

import hmac
import json
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, PlainTextResponse, Response

from takifugu.numbers.noise.entropy import SystemEntropy

#: A body holds answers, and is no larger.
LARGEST = 100_000
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Content-Security-Policy": _POLICY, "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store", "Cross-Origin-Resource-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}  # fmt: skip
HERE = "This page is for this machine alone."
ELSEWHERE = "Another page asks. It gets no answer."
OPEN = "Open the address that the terminal shows."
USED = (
    "This address was opened before, and opens once. If that was not you, end the app with Ctrl-C. Nothing is "
    "published without its page."
)
JSON_ONLY, TOO_LARGE, NO_JSON = "Send JSON.", f"Send at most {LARGEST:,} bytes.", "Send an object of JSON."
#: What the token opens: a page that goes on by itself, since a browser that comes from a file would lose the cookie.
_ENTERED = '<!doctype html><meta http-equiv="refresh" content="0; url=/"><title>Takifugu</title>'
NOT_OFFERED = "The app did not offer this change. Open its page again."


class Refused(Exception):
    """A request that gets no answer, with its status."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status, self.words = status, words

    @property
    def response(self) -> Response:
        return PlainTextResponse(self.words, self.status, HEADERS)


class Guard:
    """The guard of an app at a port."""

    def __init__(self, port: int) -> None:
        self.token, self._session = SystemEntropy().bytes(32).hex(), SystemEntropy().bytes(32).hex()
        self._cookie, self._is_used = f"takifugu-{port}", False
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    def enter(self, request: Request) -> Response:
        """Turn the token into a cookie, once."""
        self._check_place(request)
        if not _same(request.path_params["token"], self.token):
            raise Refused(403, OPEN)
        if self._is_used:
            raise Refused(403, USED)
        self._is_used = True
        response = HTMLResponse(_ENTERED, headers=HEADERS)
        response.set_cookie(self._cookie, self._session, httponly=True, samesite="strict")
        return response

    def check(self, request: Request) -> None:
        """Raise Refused for a request of somebody else."""
        self._check_place(request)
        if request.headers.get("sec-fetch-site", "none") not in ("none", "same-origin"):
            raise Refused(403, ELSEWHERE)
        if not _same(request.cookies.get(self._cookie, ""), self._session):
            raise Refused(403, OPEN)

    async def body(self, request: Request) -> dict[str, Any]:
        """Return the object of a request that asks for something."""
        self.check(request)
        if request.headers.get("origin") is None:
            raise Refused(403, ELSEWHERE)
        if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
            raise Refused(415, JSON_ONLY)
        body = bytearray()
        try:
            async for part in request.stream():
                body += part
                if len(body) > LARGEST:
                    raise Refused(413, TOO_LARGE)
        except ClientDisconnect:  # nobody reads an answer
            raise Refused(400, NO_JSON) from None
        try:
            content = json.loads(body)
            json.dumps(content, ensure_ascii=False).encode("utf-8")  # half of a pair of code units is no text
        except (ValueError, RecursionError):
            raise Refused(400, NO_JSON) from None
        if not isinstance(content, dict):
            raise Refused(400, NO_JSON)
        return content

    def _check_place(self, request: Request) -> None:
        if request.headers.get("host") not in self._hosts:
            raise Refused(403, HERE)
        if not {f"http://{host}" for host in self._hosts}.issuperset(request.headers.getlist("origin")):
            raise Refused(403, ELSEWHERE)


def _same(given: str, right: str) -> bool:
    """Compare in a time that tells nothing."""
    return hmac.compare_digest(given.encode(), right.encode())
