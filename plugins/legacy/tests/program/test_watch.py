"""Additions to old programs: profiles, saves on signals, finite checks, figures, exact resume."""

import csv

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame_legacy.program.watch.figures import scalars
from tf_frame_legacy.program.watch.runs import trains

_LOOP = """
import os, signal, sys
import tensorflow as tf
rate = tf.placeholder_with_default(0.1, [])
w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
loss = tf.reduce_sum(tf.square(w))
step = tf.train.get_or_create_global_step()
train_op = tf.train.GradientDescentOptimizer(rate).minimize(loss, step)
tf.summary.scalar("loss", loss)
merged = tf.summary.merge_all()
saver = tf.train.Saver()
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    saver.save(sess, "out/model", global_step=0)
    writer = tf.summary.FileWriter("out")
    for number in range(int(sys.argv[1])):
        _, text = sess.run([train_op, merged], {rate: float(sys.argv[2])})
        writer.add_summary(text, number)
        if number == 8:
            os.kill(os.getpid(), signal.SIGTERM)
    saver.save(sess, "out/model", global_step=step)
"""


def test_a_loop_of_its_own_is_profiled_saved_and_recorded(programs):
    script = programs.write(_LOOP)
    options = ["--profile_at_step=4", "--profile_dir=out", "--metrics_csv", "--save_on_signal"]
    programs.run(*options, script, 30, 0.1)
    assert programs.code == 143
    assert programs.errors.endswith("SIGTERM: saved out/model-10\n")
    reader = tf.train.load_checkpoint("out/model-10")
    np.testing.assert_allclose(reader.get_tensor("w"), 0.8**10, rtol=1e-5)
    with open("out/metrics.csv", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["step"]) for row in rows] == list(range(9))
    assert float(rows[1]["loss"]) == pytest.approx(3 * 0.8**2)
    names = {path.name.partition(".")[2] for path in programs.folder.glob("out/plugins/*/*/*")}
    assert names == {"xplane.pb", "steps.json.gz"}
    assert (programs.folder / "out/timeline-4.json").exists()


_MONITORED = """
import os, signal
import tensorflow as tf
w = tf.get_variable("w", [3], initializer=tf.ones_initializer())
step = tf.train.get_or_create_global_step()
loss = tf.reduce_sum(tf.square(w))
train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss, step)
with tf.train.MonitoredTrainingSession(checkpoint_dir="out", save_checkpoint_steps=5) as sess:
    for number in range(30):
        sess.run(train_op)
        if number == 8:
            os.kill(os.getpid(), signal.SIGTERM)
"""


def test_a_monitored_session_is_profiled_and_saved(programs):
    script = programs.write(_MONITORED)
    programs.run("--profile_at_step=4", "--profile_dir=profile", "--save_on_signal", script)
    assert programs.code == 143
    assert programs.errors.endswith("SIGTERM: saved out/model.ckpt-10\n")
    reader = tf.train.load_checkpoint("out/model.ckpt-10")
    np.testing.assert_allclose(reader.get_tensor("w"), 0.8**10, rtol=1e-5)
    assert list(programs.folder.glob("profile/plugins/*/*/*.xplane.pb"))


def test_without_options_nothing_is_added(programs):
    script = programs.write(_LOOP)
    run, save = tf.Session.run, tf.train.Saver.save
    programs.run(script, 3, 0.1)
    assert programs.code == 0
    assert sorted(path.name for path in programs.folder.glob("out/*.csv")) == []
    assert (tf.Session.run, tf.train.Saver.save) == (run, save)


def test_a_model_that_diverged_is_not_saved(programs):
    script = programs.write(_LOOP)
    programs.run("--check_finite", script, 3, "inf")
    assert programs.code == 1
    assert "the variable w is NaN or infinite; nothing was saved" in programs.errors
    assert tf.train.latest_checkpoint("out") == "out/model-0"


_ESTIMATOR = """
import os, signal, sys
import tensorflow as tf

def input_fn():
    data = tf.data.Dataset.range(40).shuffle(40).repeat().batch(4)
    data = data.map(lambda x: tf.cast(x, tf.float32) / 40.0)
    return data.map(lambda x: (x[:, None], x))

def model_fn(features, labels, mode):
    hidden = tf.layers.dense(features, 16, tf.nn.relu)
    hidden = tf.nn.dropout(hidden, keep_prob=0.5)
    loss = tf.losses.mean_squared_error(labels, tf.layers.dense(hidden, 1)[:, 0])
    step = tf.train.get_global_step()
    train_op = tf.train.AdamOptimizer(0.01).minimize(loss, step)
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

class Stop(tf.train.SessionRunHook):
    def after_run(self, context, values):
        os.kill(os.getpid(), signal.SIGTERM)

estimator = tf.estimator.Estimator(model_fn, sys.argv[1])
hooks = [Stop()] if "--stop" in sys.argv else None
estimator.train(input_fn, hooks, max_steps=int(sys.argv[2]))
print("trained")
"""


def variables(folder):
    reader = tf.train.load_checkpoint(str(folder))
    return {name: reader.get_tensor(name) for name in reader.get_variable_to_shape_map()}


@pytest.mark.usefixtures("control_flow_of_v1")
def test_an_estimator_stops_on_a_signal_and_goes_on_exactly(programs):
    script = programs.write(_ESTIMATOR)
    assert programs.run("--exact_resume", script, "whole", 4) == ["trained"]
    assert programs.run("--exact_resume", "--save_on_signal", script, "parts", 4, "--stop") == []
    assert programs.code == 143
    assert tf.train.latest_checkpoint("parts") == "parts/model.ckpt-1"
    assert programs.run("--exact_resume", "--attach", script, "parts", 4) == ["trained"]
    whole, parts = variables("whole"), variables("parts")
    assert set(whole) == set(parts)
    different = [
        name for name in whole if name.startswith("dense") and np.any(whole[name] != parts[name])
    ]
    assert not different
    assert (programs.folder / "parts/tasks/chief-0.json").exists()


@pytest.mark.slow
@pytest.mark.usefixtures("control_flow_of_v1")
def test_exact_resume_refuses_an_input_without_position(programs):
    python = "map(lambda x: tf.reshape(tf.py_func(lambda y: y, [x], x.dtype), [])).repeat()"
    script = programs.write(_ESTIMATOR.replace("repeat()", python))
    programs.run("--exact_resume", script, "model", 2)
    assert "the position in the input cannot be saved" in programs.errors


def test_runs_that_train_are_told_from_others():
    with tf.Graph().as_default() as graph:
        w = tf.get_variable("w", [2])
        train_op = tf.train.AdamOptimizer().minimize(tf.reduce_sum(w * w))
        both = tf.group(train_op, tf.no_op())
        assert trains(graph, {"op": both, "other": [w]})
        assert trains(graph, [w, ({"caller": w, object(): {"op": (both,)}},)])
        assert not trains(graph, [tf.global_variables_initializer(), w.assign([1.0, 2.0])])
        assert not trains(graph, ["no such name", w])


def test_scalars_of_both_kinds_of_summaries():
    old = tf.Summary(value=[tf.Summary.Value(tag="a", simple_value=2.0)])
    new = tf.Summary(value=[tf.Summary.Value(tag="b", tensor=tf.make_tensor_proto(3))])
    text = tf.Summary(value=[tf.Summary.Value(tag="c", tensor=tf.make_tensor_proto("x"))])
    assert scalars(old.SerializeToString()) == {"a": 2.0}
    assert scalars(new) == {"b": 3.0}
    assert scalars(text) == {}
