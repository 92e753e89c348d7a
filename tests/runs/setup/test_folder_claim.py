import dataclasses
import fcntl
import os
import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tf_frame.errors import ConfigError
from tf_frame.runs.setup.folder_claim import claimed, launching, refuse_if_busy


@dataclasses.dataclass
class Setup:
    """The part of a `TrainingSetup` that a claim needs."""

    model_dir: str
    is_default_dir: bool = False


def test_a_new_folder_goes_with_a_run_that_fails_at_once(tmp_path):
    folder = tmp_path / "a" / "b"
    with pytest.raises(ValueError), claimed(Setup(f"{folder}/")):
        (folder / "train.log").write_text("")
        (folder / "config.yaml").write_text("plugin: x")
        raise ValueError
    assert not folder.exists()


@pytest.mark.parametrize("reason", ["was there", "has begun"])
def test_what_was_there_or_has_begun_stays(tmp_path, reason):
    folder = tmp_path / "run"
    if reason == "was there":
        folder.mkdir()
    with pytest.raises(ValueError), claimed(Setup(str(folder))):
        if reason == "has begun":
            (folder / "checkpoint").write_text("")
        raise ValueError
    assert folder.exists()


def test_a_run_that_ends_well_keeps_its_folder(tmp_path):
    with claimed(Setup(str(tmp_path / "run"))):
        pass
    assert (tmp_path / "run").exists()


def test_of_two_runs_in_one_folder_the_second_is_refused_and_removes_nothing(tmp_path):
    setup = Setup(str(tmp_path / "run"))
    with claimed(setup):
        holder = rf"\(process {os.getpid()} on .*\); wait"
        with pytest.raises(ConfigError, match=f"another run is writing to .*run {holder}"):
            claimed(setup).__enter__()
        with pytest.raises(ConfigError):
            refuse_if_busy(setup.model_dir)
        assert (tmp_path / "run" / "run.lock").exists()
    refuse_if_busy(setup.model_dir)


def test_a_lock_of_a_folder_that_was_removed_meanwhile_counts_for_nothing(tmp_path, monkeypatch):
    folder, lock = tmp_path / "run", fcntl.flock

    def remove_first(*arguments):
        monkeypatch.undo()  # Once, as by a run that failed at its start.
        shutil.rmtree(folder)
        lock(*arguments)

    monkeypatch.setattr(fcntl, "flock", remove_first)
    with claimed(Setup(str(folder))), pytest.raises(ConfigError):
        refuse_if_busy(str(folder))


def test_a_folder_that_is_removed_can_be_taken_at_once(tmp_path, monkeypatch):
    """Files that the next run writes while the old folder is being removed stay."""
    folder, remove = tmp_path / "run", shutil.rmtree

    def meanwhile(path):
        assert not folder.exists()
        with claimed(Setup(str(folder))):
            (folder / "config.yaml").write_text("of the next run")
        remove(path)

    monkeypatch.setattr(shutil, "rmtree", meanwhile)
    with pytest.raises(ValueError), claimed(Setup(str(folder))):
        (folder / "config.yaml").write_text("of the first run")
        raise ValueError
    assert (folder / "config.yaml").read_text() == "of the next run"
    assert os.listdir(tmp_path) == ["run"]


def test_of_two_launchers_in_one_folder_the_second_is_refused(tmp_path):
    with launching(str(tmp_path)):
        with pytest.raises(ConfigError, match="another tf-frame launch runs its job in .*process"):
            launching(str(tmp_path)).__enter__()
        with claimed(Setup(str(tmp_path))):  # The chief of the job.
            pass


@pytest.mark.parametrize(
    "name", ["train.log", ".result.json.partial", "checkpoint", "tasks/.chief-0.json.partial"]
)
def test_a_pipe_among_the_files_of_a_run_is_refused(tmp_path, name):
    """A run that opened it to write would wait for a reader, without a line and for ever."""
    pipe = tmp_path / name
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    with pytest.raises(ConfigError, match=f"{name} is a pipe, a socket or a device"):
        claimed(Setup(str(tmp_path))).__enter__()
    pipe.unlink()
    pipe.symlink_to("nowhere")
    with claimed(Setup(str(tmp_path))):
        pass


def test_a_lock_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "run.lock").mkdir()
    with pytest.raises(ConfigError, match="run.lock cannot be written: Is a directory; choose"):
        claimed(Setup(str(tmp_path))).__enter__()


def test_runs_that_start_in_one_second_have_folders_of_their_own(tmp_path):
    """Every other one fails, and takes only its own folder along."""
    setup, together = Setup(str(tmp_path / "toy-1"), is_default_dir=True), threading.Barrier(12)

    def start(number):
        together.wait()
        with claimed(setup) as own:
            (Path(own.model_dir) / "owner").write_text(str(number))
            together.wait()
            if number % 2:
                raise ValueError
            return own.model_dir

    with ThreadPoolExecutor(12) as pool:
        runs = list(map(pool.submit, [start] * 12, range(12)))
    failed = [run.exception() is not None for run in runs]
    assert failed == [False, True] * 6
    owners = {run.result(): str(number) for number, run in enumerate(runs) if not number % 2}
    assert {str(path): (path / "owner").read_text() for path in tmp_path.iterdir()} == owners
