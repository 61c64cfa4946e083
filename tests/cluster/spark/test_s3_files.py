"""A store in S3: lost answers, servers that refuse or do not obey, keys that the bucket has besides."""

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pyarrow.parquet as pq
import pytest

from disks import MOUNTS, small_disk
from goodbot.cluster.spark.opening import open_files
from goodbot.cluster.spark.store_files import StoreFiles
from goodbot.errors import GoodbotError, InputError, RunError
from s3_server import Fault, S3Server

MIB = 1 << 20
LATER = 1e12


@pytest.fixture
def files(s3_url: str) -> StoreFiles:
    return open_files(s3_url)


def place(files: StoreFiles, path: str = "") -> tuple[str, str]:
    """Returns the bucket and the key of a file."""
    bucket, _, folder = files.url.removeprefix("s3://").partition("/")
    return bucket, f"{folder}/{path}"


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("lost", [1, 3])
def test_an_answer_is_lost(s3: S3Server, files: StoreFiles, lost: int, is_done: bool) -> None:
    """Whether the file was written shows in the file."""
    s3.faults.extend([Fault("PUT", is_done=is_done)] * lost)
    first = files.write_if("pointer", b"1", None)
    assert first is not None
    s3.faults.append(Fault("PUT", is_done=is_done))
    second = files.write_if("pointer", b"2", first)
    assert second is not None
    assert files.read_tagged("pointer") == (b"2", second)
    s3.faults.append(Fault("PUT", is_done=is_done))
    assert files.write_if("pointer", b"3", first) is None
    assert files.read_tagged("pointer") == (b"2", second)


@pytest.mark.parametrize("is_done", [True, False])
@pytest.mark.parametrize("status", [500, 503])
def test_the_server_fails_while_it_writes(s3: S3Server, files: StoreFiles, status: int, is_done: bool) -> None:
    s3.faults.append(Fault("PUT", status, "InternalError", is_done=is_done))
    assert files.write_if("pointer", b"1", None) is not None
    assert files.read("pointer") == b"1"


def test_a_refusal_that_a_repetition_in_between_has_caused(s3: S3Server, files: StoreFiles) -> None:
    """A proxy sends the request twice, and passes on the second answer."""
    s3.faults.append(Fault("PUT", 412, "PreconditionFailed", is_done=True))
    tag = files.write_if("pointer", b"1", None)
    assert files.read_tagged("pointer") == (b"1", tag)


def test_a_simultaneous_write_hinders_this_one(s3: S3Server, files: StoreFiles) -> None:
    conflict = Fault("PUT", 409, "ConditionalRequestConflict")
    s3.faults.extend([conflict] * 2)
    first = files.write_if("pointer", b"1", None)
    assert first is not None
    s3.faults.append(conflict)
    assert files.write_if("pointer", b"2", "another tag") is None
    s3.faults.extend([conflict] * 4)
    with pytest.raises(RunError, match=r"cannot write pointer at s3://.*: .*ConditionalRequestConflict"):
        files.write_if("pointer", b"3", first)
    assert files.read("pointer") == b"1"
    assert not s3.faults


def test_a_server_that_always_refuses(s3: S3Server, files: StoreFiles) -> None:
    s3.faults.extend([Fault("PUT", 412, "PreconditionFailed")] * 4)
    with pytest.raises(RunError, match="the server refuses it, though nobody else has written"):
        files.write_if("pointer", b"1", None)


def test_a_server_that_ignores_conditions_is_refused(s3: S3Server, files: StoreFiles) -> None:
    s3.ignores_conditions = True
    with pytest.raises(InputError, match=r"s3://.*/store does not support conditional writes, so two drivers"):
        files.check_conditional()
    assert files.list() == []


@pytest.mark.parametrize("code", ["NotImplemented", ""])
def test_a_server_that_knows_no_conditions_is_refused(s3: S3Server, files: StoreFiles, code: str) -> None:
    s3.faults.append(Fault("PUT", 501, code))
    with pytest.raises(InputError, match=rf"does not support conditional writes \({code or 501}\)"):
        files.check_conditional()


def test_an_answer_that_breaks_off_is_read_again(s3: S3Server, files: StoreFiles) -> None:
    content = os.urandom(300_000)
    files.write("file", content)
    cut = Fault("GET", path="/file", cut_bytes=1000)
    s3.faults.append(cut)
    assert files.read("file") == content
    s3.faults.append(cut)
    file = files.open_input("file")
    s3.faults.extend([cut] * 2)
    assert file.read() == content
    file.seek(0)
    s3.faults.extend([cut] * 3)
    with pytest.raises(RunError, match=r"cannot read a file at s3://.*/file: "):
        file.read()


def test_a_small_file_takes_one_request(s3: S3Server, files: StoreFiles) -> None:
    files.write("file", b"x" * 60_000)
    s3.requests.clear()
    file = files.open_input("file")
    assert (file.size(), file.read()) == (60_000, b"x" * 60_000)
    assert [each.split()[0] for each in s3.requests] == ["GET"]


@pytest.mark.parametrize("is_removed", [True, False])
def test_a_file_that_changes_while_it_is_read(files: StoreFiles, is_removed: bool) -> None:
    files.write("file", os.urandom(100_000))
    file = files.open_input("file")
    if is_removed:
        files.remove(["file"])
    else:
        files.write("file", os.urandom(100_000))
    with pytest.raises(RunError, match="/file was replaced or removed while it was read"):
        file.read()


def test_errors_pass_through_parquet(s3: S3Server, files: StoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    import pyarrow as pa

    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    table = pa.table({"a": [os.urandom(100) for _ in range(2000)]})
    with files.open_output("file") as out:
        pq.write_table(table, out)
    opened = pq.ParquetFile(files.open_input("file"), pre_buffer=True)
    s3.faults.append(Fault("GET", 503, "SlowDown", path="/file"))
    with pytest.raises(RunError, match="SlowDown"):
        opened.read()
    assert opened.read() == table


REFUSALS: list[tuple[int, str, type[GoodbotError], str]] = [
    (404, "NoSuchBucket", InputError, "the bucket of s3://.*/store.* does not exist: create it"),
    (403, "AccessDenied", InputError, r"no access to s3://.*/store.* \(AccessDenied\): check the AWS_\* variables"),
    (403, "SignatureDoesNotMatch", InputError, r"no access to s3://.*/store.* \(SignatureDoesNotMatch\)"),
    (400, "AuthorizationHeaderMalformed", InputError, "is in another region .*: set AWS_DEFAULT_REGION"),
    (400, "ExpiredToken", RunError, "cannot .* at s3://.*/store.*: .*ExpiredToken.*: as the test wants it"),
    (500, "InternalError", RunError, "cannot .* at s3://.*/store.*: .*InternalError.*: as the test wants it"),
    (503, "SlowDown", RunError, "cannot .* at s3://.*/store.*: .*SlowDown"),
]


@pytest.mark.parametrize(("status", "code", "kind", "text"), REFUSALS)
@pytest.mark.parametrize("method", ["GET", "PUT", "POST"])
def test_a_refusal_is_one_clear_line(
    s3: S3Server,
    files: StoreFiles,
    method: str,
    status: int,
    code: str,
    kind: type[GoodbotError],
    text: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    local = tmp_path / "local"
    local.write_bytes(b"x")
    attempts: dict[str, list[Callable[[], object]]] = {
        "GET": [
            lambda: files.read("a"),
            lambda: files.open_input("a"),
            files.list,
            lambda: files.read_tagged("a"),
            lambda: files.remove_drafts(LATER),
        ],
        "PUT": [lambda: files.write("a", b""), lambda: files.upload(local, "a")],
        "POST": [lambda: files.remove(["a"])],
    }
    for attempt in attempts[method]:
        s3.faults.extend([Fault(method, status, code)] * 2)  # botocore asks about a region
        with pytest.raises(kind, match=text) as caught:
            attempt()
        assert "\n" not in str(caught.value)
        s3.faults.clear()
    assert files.list() == []
    assert local.exists()


def test_the_bucket_is_missing(s3: S3Server) -> None:
    files = open_files("s3://no-such-bucket/store")
    for attempt in (
        lambda: files.read("a"),
        lambda: files.write("a", b""),
        lambda: files.write_if("a", b"", None),
        files.list,
        files.check_conditional,
    ):
        with pytest.raises(InputError, match="the bucket of s3://no-such-bucket/store does not exist"):
            attempt()


def test_the_server_is_away(s3: S3Server, files: StoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://me:sesame@127.0.0.1:9")
    for attempt in (
        lambda: files.read("a"),
        lambda: files.write("a", b""),
        lambda: files.write_if("a", b"", None),
        lambda: files.open_input("a"),
        files.list,
        files.check_conditional,
    ):
        with pytest.raises(
            RunError, match=r"cannot .* at s3://.*/store.*: Could not connect to .*127\.0\.0\.1:9"
        ) as caught:
            attempt()
        assert "\n" not in str(caught.value)
        assert "sesame" not in str(caught.value)


def test_the_server_is_none_for_s3(files: StoreFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Web server that has no such file does not say that the store is empty."""
    handler = partial(SimpleHTTPRequestHandler, directory=str(tmp_path))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{server.server_port}")
        with pytest.raises(RunError, match=r"^cannot read a at s3://\S+: .*404"):
            files.read("a")
        server.shutdown()


def test_an_address_of_the_server_that_is_none(
    s3: S3Server, files: StoreFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_ENDPOINT_URL", "127.0.0.1")
    with pytest.raises(InputError, match="the configuration of S3 cannot be used: Invalid endpoint"):
        files.read("a")


def test_there_are_no_credentials(s3: S3Server, files: StoreFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    for attempt in (lambda: files.read("a"), lambda: files.write_if("a", b"", None)):
        with pytest.raises(InputError, match=r"no credentials for s3://.*/store on .*: set AWS_ACCESS_KEY_ID"):
            attempt()
    monkeypatch.setenv("AWS_PROFILE", "nobody")
    with pytest.raises(InputError, match=r"the configuration of S3 cannot be used: .*nobody"):
        files.read("a")


def test_unfinished_uploads_are_ended(s3: S3Server, files: StoreFiles) -> None:
    bucket, key = place(files, "warc/big")
    s3.client.create_multipart_upload(Bucket=bucket, Key=key)
    other = s3.client.create_multipart_upload(Bucket=bucket, Key="elsewhere")["UploadId"]
    assert files.list() == []
    assert files.remove_drafts(LATER) == 1
    assert files.remove_drafts(LATER) == 0
    assert [each["UploadId"] for each in s3.client.list_multipart_uploads(Bucket=bucket)["Uploads"]] == [other]


def test_an_upload_that_fails_leaves_nothing(s3: S3Server, files: StoreFiles, tmp_path: Path) -> None:
    local = tmp_path / "local"
    local.write_bytes(os.urandom(9 * MIB))
    s3.faults.append(Fault("PUT", 403, "AccessDenied"))
    with pytest.raises(InputError, match="AccessDenied"):
        files.upload(local, "warc/1")
    assert local.exists()
    assert files.list() == []
    assert files.remove_drafts(LATER) == 0
    with pytest.raises(RunError, match=r"cannot send .*missing to the store: No such file"):
        files.upload(tmp_path / "missing", "warc/1")


def test_keys_that_are_no_paths_are_left_out(s3: S3Server, files: StoreFiles) -> None:
    bucket, folder = place(files)
    for key in ("", "part/", "a//b", ".hidden", "a/../b"):
        s3.client.put_object(Bucket=bucket, Key=folder + key, Body=b"")
    files.write("a/b", b"")
    assert files.list() == [("a/b", 0)]


def test_many_files_are_listed(s3: S3Server, files: StoreFiles) -> None:
    """A server lists a thousand files in one answer."""
    bucket, folder = place(files)
    for number in range(1005):
        s3.put(bucket, f"{folder}part/{number:04}")
    assert [path for path, _ in files.list("part")] == [f"part/{number:04}" for number in range(1005)]
    files.remove(path for path, _ in files.list())
    assert files.list() == []


def test_a_whole_bucket_is_a_store(s3: S3Server) -> None:
    bucket = s3.new_bucket()
    files = open_files(f"s3://{bucket}")
    files.write("a/b", b"x")
    assert (files.url, files.list(), files.read("a/b")) == (f"s3://{bucket}", [("a/b", 1)], b"x")
    assert open_files(f"s3://{bucket}/a/").list() == [("b", 1)]


@MOUNTS
def test_the_folder_for_temporary_files_is_full(
    files: StoreFiles, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with small_disk(tmp_path / "disk", 1) as disk:
        monkeypatch.setattr(tempfile, "tempdir", str(disk))

        def write() -> None:
            with files.open_output("file") as out:
                for _ in range(20):
                    out.write(b"x" * MIB)

        with pytest.raises(RunError, match=r"cannot write s3://.*/file to a temporary file in .*/disk: No space left"):
            write()
    assert files.list() == []


def test_boto3_is_missing(s3_url: str) -> None:
    program = (
        "import sys; sys.modules['boto3'] = None\n"
        "from goodbot.cluster.spark.opening import open_files\n"
        f"open_files('/store'); open_files({s3_url!r})"
    )
    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)
    assert "InputError: a store in S3 needs boto3: pip install '.[spark]'" in done.stderr
