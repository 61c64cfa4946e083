"""What can be a store, and what is said of anything else."""

from pathlib import Path

import pytest

from goodbot.cluster.spark.opening import open_files
from goodbot.errors import InputError


@pytest.mark.parametrize("form", ["{}", "file://{}", "FILE://{}", "file://{}/"])
def test_a_folder_is_a_store(form: str, tmp_path: Path) -> None:
    folder = tmp_path / "a b"
    url = form.format(folder)
    files = open_files(url if form == "{}" else url.replace(" ", "%20"))
    assert files.url == str(folder)
    assert not folder.exists()
    files.write("x", b"")
    assert folder.is_dir()


def test_a_relative_path_is_of_this_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("store", "./store", "a:b"):
        files = open_files(path)
        monkeypatch.chdir("/")
        files.write("x", b"")
        monkeypatch.chdir(tmp_path)
    assert (tmp_path / "store" / "x").exists()
    assert (tmp_path / "a:b" / "x").exists()


@pytest.mark.parametrize(
    ("url", "text"),
    [
        (
            "",
            "--store is empty or has control characters: give a local or mounted folder, file:///FOLDER or s3://BUCKET/FOLDER",
        ),
        ("a\nb", "--store is empty or has control characters: give a local or mounted folder"),
        (
            "hdfs://me:sesame@namenode/store",
            "a store cannot be at hdfs://; use a local or mounted folder, file:///FOLDER",
        ),
        ("https://host/store", "a store cannot be at https://"),
        ("postgresql://me:sesame@host/db", "a store cannot be at postgresql://"),
        ("s3a://bucket/store", "write s3:// instead of s3a://"),
        ("S3N://bucket/store", "write s3:// instead of s3n://"),
        ("s3://", "the bucket is missing"),
        ("s3:///store", "the bucket is missing"),
        ("s3:bucket/store", "the bucket is missing"),
        ("s3://me:sesame@bucket/store", "credentials come from AWS_ACCESS_KEY_ID"),
        (
            "s3://localhost:9000/bucket",
            "the name of the bucket in s3://localhost:9000/bucket is not valid: .*AWS_ENDPOINT_URL",
        ),
        ("s3://b/store", "the name of the bucket in s3://b/store is not valid"),
        ("s3://bucket/a//b", "s3://bucket/a//b: a name in the path is empty or begins with a dot"),
        ("s3://bucket/../b", "a name in the path is empty or begins with a dot"),
        ("file:store", "must be file:///ABSOLUTE/PATH"),
        ("file://host/store", "must be file:///ABSOLUTE/PATH"),
        ("~/store", "~ was not expanded"),
    ],
)
def test_what_cannot_be_a_store(url: str, text: str) -> None:
    with pytest.raises(InputError, match=text) as caught:
        open_files(url)
    assert "\n" not in str(caught.value)
    assert "sesame" not in str(caught.value)


def test_a_file_is_no_store(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"")
    with pytest.raises(InputError, match="file is a file, not a folder"):
        open_files(str(tmp_path / "file"))
