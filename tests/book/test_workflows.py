"""The workflows of .github: actions that exist and still run, and commands that are there."""

import pathlib
import re
import shutil
import subprocess

import pytest
import yaml

ROOT = pathlib.Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# The versions of each action that run on Node 24 (or need none). Those before ran on Node 20, which the runners of
# GitHub dropped in September 2026. A new action, or a new version, is a changed row here.
ACTIONS = {
    "actions/checkout": {5, 6},
    "actions/setup-python": {6},
    "actions/upload-artifact": {6, 7},
    "actions/configure-pages": {6},
    "actions/upload-pages-artifact": {5},
    "actions/deploy-pages": {5},
}


def jobs(path):
    return yaml.safe_load(path.read_text(encoding="utf-8"))["jobs"]


def steps(path):
    return [step for job in jobs(path).values() for step in job["steps"]]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_action_is_one_that_runs(path):
    used = [step["uses"] for step in steps(path) if "uses" in step]
    assert used
    for one in used:
        name, version = re.fullmatch(r"([\w-]+/[\w-]+)@v(\d+)", one).groups()
        assert int(version) in ACTIONS.get(name, {}), (
            f"{one}: take a version of {ACTIONS.get(name)}"
        )


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_workflow_says_what_it_may_do_and_for_how_long(path):
    assert "permissions:" in path.read_text(encoding="utf-8")
    assert all({"runs-on", "timeout-minutes"} <= set(job) for job in jobs(path).values())


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_every_command_of_a_workflow_exists(path):
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(encoding="utf-8"), re.M))
    words = "\n".join(step.get("run", "") for step in steps(path))
    assert set(re.findall(r"(?:^|\s)make ([a-z-]+)", words)) <= targets
    named = set(re.findall(r"(?<![\w/.])((?:tools|tests|spinlib|chapters|\.ci)/[\w./-]+)", words))
    assert not [name for name in named if not (ROOT / name).exists()]


def test_the_pythons_are_those_that_the_set_up_takes():
    """From the first to the last that tools/setup takes; also README and pyproject.toml say them."""
    first, last = re.search(
        r"\(3, (\d+)\) <= sys.version_info\[:2\] <= \(3, (\d+)\)",
        (ROOT / "tools" / "setup").read_text(encoding="utf-8"),
    ).groups()
    tried = {
        step.get("with", {}).get("python-version", "") for path in WORKFLOWS for step in steps(path)
    }
    matrix = jobs(ROOT / ".github" / "workflows" / "book.yml")["book"]["strategy"]["matrix"][
        "python"
    ]
    known = {f"3.{n}" for n in range(int(first), int(last) + 1)}
    assert {f"3.{first}", f"3.{last}"} <= set(matrix) <= known and tried - {
        "",
        "${{ matrix.python }}",
    } <= known
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'requires-python = ">=3.{first}"' in project
    assert set(re.findall(r"Python :: (3\.\d+)", project)) == known
    assert f"3.{first} to 3.{last}" in (ROOT / "README.md").read_text(encoding="utf-8")


def test_actionlint_has_nothing_to_say():
    """Where it is installed; the workflow `lint` runs it on each push.

    (Its package fetches the program while pip installs it, from a place that a set-up without a wide network cannot
    reach, so requirements.txt does not have it.)"""
    program = shutil.which("actionlint")
    if program is None:
        pytest.skip("there is no actionlint here")
    done = subprocess.run(
        [program, "-no-color", *map(str, WORKFLOWS)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout
