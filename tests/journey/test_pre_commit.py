"""goodbot where others write their robots.txt: as a hook of pre-commit, as an action of GitHub, as a line in any CI."""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "how-to" / "ci.md"
BAD = "User-agent: *\nDissallow: /private/\n"
GOOD = "User-agent: *\nDisallow: /private/\n\nSitemap: https://example.org/sitemap.xml\n"
UNTIDY = "user-agent:*\ndisallow:   /private/\n\nsitemap: https://example.org/sitemap.xml\n"
PACKAGE = ("pyproject.toml", "README.md", "LICENSE", "packaging", "src", ".pre-commit-hooks.yaml", "action.yml")
"""What is installed from this repository."""

_OURS = ("GIT_", "GOODBOT_", "PYTHONPATH", "VIRTUAL_ENV")
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
IDENTITY = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull} | {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "A"), ("EMAIL", "a@example.org"))
}


def run(*command: str | Path, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """A command to its end, with nothing of the repository this test may run in."""
    return subprocess.run(
        [str(part) for part in command],
        cwd=folder,
        env={**ENVIRONMENT, **IDENTITY, **environment},
        capture_output=True,
        text=True,
        check=False,
        timeout=800,
    )


def repository(folder: Path) -> str:
    """Everything in `folder` committed; gives the commit."""
    for command in (("init", "-q"), ("add", "-A"), ("commit", "-q", "-m", "all")):
        made = run("git", *command, folder=folder)
        assert made.returncode == 0, made.stderr
    return run("git", "rev-parse", "HEAD", folder=folder).stdout.strip()


def shown(language: str) -> list[str]:
    """The examples of that language on the page."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)


def load(name: str) -> Any:
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


# ---- pre-commit -----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """This working tree as a repository that hooks are installed from."""
    folder = tmp_path_factory.mktemp("goodbot")
    for name in PACKAGE:
        if (ROOT / name).is_dir():
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.mark.long
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_hooks_in_a_repository(source: Path, tmp_path: Path) -> None:
    """As the page has it, but that goodbot comes from here."""
    config = yaml.safe_load(shown("yaml")[0])
    config["repos"][0] |= {"repo": str(source), "rev": repository(source)}
    site = tmp_path / "site"
    (site / "shop").mkdir(parents=True)
    (site / ".pre-commit-config.yaml").write_text(json.dumps(config), encoding="utf-8")
    (site / "robots.txt").write_text(BAD, encoding="utf-8")
    (site / "shop" / "robots.txt").write_text(UNTIDY, encoding="utf-8")
    (site / "robots.txt.md").write_text(BAD, encoding="utf-8")
    repository(site)

    def pre_commit(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = (sys.executable, "-m", "pre_commit", *arguments)
        return run(*command, folder=site, PRE_COMMIT_HOME=str(tmp_path / "cache"))

    installed = pre_commit("install", "--install-hooks")
    assert installed.returncode == 0, installed.stdout + installed.stderr
    checked = pre_commit("run", "goodbot-check", "--all-files")
    assert checked.returncode == 1, checked.stdout + checked.stderr
    assert re.search(r"^robots\.txt:2:1: .*R203", checked.stdout, re.MULTILINE), checked.stdout
    assert "robots.txt.md" not in checked.stdout
    tidied = pre_commit("run", "goodbot-format", "--all-files")
    assert tidied.returncode == 1, tidied.stdout + tidied.stderr
    assert (site / "shop" / "robots.txt").read_text(encoding="utf-8") == GOOD
    assert run("git", "commit", "-q", "-a", "-m", "bad", folder=site, **_cache(tmp_path)).returncode == 0  # untouched
    (site / "robots.txt").write_text(BAD + "# again\n", encoding="utf-8")
    refused = run("git", "commit", "-q", "-a", "-m", "bad", folder=site, **_cache(tmp_path))
    assert refused.returncode == 1, refused.stderr
    assert "R203" in refused.stdout + refused.stderr
    (site / "robots.txt").write_text(GOOD, encoding="utf-8")
    taken = run("git", "commit", "-q", "-a", "-m", "good", folder=site, **_cache(tmp_path))
    assert taken.returncode == 0, taken.stdout + taken.stderr
    assert pre_commit("run", "--all-files").returncode == 0


def _cache(folder: Path) -> dict[str, str]:
    return {"PRE_COMMIT_HOME": str(folder / "cache")}


def test_the_hooks_are_hooks(tmp_path: Path) -> None:
    checked = run(sys.executable, "-m", "pre_commit", "validate-manifest", ROOT / ".pre-commit-hooks.yaml", folder=ROOT)
    assert checked.returncode == 0, checked.stdout
    for hook in load(".pre-commit-hooks.yaml"):
        wanted = re.compile(hook["files"])
        assert all(wanted.search(name) for name in ("robots.txt", "www/shop/robots.txt"))
        assert not any(wanted.search(name) for name in ("norobots.txt", "robots.txt.j2", "robotsxtxt"))
    config = tmp_path / "config.yaml"
    config.write_text(shown("yaml")[0], encoding="utf-8")
    assert run(sys.executable, "-m", "pre_commit", "validate-config", config, folder=ROOT).returncode == 0


# ---- GitHub ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("schema", "number"), [("github-actions", None), ("github-workflows", 1), ("gitlab-ci", 2)])
def test_the_schemas(schema: str, number: int | None, tmp_path: Path) -> None:
    """Those that GitHub's and GitLab's editors use, as check-jsonschema ships them."""
    file = ROOT / "action.yml"
    if number is not None:
        file = tmp_path / "example.yml"
        file.write_text(shown("yaml")[number], encoding="utf-8")
    checked = run(
        *(sys.executable, "-m", "check_jsonschema", "--builtin-schema", f"vendor.{schema}", file), folder=ROOT
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_nothing_that_is_given_becomes_script() -> None:
    """`${{ … }}` in a script is text that the shell runs."""
    steps = load("action.yml")["runs"]["steps"]
    assert [step["name"] for step in steps if "${{" in step.get("run", "")] == []


def test_every_input_is_used_and_explained() -> None:
    action = load("action.yml")
    used = set(re.findall(r"inputs\.([a-z-]+)", json.dumps(action["runs"])))
    assert used == set(action["inputs"])
    page = PAGE.read_text(encoding="utf-8")
    assert [name for name in used if f"`{name}`" not in page] == []


@pytest.mark.parametrize(
    ("given", "status", "said"),
    [
        ({}, 1, "::error file=robots.txt,line=2,col=1"),
        ({"FILES": "robots.txt\r\nmy site/robots.txt\n\n"}, 1, "::error file=robots.txt,line=2"),
        ({"FILES": "my site/robots.txt", "FAIL_ON": "info"}, 0, ""),
        ({"GOODBOT_CHECK_IGNORE": "R2 R608"}, 0, ""),
        ({"FILES": "--help"}, 2, "--help"),
        ({"FILES": "$(touch made); `touch made`"}, 2, "touch made"),
        ({"FAIL_ON": "$(touch made)"}, 2, "touch made"),
        ({"FILES": ""}, 2, ""),
    ],
)
def test_the_check_of_the_action(tmp_path: Path, given: Mapping[str, str], status: int, said: str) -> None:
    """The step as it stands there, in the shell GitHub runs it in."""
    (tmp_path / "my site").mkdir()
    (tmp_path / "robots.txt").write_text(BAD, encoding="utf-8")
    (tmp_path / "my site" / "robots.txt").write_text(GOOD, encoding="utf-8")
    action = load("action.yml")
    defaults = {key: action["inputs"][name]["default"] for key, name in (("FILES", "files"), ("FAIL_ON", "fail-on"))}
    given = {"GOODBOT": str(command_in(tmp_path)), "GOODBOT_CHECK_IGNORE": "", **defaults, **given}
    ran = bash(action["runs"]["steps"][-1]["run"], tmp_path, given)
    assert ran.returncode == status, ran.stdout + ran.stderr
    assert said in ran.stdout + ran.stderr
    assert not (tmp_path / "made").exists()


@pytest.mark.long
def test_the_action_installs_goodbot(source: Path, tmp_path: Path) -> None:
    script = load("action.yml")["runs"]["steps"][1]["run"]
    given = {"PYTHON": sys.executable, "PLACE": str(tmp_path / "my place"), "OWN": str(source), "VERSION": ""}
    installed = bash(script, tmp_path, given)
    assert installed.returncode == 0, installed.stderr
    assert run(tmp_path / "my place" / "bin" / "goodbot", "check", "--help", folder=tmp_path).returncode == 0


def bash(script: str, folder: Path, given: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return run("bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script, folder=folder, **given)


def command_in(folder: Path) -> Path:
    """`goodbot` of this working tree as a program."""
    program = folder / "bin" / "goodbot"
    program.parent.mkdir()
    program.write_text(
        f"#!{sys.executable}\nimport sys\nsys.path.insert(0, {str(ROOT / 'src')!r})\n"
        "from goodbot.cli import main\nsys.exit(main())\n",
        encoding="utf-8",
    )
    program.chmod(0o755)
    return program


# ---- the page -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_lines_of_the_page(tmp_path: Path) -> None:
    """Every command shown runs, on a file that passes."""
    (tmp_path / "robots.txt").write_text(GOOD, encoding="utf-8")
    program = command_in(tmp_path)
    lines = [line for block in shown("sh") for line in block.splitlines() if line.startswith("goodbot ")]
    assert lines
    for line in lines:
        ran = bash(line, tmp_path, {"PATH": f"{program.parent}:{os.environ['PATH']}"})
        assert ran.returncode == 0, line + ran.stdout + ran.stderr
    assert json.loads((tmp_path / "robots.json").read_text(encoding="utf-8")) == []
    assert json.loads((tmp_path / "robots.sarif").read_text(encoding="utf-8"))["version"] == "2.1.0"
