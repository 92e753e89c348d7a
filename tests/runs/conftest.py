"""Folders of runs, made by hand."""

import pytest

import made_up_runs


@pytest.fixture(scope="session")
def ended_pid():
    return made_up_runs.ended_process()


@pytest.fixture
def make_run(tmp_path, ended_pid):
    """Makes the folder of a run by name; see `made_up_runs.make_run`."""

    def make_run(name, **facts):
        return made_up_runs.make_run(tmp_path / name, pid=ended_pid, **facts)

    return make_run
