"""A resumed run makes up the evaluations and rows that a killed run did not complete."""

import csv
import dataclasses
import json

import pytest

from tf_frame.hooks.base import Hook, Phase
from tf_frame.hooks.cadence import Cadence
from tf_frame.plugin.kinds import HOOK
from tf_frame.testing.toy import ToyModel, installed_plugin

OPTIONS = {
    "max_steps": 9,
    "save_checkpoint_steps": 4,
    "eval_every_n_steps": 4,
    "log_every_n_steps": 2,
    "keep_best": 1,
    "evaluate": True,
}


class Killed(Exception):
    """Stands for the end of the process."""


class Kill(Hook):
    """Ends the run after step 4 is saved, and before it is evaluated."""

    phase = Phase.EVALUATE

    def __init__(self):
        super().__init__(Cadence(at_steps=[4]))

    def after_step(self, run_context, run_values, step):
        raise Killed


class KilledModel(ToyModel):
    kills = True

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        return dataclasses.replace(output, hooks=[Kill()] if self.kills else [])


def rows(folder):
    """Without times and rates."""
    with (folder / "metrics.csv").open(newline="") as file:
        return [
            {name: cell for name, cell in row.items() if name not in ("time", "steps_per_sec")}
            for row in csv.DictReader(file)
        ]


@pytest.fixture
def killed(go, monkeypatch):
    """The folder of a run that was killed at step 4."""
    with pytest.raises(Killed):
        go(KilledModel, **OPTIONS)
    monkeypatch.setattr(KilledModel, "kills", False)


def test_an_evaluation_the_best_checkpoint_and_rows_are_those_of_an_unharmed_run(
    killed, go, tmp_path, other_run
):
    assert [row["step"] for row in rows(tmp_path)] == ["2", "4"]  # Logged before the save.
    assert not (tmp_path / "best").exists()
    _, said = go(KilledModel, **OPTIONS)
    assert "evaluating step 4, which an earlier run did not complete" in said
    unharmed = other_run(KilledModel, **OPTIONS)
    assert rows(tmp_path) == rows(unharmed)
    assert [row["step"] for row in rows(tmp_path) if row["split"] == "eval"] == ["4", "8", "9"]
    best = [json.loads((path / "best" / "best.json").read_text()) for path in (tmp_path, unharmed)]
    assert best[0] == best[1]


def test_what_is_complete_is_not_evaluated_again(go):
    go(**OPTIONS | {"max_steps": 8})
    _, said = go(**OPTIONS)
    assert "did not complete" not in said


def test_a_run_that_had_to_stop_early_does_not_go_on_and_says_why(go):
    stop = installed_plugin(HOOK, "early_stopping", {"h.metric": "loss", "h.threshold": 1e6}, "h")
    result, said = go(**OPTIONS, hooks=[stop])
    assert result["global_step"] == 4 and "early stopping at global step 4" in said
    assert "training was stopped at step 4 of 9 by --hook early_stopping" in said
    assert result["ended_by"] == "--hook early_stopping"
    again, said = go(**OPTIONS, hooks=[stop])
    assert again["global_step"] == 4 and again["metrics"] == result["metrics"]
    assert "for early stopping; early stopping at global step 4" in said
    assert "training was stopped at step 4 of 9" in said
