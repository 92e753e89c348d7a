"""Workflows of GitHub: few rights, pinned actions, commands that exist."""

import configparser
import re

import pytest
import yaml

from source_tree import ROOT

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
# Jobs that may do more than read the repository.
RIGHTS = {("release.yml", "publish"): {"id-token": "write"}}
_PINNED = re.compile(r"^\s*- uses: [\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$")


@pytest.fixture(params=WORKFLOWS, ids=lambda path: path.name)
def path(request):
    return request.param


@pytest.fixture
def jobs(path):
    return yaml.safe_load(path.read_text())["jobs"]


def test_a_job_may_read_and_no_more(path, jobs):
    assert yaml.safe_load(path.read_text())["permissions"] == {"contents": "read"}
    for name, job in jobs.items():
        assert job.get("permissions") == RIGHTS.get((path.name, name)), name
        assert job["timeout-minutes"] <= 300, name


def test_actions_are_pinned_by_commit_and_version(path):
    uses = [line for line in path.read_text().splitlines() if "uses:" in line]
    assert uses and all(_PINNED.match(line) for line in uses)


def test_an_action_has_one_version():
    text = "".join(path.read_text() for path in WORKFLOWS)
    pins = set(re.findall(r"uses: (\S+)@(\S+)", text))
    assert len(dict(pins)) == len(pins)


def test_no_workflow_has_secrets_or_runs_words_of_strangers(path, jobs):
    text = path.read_text()
    assert "secrets." not in text and "pull_request_target" not in text
    commands = [step["run"] for job in jobs.values() for step in job["steps"] if "run" in step]
    inside = re.findall(r"\$\{\{(.*?)\}\}", "\n".join(commands))
    assert all(word.strip().startswith("matrix.") for word in inside)
    checkouts = [
        step
        for job in jobs.values()
        for step in job["steps"]
        if step.get("uses", "").startswith("actions/checkout@")
    ]
    options = [step["with"].items() - {("fetch-depth", 0)} for step in checkouts]
    assert all(each == {("persist-credentials", False)} for each in options)


def test_programs_are_in_the_repository(path):
    for name in re.findall(r"(?<=python )tools/\S+|(?<=-r )\S+", path.read_text()):
        assert (ROOT / name).is_file()


def test_the_environments_are_in_tox(jobs):
    config = configparser.RawConfigParser()
    config.read(ROOT / "tox.ini")
    listed = re.split(r",\s*", config["tox"]["env_list"])
    named = [name.removeprefix("testenv:") for name in config.sections()]
    for job in jobs.values():
        matrix = job.get("strategy", {}).get("matrix", {})
        values = [*matrix.get("env", ()), *(row["env"] for row in matrix.get("include", ()))]
        for step in job["steps"]:
            for words in re.findall(r"tox -e (\$\{\{.*?\}\}|\S+)", step.get("run", "")):
                for environment in values if words.startswith("$") else [words]:
                    assert environment in [*listed, *named]


def test_the_publishing_job_checks_nothing_out_and_needs_the_tested_files():
    release = yaml.safe_load((ROOT / ".github/workflows/release.yml").read_text())
    # PyYAML reads the key `on` as true.
    assert release[True] == {"push": {"tags": ["v*"]}}
    publish = release["jobs"]["publish"]
    assert publish["environment"] == "pypi"
    assert publish["needs"] == ["build", "install"]
    used = [step["uses"].partition("@")[0] for step in publish["steps"]]
    assert used == ["actions/download-artifact", "pypa/gh-action-pypi-publish"]
    assert publish["steps"][-1]["with"] == {"attestations": True}
