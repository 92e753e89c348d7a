"""Sweeps whose runs are fakes."""

import json
import sys
from pathlib import Path

import pytest

from tf_frame.cli import main as command_line

RUN = ("--", "run", "--plugin", "classification", "--max_steps", "60", "--eval_every_n_steps", "20")
SPACE = ("--metric", "accuracy", "--space", "learning_rate=log 0.001..1", "--pruner", "none")


@pytest.fixture
def sweep(tmp_path, monkeypatch, capsys):
    """Calls `tf-frame sweep` in a folder of its own; returns exit code, output and errors."""
    from tf_frame_sweep import candidate

    program = (sys.executable, str(Path(__file__).with_name("fake_run.py")))
    monkeypatch.setattr(candidate, "PROGRAM", program)
    monkeypatch.chdir(tmp_path)

    def sweep(*words, run=RUN, space=SPACE, runs=None):
        monkeypatch.setenv("FAKE_RUNS", json.dumps(runs or {}))
        code = command_line.main(["sweep", *space, "--sweep_dir", "s", *words, *run])
        out, err = capsys.readouterr()
        return code, out, err

    return sweep


@pytest.fixture
def trials(tmp_path):
    """Returns the trials of the study, in their order."""
    import optuna
    from optuna.storages import JournalStorage
    from optuna.storages.journal import JournalFileBackend

    def trials():
        storage = JournalStorage(JournalFileBackend(str(tmp_path / "s" / "study.journal")))
        return optuna.load_study(study_name="s", storage=storage).get_trials()

    return trials
