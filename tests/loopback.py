"""A local web server that serves given files, if desired with faults, and records requests."""

from __future__ import annotations

import gzip
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, files: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.files = dict(files)
        self.requests: list[str] = []
        self.breaks_off = 0  # number of responses that stop halfway, although the header gives the full length
        self.compresses = False

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class _Handler(BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        name = self.path.removeprefix("/")
        self.server.requests.append(name)
        if name not in self.server.files:
            self.send_error(404)
            return
        content = self.server.files[name]
        self.send_response(200)
        if self.server.compresses:
            content = gzip.compress(content)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        if self.server.breaks_off:
            self.server.breaks_off -= 1
            content = content[: len(content) // 2]
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        """Nothing on stderr."""


@contextmanager
def serving(files: Mapping[str, bytes]) -> Iterator[Server]:
    """A server that runs until the end of the block."""
    with Server(files) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
