"""The wheel and the source distribution: what is in them, and that the wheel alone runs."""

import json
import re
import subprocess
import sys
import tarfile
import zipfile
from email.message import Message
from email.parser import Parser
from pathlib import Path

import pytest

from goodbot.cli.commands import COMMANDS
from programs import ROOT

PACKAGE = ROOT / "src" / "goodbot"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the wheel that was made of it."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


@pytest.fixture(scope="module")
def wheel(built: Path) -> zipfile.ZipFile:
    (file,) = built.glob("*.whl")
    return zipfile.ZipFile(file)


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return Parser().parsestr(wheel.read(name).decode())


def test_the_wheel_has_every_file_of_the_package(wheel: zipfile.ZipFile) -> None:
    ours = {path.relative_to(PACKAGE.parent) for path in PACKAGE.rglob("*") if path.is_file()}
    expected = {str(path) for path in ours if "__pycache__" not in path.parts}
    assert {name for name in wheel.namelist() if name.startswith("goodbot/")} == expected


NEEDED = [
    "goodbot/py.typed",
    "goodbot/cli/completions.json",
    "goodbot/web/templates/.*\\.html",
    "goodbot/web/static/.*\\.css",
    "goodbot/web/static/.*\\.js",
    "goodbot/web/locale/.*\\.po",
    "goodbot/demo/sites/.*\\.html",
    "goodbot/demo/sites/handbook/.*\\.md",
    "goodbot/exam/peers/.*\\.c?js",
    "goodbot/exam/peers/.*\\.py",
    "goodbot/exam/peers/.*\\.sh",
    "goodbot/exam/peers/.*\\.pl",
    "goodbot/registry/records/.*\\.toml",
    "goodbot-[^/]+\\.dist-info/licenses/LICENSE",
    "goodbot-[^/]+\\.dist-info/entry_points.txt",
    *(
        f"goodbot-[^/]+\\.data/data/share/man/man1/goodbot{name}\\.1"
        for name in ("", *(f"-{each}" for each in COMMANDS))
    ),
]


def test_the_wheel_has_what_goodbot_needs_when_it_runs(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    assert [pattern for pattern in NEEDED if not any(re.fullmatch(pattern, name) for name in names)] == []


STRAY = re.compile(r"(^|/)(tests?|shared|node_modules|\.[^/]+|__pycache__)/|\.(pyc|orig|rej|whl|gz)$|~$")


def test_the_wheel_has_nothing_else(wheel: zipfile.ZipFile) -> None:
    names = wheel.namelist()
    places = {re.sub(r"-[\d.]+(?=\.)", "", name.partition("/")[0]) for name in names}
    assert places == {"goodbot", "goodbot.dist-info", "goodbot.data"}
    assert [name for name in names if STRAY.search(name)] == []


def test_no_file_names_a_folder_of_the_machine_it_was_built_on(wheel: zipfile.ZipFile) -> None:
    here = str(ROOT).encode()
    assert [name for name in wheel.namelist() if here in wheel.read(name)] == []


def test_the_source_distribution(built: Path) -> None:
    (file,) = built.glob("*.tar.gz")
    with tarfile.open(file) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    documents = {"README.md", "LICENSE", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}
    places = {name.partition("/")[0] for name in names}
    assert places == {*documents, "src", "docs", "packaging", "pyproject.toml", "mkdocs.yml", "PKG-INFO", ".gitignore"}
    assert [name for name in names if STRAY.search(name)] == []
    units = {f"packaging/systemd/goodbot-{name}.service" for name in ("crawl", "serve")}
    assert units | {"packaging/Dockerfile", "packaging/description.py"} <= {*names}


def test_an_index_would_take_both(built: Path) -> None:
    files = [str(file) for file in built.iterdir()]
    command = [sys.executable, "-m", "twine", "--no-color", "check", "--strict", *files]
    checked = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (checked.returncode, checked.stdout.count("PASSED")) == (0, 2), checked.stdout


def test_the_description_leads_to_no_file_of_the_project(metadata: Message) -> None:
    text = metadata.get_payload()
    assert isinstance(text, str)
    assert text.startswith("# goodbot\n")
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert re.findall(r"\]\((?!https?:)[^)]*\)", text) == []
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"^#.*", text, re.MULTILINE) == re.findall(r"^#.*", readme, re.MULTILINE)


# ---- in a clean environment -----------------------------------------------------------------------------------------

EVERY_HELP = f"""
from goodbot.cli import main
for name in {[*COMMANDS]}:
    assert main([name, "--help"]) == 0, name
"""


@pytest.mark.long
def test_the_wheel_alone_runs_the_demo(built: Path, tmp_path: Path) -> None:
    """Needs the network: pip installs the dependencies from the package index."""
    (wheel,) = built.glob("*.whl")
    environment, empty = tmp_path / "environment", tmp_path / "empty"
    empty.mkdir()
    subprocess.run([sys.executable, "-m", "venv", str(environment)], check=True)
    install = [str(environment / "bin" / "pip"), "install", "--quiet", "--only-binary", ":all:", str(wheel)]
    installed = subprocess.run(install, check=False, capture_output=True, text=True)
    if re.search(r"NewConnectionError|No matching distribution|Temporary failure in name resolution", installed.stderr):
        pytest.skip(f"the package index does not answer: {installed.stderr.strip().splitlines()[-1]}")
    assert installed.returncode == 0, installed.stderr

    def run(*words: str) -> str:
        made = {"HOME": str(tmp_path), "PATH": f"{environment / 'bin'}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}
        ended = subprocess.run(words, check=False, capture_output=True, text=True, cwd=empty, env=made)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    assert json.loads(run("goodbot", "demo", "--once", "--json"))["searches"]
    assert run("python", "-m", "goodbot", "--version") == run("goodbot", "--version")
    assert run("python", "-c", EVERY_HELP)
    assert run("goodbot", "completion", "bash")
    assert [*empty.iterdir()] == []
