"""A private server: one process for one home, which ends with this Python process."""

import http.client
import json
import os
import re
import socket
import subprocess
import threading
import urllib.parse
import weakref
from typing import Dict, IO, List, Mapping, Optional, Sequence, Tuple, Union

from ._errors import LodeseekError
from ._program import PathLike, find_program

START_SECONDS = 120.0
STOP_SECONDS = 30.0
# The shell ends the server when its stdin has a line or is closed, which happens even if Python is killed.
WATCHED = '"$@" </dev/null & server=$!; exec 2>/dev/null; IFS= read -r _; kill -TERM "$server"; wait "$server"'
LISTENING = re.compile(r"listening on http://([0-9.]+):([0-9]+)")
MESSAGES = 50

Parameters = Sequence[Tuple[str, Union[str, int]]]


class _Log:
    """The log of a server: its address and its last messages."""

    def __init__(self) -> None:
        self.messages: List[str] = []
        self.address: Optional[Tuple[str, int]] = None
        self.started = threading.Event()

    def read(self, stream: IO[str]) -> None:
        """Reads the log to its end, because the server blocks while nobody reads it."""
        for line in stream:
            message = _message(line)
            found = LISTENING.search(message)
            if found and self.address is None:
                self.address = (found[1], int(found[2]))
                self.started.set()
            self.messages = [*self.messages[1 - MESSAGES:], message]
        self.started.set()

    def last(self) -> str:
        """Returns the last error of the command line, or the last messages in one line."""
        errors = [message for message in self.messages if message.startswith("error: ")]
        return errors[-1] if errors else "; ".join(self.messages[-3:])


def _variables(settings: Mapping[str, object]) -> Dict[str, str]:
    """Returns the environment variables of keys of the configuration."""
    return {"LODESEEK_" + re.sub("[.-]", "_", key).upper(): str(value).lower() if isinstance(value, bool) else str(value)
            for key, value in settings.items()}


class PrivateServer:
    """A server on a free port of the loopback address. It only reads the home."""

    def __init__(self, home: PathLike, *, program: Optional[PathLike] = None, options: Sequence[str] = (),
                 settings: Optional[Mapping[str, object]] = None, start_seconds: float = START_SECONDS) -> None:
        command = [find_program(program), "--home", os.fspath(home), "--log-format", "json", "serve", "--bind", "127.0.0.1:0", *options]
        self._process = subprocess.Popen(["sh", "-c", WATCHED, "sh", *command], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.PIPE, encoding="utf-8", errors="replace", start_new_session=True,
                                         env={**os.environ, **_variables(settings or {})})
        self._log = _Log()
        # The thread has no reference to this object, which can therefore be collected.
        self._reader = threading.Thread(target=self._log.read, args=(self._process.stderr,), name="lodeseek-log", daemon=True)
        self._reader.start()
        self._connection: Optional[http.client.HTTPConnection] = None
        self._lock = threading.Lock()
        self._finalizer = weakref.finalize(self, _end, self._process, self._reader, os.getpid())
        if not self._log.started.wait(start_seconds) or self._log.address is None:
            self.close()
            raise LodeseekError("the server did not start: " + (self._log.last() or f"no message in {start_seconds:g} s"))
        self._address = self._log.address

    @property
    def url(self) -> str:
        """Address of the server, without a slash at the end."""
        return "http://%s:%d" % self._address

    @property
    def is_running(self) -> bool:
        return self._finalizer.alive and self._reader.is_alive()

    def close(self) -> None:
        """Ends the server and waits for it. Closing twice has no effect."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None
        self._finalizer()

    def request(self, path: str, parameters: Parameters = (), *, accept: str = "application/json", body: Optional[str] = None,
                headers: Optional[Mapping[str, str]] = None) -> Tuple[str, http.client.HTTPMessage]:
        """Requests a path and returns the response with its headers. A body is posted.

        Raises LodeseekError with the message of the server if the status is not 200.
        """
        target = path + ("?" + urllib.parse.urlencode(parameters) if parameters else "")
        with self._lock:
            status, received, text = self._exchange(target, {"Accept": accept, **(headers or {})}, body)
        if status != 200:
            raise LodeseekError(_error_text(status, received.get_content_type(), text))
        return text, received

    def _exchange(self, target: str, headers: Mapping[str, str], body: Optional[str]) -> Tuple[int, http.client.HTTPMessage, str]:
        for attempt in (1, 2):
            reused = self._connection is not None
            connection = self._connection or self._connect()
            try:
                connection.request("GET" if body is None else "POST", target, body and body.encode(), dict(headers))
                response = connection.getresponse()
                text = response.read().decode("utf-8")
                self._connection = connection
                return response.status, response.headers, text
            except (http.client.HTTPException, OSError) as cause:
                connection.close()
                self._connection = None
                # The server closes idle connections; a new one is tried once. All requests only read.
                if attempt == 2 or not reused:
                    raise LodeseekError(f"the server at {self.url} did not respond: {cause!r}; its last messages: "
                                        + (self._log.last() or "none")) from cause
        raise AssertionError("unreachable")

    def _connect(self) -> http.client.HTTPConnection:
        connection = http.client.HTTPConnection(*self._address)
        connection.connect()
        connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return connection


def _message(line: str) -> str:
    try:
        return str(json.loads(line)["message"])
    except (ValueError, KeyError, TypeError):
        return line.strip().removeprefix("lodeseek: ")


def _error_text(status: int, media_type: str, text: str) -> str:
    if media_type == "application/json":
        try:
            return str(json.loads(text)["error"])
        except (ValueError, KeyError, TypeError):
            pass
    return text.strip() or f"the server returned status {status}"


def _end(process: "subprocess.Popen[str]", reader: threading.Thread, owner: int) -> None:
    """Ends the server of this process, not that of the process it was forked from."""
    if os.getpid() != owner:
        return
    try:
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.close()
    except OSError:  # the shell has ended already
        pass
    try:
        process.wait(STOP_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        process.wait()
    reader.join(STOP_SECONDS)
    if process.stderr is not None and not reader.is_alive():
        process.stderr.close()
