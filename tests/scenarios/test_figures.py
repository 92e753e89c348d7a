"""The figures of a run: one name for one quantity in every place where a run shows it."""

import csv
import json
import re
import signal

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.runs.evaluation.evaluate import run_evaluator
from tf_frame.session.interrupts import Interrupted, Interrupts
from tf_frame.testing.events import read_scalars
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup

OPTIONS = {"max_steps": 6, "log_every_n_steps": 2, "save_summaries_steps": 2}


@pytest.fixture
def run(tmp_path, capsys):
    """Runs the toy model; returns the result and the output."""

    def run(l2=0.5, interrupts=None, **options):
        values = {"model.l2": l2}
        setup = make_setup(
            ToyModel, ToyInput, str(tmp_path), values=values, **{**OPTIONS, **options}
        )
        result = run_setup(setup, interrupts=interrupts)
        return result, capsys.readouterr().out

    return run


def rows(folder):
    with (folder / "metrics.csv").open(newline="") as file:
        return list(csv.DictReader(file))


def scalars(folder):
    """Tag -> step -> value of the events of a folder."""
    values = {}
    for step, tag, value in read_scalars(folder):
        values.setdefault(tag, {})[step] = value
    return values


@pytest.mark.slow
def test_the_total_loss_and_the_data_loss_have_a_name_each_everywhere(run, tmp_path):
    result, output = run(eval_every_n_steps=4)
    by_row = {(row["split"], row["step"]): row for row in rows(tmp_path)}
    train = [("train", step) for step in "246"]
    # Loggers come before the save of their step, and evaluations after it.
    assert list(by_row) == [*train[:2], ("eval", "4"), train[2], ("eval", "6")]
    log = (tmp_path / "train.log").read_text()
    for step in ("2", "4", "6"):
        row = by_row["train", step]
        loss, total = float(row["loss"]), float(row["total_loss"])
        assert total > loss > 0
        assert f"step {step}/6  total_loss {total:.4f}  " in output
        assert re.search(rf"INFO step {step}: loss = {loss:.6g}, total_loss = {total:.6g}, ", log)
    assert result["total_loss"] == pytest.approx(float(by_row["train", "6"]["total_loss"]))
    assert result["metrics"]["loss"] == pytest.approx(float(by_row["eval", "6"]["loss"]))
    assert (result["metrics_step"], result["stopped_by"]) == (6, None)
    assert re.search(r"INFO step 4: evaluation: mean_absolute_error = .*, loss = ", log)
    trained, evaluated = scalars(tmp_path), scalars(tmp_path / "eval")
    assert "metrics/mean_absolute_error" in evaluated
    for tag in ("losses/loss", "losses/total_loss"):
        assert tag in trained and set(evaluated[tag]) == {4, 6}
    reader = tf.train.load_checkpoint(str(tmp_path))
    penalty = 0.5 * np.sum(reader.get_tensor("linear/weights") ** 2) / 2
    metrics = result["metrics"]
    assert metrics["total_loss"] == pytest.approx(metrics["loss"] + penalty, rel=1e-5)


@pytest.mark.slow
def test_without_a_penalty_there_is_one_loss(run, tmp_path):
    _, output = run(l2=0.0)
    assert "loss" in rows(tmp_path)[0] and "total_loss" not in rows(tmp_path)[0]
    assert "  loss " in output and "total_loss" not in output
    assert "losses/total_loss" not in scalars(tmp_path)


def test_regularization_none_leaves_the_penalty_out_of_the_evaluation_too(tmp_path):
    setup = make_setup(
        ToyModel, ToyInput, str(tmp_path), values={"model.l2": 0.5}, regularization="none"
    )
    source = setup.make_input()
    evaluator = run_evaluator(setup, model=setup.make_model(source.info), source=source)
    assert "total_loss" not in evaluator.evaluate(None).metrics
    evaluator.close()


@pytest.mark.slow
def test_a_stopped_run_writes_its_result(run, tmp_path, monkeypatch):
    interrupts = Interrupts()

    def stop_at_evaluation(self, *args, **kwargs):
        interrupts.received = signal.SIGTERM
        return evaluate(self, *args, **kwargs)

    from tf_frame.runs.evaluation.evaluator import Evaluator

    evaluate = Evaluator.evaluate
    run(max_steps=2, evaluate=False)
    monkeypatch.setattr(Evaluator, "evaluate", stop_at_evaluation)
    with pytest.raises(Interrupted):
        run(interrupts=interrupts, max_steps=5)
    result = json.loads((tmp_path / "result.json").read_text())
    assert (result["global_step"], result["stopped_by"], result["metrics"]) == (5, "SIGTERM", {})
    assert result["total_loss"] > 0 and result["metrics_step"] is None


def test_a_resumed_run_continues_the_table(run, tmp_path):
    run(max_steps=4)
    run(max_steps=8)
    steps = [(row["split"], row["step"]) for row in rows(tmp_path)]
    assert steps == [
        *(("train", "2"), ("train", "4"), ("eval", "4")),
        *(("train", "6"), ("train", "8"), ("eval", "8")),
    ]
