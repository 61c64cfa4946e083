"""A real S3 server on loopback, moto's, which can be made to answer wrongly or not at all."""

import logging
import socket
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Any, Final, NamedTuple

from moto.core.models import DEFAULT_ACCOUNT_ID
from moto.moto_server.werkzeug_app import DomainDispatcherApplication, MotoRequestHandler, create_backend_app
from moto.s3.models import s3_backends
from werkzeug.serving import make_server

_CONDITIONS: Final = ("HTTP_IF_MATCH", "HTTP_IF_NONE_MATCH")


class Fault(NamedTuple):
    """What happens to the next request with this method whose path contains `path`: its answer has this status and
    code, or gets lost (`status` 0). `is_done`: the request is carried out, although its answer does not say so.
    `cut_bytes`: the answer ends after so many bytes of its body."""

    method: str
    status: int = 0
    code: str = ""
    path: str = ""
    is_done: bool = False
    cut_bytes: int | None = None


class S3Server:
    """Serves any number of buckets. Writes are done one after another, as conditional writes need it: moto compares
    and writes in two steps. `ignores_conditions`: it writes as if there were no If-Match and If-None-Match. `requests`
    are those that came, as `METHOD path`."""

    def __init__(self) -> None:
        self.ignores_conditions = False
        self.requests: list[str] = []
        self.faults: deque[Fault] = deque()
        self._writing = threading.RLock()
        self._moto = DomainDispatcherApplication(create_backend_app)
        self._server = make_server("127.0.0.1", 0, self._app, threaded=True, request_handler=MotoRequestHandler)
        self._buckets = 0

    @property
    def url(self) -> str:
        """The URL of the server."""
        return f"http://127.0.0.1:{self._server.port}"

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which clients find the server, and no other."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_ACCESS_KEY_ID": "someone",
            "AWS_SECRET_ACCESS_KEY": "sesame",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_EC2_METADATA_DISABLED": "true",
            "AWS_CONFIG_FILE": "/dev/null",
            "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
        }

    def new_bucket(self) -> str:
        """Makes a bucket, and returns its name."""
        with self._writing:
            self._buckets += 1
            name = f"bucket-{self._buckets}"
        self.client.create_bucket(Bucket=name)
        return name

    @cached_property
    def client(self) -> Any:
        """A client of boto3 for the server."""
        import boto3

        keys = self.environment["AWS_ACCESS_KEY_ID"], self.environment["AWS_SECRET_ACCESS_KEY"]
        return boto3.Session(*keys, region_name="us-east-1").client("s3", endpoint_url=self.url)

    def put(self, bucket: str, key: str) -> None:
        """Makes an empty file without a request, which is faster."""
        s3_backends[DEFAULT_ACCOUNT_ID]["aws"].put_object(bucket, key, b"")

    def serve(self) -> None:
        """Serves until `stop`."""
        self._server.serve_forever(poll_interval=0.05)

    def stop(self) -> None:
        """Ends `serve`, and frees the port."""
        self._server.shutdown()
        self._server.server_close()

    def reset(self) -> None:
        """Answers as S3 does again, and forgets the requests."""
        self.ignores_conditions = False
        self.faults.clear()
        self.requests.clear()

    def _app(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        self.requests.append(f"{method} {path}")
        if self.ignores_conditions and method in {"PUT", "POST"}:
            for header in _CONDITIONS:
                environ.pop(header, None)
        fault = self._fault(method, path)
        if fault is None:
            return self._answered(environ, start_response)
        if fault.cut_bytes is not None:
            return self._cut(fault.cut_bytes, environ, start_response)
        if fault.is_done:
            b"".join(self._answered(environ, lambda *_: None))
        else:
            environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
        if fault.status == 0:
            _hang_up(environ)
        start_response(f"{fault.status} Fault", [("Content-Type", "application/xml")])
        return [f"<Error><Code>{fault.code}</Code><Message>as the test wants it</Message></Error>".encode()]

    def _fault(self, method: str, path: str) -> Fault | None:
        for fault in list(self.faults):
            if fault.method == method and fault.path in path:
                self.faults.remove(fault)
                return fault
        return None

    def _answered(self, environ: dict[str, Any], start_response: Any) -> Iterable[bytes]:
        with self._writing:
            answer: Iterable[bytes] = self._moto(environ, start_response)
            return answer

    def _cut(self, size: int, environ: dict[str, Any], start_response: Any) -> Iterator[bytes]:
        yield b"".join(self._answered(environ, start_response))[:size]
        _hang_up(environ)


def _hang_up(environ: dict[str, Any]) -> None:
    environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)


@contextmanager
def running_s3_server() -> Iterator[S3Server]:
    """Runs a server in a thread."""
    logging.getLogger("werkzeug").setLevel(logging.CRITICAL)
    server = S3Server()
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.stop()
        thread.join()
