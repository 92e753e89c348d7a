"""Evaluation under the names of tf.contrib.training and slim."""

import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from event_files import summaries
from sessions import save_variables
from tf_frame_legacy import evaluation, training_evaluation

from .signatures import list_arguments


@pytest.fixture
def save(tmp_path):
    """Saves `w` at a step into `tmp_path/run`."""

    def save(step, w):
        values = {"w": np.float32(w), "global_step": np.int64(step)}
        return save_variables(tmp_path / "run" / "model.ckpt", values, global_step=step)

    return save


@pytest.fixture
def mean():
    """Value and update of the mean of w, w + 1, w + 2 ... over the batches 0, 1, 2 ..."""
    with tf.Graph().as_default():
        tf.train.create_global_step()
        w = tf.get_variable("w", [])
        batches = tf.data.make_initializable_iterator(tf.data.Dataset.range(10))
        tf.add_to_collection(tf.GraphKeys.TABLE_INITIALIZERS, batches.initializer)
        yield tf.metrics.mean(w + tf.cast(batches.get_next(), tf.float32))


@pytest.fixture
def lines(monkeypatch):
    """The lines that are logged."""
    lines = []
    monkeypatch.setattr(tf.logging, "info", lambda text, *values: lines.append(text % values))
    return lines


stop_after = training_evaluation.StopAfterNEvalsHook
CONTRIB_ONCE = (
    "checkpoint_path, master='', scaffold=None, eval_ops=None, feed_dict=None, final_ops=None, "
    "final_ops_feed_dict=None, hooks=None, config=None"
)
CONTRIB_REPEATEDLY = (
    "checkpoint_dir, master='', scaffold=None, eval_ops=None, feed_dict=None, final_ops=None, "
    "final_ops_feed_dict=None, eval_interval_secs=60, hooks=None, config=None, "
    "max_number_of_evaluations=None, timeout=None, timeout_fn=None"
)
SLIM_ONCE = (
    "master, checkpoint_path, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, "
    "eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, summary_op=0, "
    "summary_op_feed_dict=None, variables_to_restore=None, session_config=None, hooks=None"
)
SLIM_LOOP = (
    "master, checkpoint_dir, logdir, num_evals=1, initial_op=None, initial_op_feed_dict=None, "
    "init_fn=None, eval_op=None, eval_op_feed_dict=None, final_op=None, final_op_feed_dict=None, "
    "summary_op=0, summary_op_feed_dict=None, variables_to_restore=None, eval_interval_secs=60, "
    "max_number_of_evaluations=None, session_config=None, timeout=None, timeout_fn=None, "
    "hooks=None"
)


@pytest.mark.parametrize(
    "function, signature",
    [
        (training_evaluation.evaluate_once, CONTRIB_ONCE),
        (training_evaluation.evaluate_repeatedly, CONTRIB_REPEATEDLY),
        (evaluation.evaluate_once, SLIM_ONCE),
        (evaluation.evaluate_repeatedly, CONTRIB_REPEATEDLY),
        (evaluation.evaluation_loop, SLIM_LOOP),
        (
            evaluation.wait_for_new_checkpoint,
            "checkpoint_dir, last_checkpoint=None, seconds_to_sleep=1, timeout=None",
        ),
        (
            evaluation.checkpoints_iterator,
            "checkpoint_dir, min_interval_secs=0, timeout=None, timeout_fn=None",
        ),
        (evaluation.StopAfterNEvalsHook, "num_evals, log_progress=True"),
        (
            evaluation.SummaryAtEndHook,
            "log_dir=None, summary_writer=None, summary_op=None, feed_dict=None",
        ),
    ],
)
def test_the_arguments_and_defaults_are_the_old_ones(function, signature):
    assert list_arguments(function) == signature


@pytest.mark.parametrize("form", [lambda op: op, lambda op: [op], lambda op: {"mean": op}])
def test_one_evaluation_runs_its_ops_so_often_and_returns_the_final_values(
    save, mean, form, variable_mode
):
    value, update = mean
    eval_ops = form(update)
    values = training_evaluation.evaluate_once(
        save(1, 5.0), eval_ops=eval_ops, final_ops={"mean": value}, hooks=[stop_after(4)]
    )
    assert values == {"mean": 5.0 + np.mean([0, 1, 2, 3])}
    assert not isinstance(eval_ops, dict) or list(eval_ops) == ["mean"]


def test_without_a_hook_an_evaluation_goes_to_the_end_of_the_input_or_runs_final_ops(save, mean):
    (value, update), step = mean, tf.train.get_global_step()
    assert training_evaluation.evaluate_once(save(1, 5.0), eval_ops=update, final_ops=value) == 9.5
    assert training_evaluation.evaluate_once(save(3, 5.0), final_ops=step) == 3
    assert training_evaluation.evaluate_once(save(3, 5.0)) is None


def test_feeds_reach_the_ops_they_are_for(save, mean):
    fed = tf.placeholder(tf.float32, [])
    value, update = tf.metrics.mean(fed)
    feeds = {"feed_dict": {fed: 7.0}, "final_ops_feed_dict": {fed: 1.0}}
    result = training_evaluation.evaluate_once(
        save(1, 5.0), eval_ops=update, final_ops=value + fed, hooks=[stop_after(2)], **feeds
    )
    assert result == 8.0


@pytest.mark.parametrize("with_scaffold", [False, True])
def test_hooks_of_tensorflow_count_and_a_local_init_op_initialises_the_eval_step(
    save, mean, with_scaffold
):
    from tensorflow.python.training.evaluation import _StopAfterNEvalsHook

    value, update = mean
    local = tf.group(*[v.initializer for v in tf.local_variables()], tf.tables_initializer())
    options = {"hooks": [_StopAfterNEvalsHook(2)]}
    if with_scaffold:
        scaffold = tf.train.Scaffold(local_init_op=local)
        options = {"hooks": [stop_after(2)], "scaffold": scaffold}
    path = save(1, 5.0)
    result = training_evaluation.evaluate_once(path, eval_ops=update, final_ops=value, **options)
    assert result == 5.5


def test_each_new_checkpoint_is_evaluated_from_its_beginning(save, mean, tmp_path):
    value, update = mean
    save(1, 5.0)

    class Train(tf.train.SessionRunHook):
        """Saves another checkpoint whenever an evaluation ends."""

        def end(self, session):
            values.append(session.run([tf.train.get_global_step(), value]))
            if len(values) < 3:
                save(len(values) + 1, 5.0 + len(values))

    values = []
    hooks, folder = [stop_after(3), Train()], str(tmp_path / "run")
    options = {"eval_interval_secs": 0, "timeout": 0, "hooks": hooks}
    result = training_evaluation.evaluate_repeatedly(
        folder, eval_ops=update, final_ops=value, **options
    )
    assert values == [[1, 6.0], [2, 7.0], [3, 8.0]]
    assert result == 8.0
    assert len(hooks) == 2
    options = {"final_ops": value, "max_number_of_evaluations": 1}
    assert training_evaluation.evaluate_repeatedly(folder, **options) == 0.0


def test_the_timeout_function_decides_about_the_end(tmp_path, mean, save):
    timeouts = []

    def timeout_fn():
        timeouts.append(1)
        if len(timeouts) == 2:
            save(4, 1.0)
        return len(timeouts) == 3

    options = {"eval_interval_secs": 0, "timeout": 0, "timeout_fn": timeout_fn}
    step = training_evaluation.evaluate_repeatedly(
        str(tmp_path / "run"), final_ops=tf.train.get_global_step(), **options
    )
    assert (step, len(timeouts)) == (4, 3)


def test_waiting_for_a_checkpoint_has_the_old_lines(save, tmp_path, lines):
    folder = str(tmp_path / "run")
    assert evaluation.wait_for_new_checkpoint(folder, timeout=0) is None
    path = save(1, 1.0)
    assert evaluation.wait_for_new_checkpoint(folder, timeout=0) == path
    assert evaluation.wait_for_new_checkpoint(folder, path, timeout=0) is None
    waiting = f"Waiting for new checkpoint at {folder}"
    assert lines == [waiting, waiting, f"Found new checkpoint at {path}", waiting]
    del lines[:]
    assert list(evaluation.checkpoints_iterator(folder, timeout=0)) == [path]
    assert lines[:2] == [waiting, f"Found new checkpoint at {path}"]
    assert lines[-1] == "Timed-out waiting for a checkpoint."


@pytest.mark.parametrize(
    "num_evals, expected",
    [
        (3, ["[1/3]", "[2/3]", "[3/3]"]),
        (None, [f"[{i}]" for i in range(1, 11)]),
    ],
)
def test_progress_is_logged(save, mean, lines, num_evals, expected):
    path, hooks = save(1, 5.0), [stop_after(num_evals)]
    training_evaluation.evaluate_once(path, eval_ops=mean[1], hooks=hooks)
    assert [line.split()[1] for line in lines if line.startswith("Evaluation ")] == expected
    assert lines[0].startswith("Starting evaluation at 2")
    assert lines[-2].startswith("Finished evaluation at 2")
    assert lines[-1].startswith("Inference Time : ")


def test_of_many_evaluations_every_tenth_part_is_logged_and_none_if_not_wanted(save, mean, lines):
    for log_progress in (True, False):
        del lines[:]
        path, hooks = save(1, 5.0), [stop_after(45, log_progress=log_progress)]
        training_evaluation.evaluate_once(path, eval_ops=tf.constant(0), hooks=hooks)
        counts = [line.split()[1] for line in lines if line.startswith("Evaluation ")]
        tenths = [*range(4, 45, 4), 45]
        assert counts == ([f"[{count}/45]" for count in tenths] if log_progress else [])


def test_the_eval_step_is_made_once_and_several_are_refused():
    with tf.Graph().as_default():
        step = evaluation.get_or_create_eval_step()
        assert evaluation.get_or_create_eval_step() is step
        assert (step.op.name, step.dtype.base_dtype, step.shape) == ("eval_step", tf.int64, [])
        assert (tf.local_variables(), tf.trainable_variables()) == ([step], [])
        tf.add_to_collection(tf.GraphKeys.EVAL_STEP, step)
        with pytest.raises(ValueError, match=r"^Multiple tensors added to tf.GraphKeys.EVAL_STEP$"):
            evaluation.get_or_create_eval_step()


def written(folder):
    return [(step, value.tag, value.simple_value) for step, value in summaries(folder)]


def test_slims_loop_evaluates_and_summarises_each_checkpoint(save, mean, tmp_path):
    value, update = mean
    save(2, 5.0)
    tf.summary.scalar("of_all", value)
    folders = [str(tmp_path / name) for name in ("run", "eval")]
    options = {"num_evals": 2, "max_number_of_evaluations": 1}
    result = evaluation.evaluation_loop("", *folders, eval_op=update, final_op=value, **options)
    assert result == 5.5
    assert written(tmp_path / "eval") == [(2, "of_all", 5.5)]


def test_slim_restores_the_variables_asked_for_and_summarises_what_it_is_given(save, tmp_path):
    with tf.Graph().as_default():
        step, other = tf.train.create_global_step(), tf.get_variable("other", [])
        fed = tf.placeholder(tf.float32, [])
        result = evaluation.evaluate_once(
            "",
            save(2, 5.0),
            str(tmp_path / "eval"),
            num_evals=None,
            final_op=other + fed,
            final_op_feed_dict={fed: 1.0},
            summary_op=tf.summary.scalar("fed", fed, collections=[]),
            summary_op_feed_dict={fed: 3.0},
            variables_to_restore={"w": other, "global_step": step},
        )
    assert result == 6.0
    assert written(tmp_path / "eval") == [(2, "fed", 3.0)]


def test_slim_writes_no_summaries_where_none_are_wanted(save, mean, tmp_path):
    tf.summary.scalar("mean", mean[0])
    folder = tmp_path / "eval"
    evaluation.evaluate_once("", save(1, 5.0), str(folder), eval_op=mean[1], summary_op=None)
    assert not folder.exists()


def test_the_hook_for_summaries_takes_all_of_the_graph_and_adds_an_operation_once(
    save, mean, tmp_path
):
    with pytest.raises(ValueError, match=r"^One of log_dir or summary_writer should be used.$"):
        evaluation.SummaryAtEndHook()
    tf.summary.scalar("weight", tf.global_variables("w")[0])
    path, hook = save(4, 5.0), evaluation.SummaryAtEndHook(str(tmp_path / "eval"))
    sizes = []
    for _ in range(3):
        training_evaluation.evaluate_once(path, hooks=[hook])
        sizes.append(len(tf.get_default_graph().get_operations()))
    assert written(tmp_path / "eval") == [(4, "weight", 5.0)] * 3
    assert sizes[1] == sizes[2]


def test_the_hook_for_summaries_takes_a_writer(save, mean):
    class Writer:
        def __init__(self):
            self.added, self.flushed = [], 0

        def add_summary(self, summary, step):
            self.added.append((tf.Summary.FromString(summary).value[0].simple_value, step))

        def flush(self):
            self.flushed += 1

    writer, fed = Writer(), tf.placeholder(tf.float32, [])
    summary = tf.summary.scalar("fed", fed, collections=[])
    hook = evaluation.SummaryAtEndHook(
        summary_writer=writer, summary_op=summary, feed_dict={fed: 2.0}
    )
    training_evaluation.evaluate_once(save(4, 5.0), hooks=[hook])
    assert (writer.added, writer.flushed) == ([(2.0, 4)], 1)


def test_a_damaged_checkpoint_is_passed_over(save, mean, tmp_path, caplog):
    save(1, 5.0)
    with open(save(2, 6.0) + ".index", "wb") as file:
        file.write(b"nothing")
    with caplog.at_level(logging.WARNING, "tf_frame"):
        options = {"final_ops": tf.train.get_global_step(), "eval_interval_secs": 0, "timeout": 0}
        step = training_evaluation.evaluate_repeatedly(str(tmp_path / "run"), **options)
    assert step == 1
    assert "passing over a damaged checkpoint" in caplog.text
