"""API keys: the clients of a server show one in each request, as a bearer token or as a password."""

import base64
import binascii
import hmac
from pathlib import Path

from starlette.datastructures import Headers

from headwise.app.serve.middleware import Application, Message, Receive, Send, error_response
from headwise.app.serve.serve_errors import REQUEST
from headwise.core.errors import ConfigError

NO_KEY = "HW910"
"""The code of requests without a key of the server."""
_LEAST = 16  # characters of a key: shorter ones can be guessed
_PUBLIC = ("/health",)
_CHALLENGE = {"www-authenticate": 'Basic realm="headwise", charset="UTF-8"'}


class ApiKeys:
    """The keys of a file, one per line. Empty lines, and lines that begin with `#`, hold none.

    Args:
        path: The file.

    Raises:
        ConfigError: It cannot be read, has no key, or a key is too short or has blanks.
    """

    def __init__(self, path: Path | str):
        self.path = Path(path)
        self.reload()

    def reload(self) -> None:
        """Read the file again; where that fails, the keys stay.

        Raises:
            ConfigError: See the class.
        """
        try:
            lines = self.path.read_text("utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "not UTF-8"
            raise ConfigError(f"--api-keys {self.path}: cannot be read: {reason}") from None
        keys = []
        for number, line in enumerate(lines, start=1):
            key = line.strip()
            if key and not key.startswith("#"):
                if len(key) < _LEAST or len(key.split()) > 1:
                    raise ConfigError(
                        f"--api-keys {self.path}:{number}: a key of {len(key)} characters; expected "
                        f"{_LEAST} or more without blanks, such as `openssl rand -hex 24` prints"
                    )
                keys.append(key.encode())
        if not keys:
            raise ConfigError(f"--api-keys {self.path}: no key; expected one per line")
        self._keys = keys

    def allow(self, authorization: str) -> bool:
        """Whether the value of a header `authorization` has one of the keys.

        It is `Bearer KEY`, or what browsers send where KEY is the password of any user.
        """
        scheme, _, credentials = authorization.strip().partition(" ")
        text = credentials.strip()
        # Clients send letters beyond ASCII as UTF-8 or as Latin-1; the server reads Latin-1.
        shown = [text.encode("utf-8", "surrogateescape"), text.encode("latin-1", "replace")]
        if scheme.lower() == "basic":
            try:
                shown = [base64.b64decode(shown[0], validate=True).partition(b":")[2]]
            except binascii.Error:
                return False
        elif scheme.lower() != "bearer":
            return False
        # All keys are compared, each in constant time, so that the time says nothing about them.
        return bool(sum(hmac.compare_digest(key, candidate) for key in shown for candidate in self._keys))


class KeyLimit:
    """Middleware that rejects requests without a key, health checks aside."""

    def __init__(self, app: Application, keys: ApiKeys):
        self.app, self.keys = app, keys

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            path = scope["path"].removeprefix(scope.get("root_path", ""))
            if path not in _PUBLIC and not self.keys.allow(Headers(scope=scope).get("authorization", "")):
                message = f"{REQUEST}: no key of this server; expected the header authorization: Bearer KEY"
                await error_response(scope, 401, NO_KEY, message, _CHALLENGE)(scope, receive, send)
                return
        await self.app(scope, receive, send)
