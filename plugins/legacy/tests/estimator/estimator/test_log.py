import logging
import sys

import pytest
import tensorflow.compat.v1 as tf

import forked
from tf_frame_legacy import estimator
from tf_frame_legacy.estimator.estimator import follow_tensorflow

SCRIPT = """
import sys
import tensorflow.compat.v1 as tf
from tf_frame_legacy import estimator

tf.logging.set_verbosity(getattr(tf.logging, sys.argv[1]))

def model_fn(features, labels, mode):
    weight = tf.get_variable("weight", [], initializer=tf.ones_initializer())
    loss = tf.reduce_mean(tf.square(weight * features - labels))
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss, tf.train.get_global_step())
    return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

input_fn = lambda: tf.data.Dataset.from_tensors(([1.0], [3.0]))
regressor = estimator.Estimator(model_fn, sys.argv[2], estimator.RunConfig(log_step_count_steps=1))
regressor.train(input_fn)
regressor.evaluate(input_fn)
"""


@pytest.mark.process
@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("level", "shown"), [("INFO", 1), pytest.param("ERROR", 0, marks=pytest.mark.slow)]
)
def test_a_script_sees_its_training_at_the_level_of_tensorflow(tmp_path, level, shown):
    words = [sys.executable, "-c", SCRIPT, level, str(tmp_path / "model")]
    log = forked.run(words, capture_output=True, text=True, check=True).stderr
    assert log.count("step 1: loss = 4\n") == shown
    assert log.count(f"saved {tmp_path}/model/model.ckpt-1\n") == shown
    # The step makes the weight 3.
    evaluated = "INFO:tf_frame:Saving dict for global step 1: global_step = 1, loss = 0.0\n"
    assert log.count(evaluated) == shown


@pytest.fixture
def loggers():
    """tf-frame's log and TensorFlow's, without levels until the test ends."""
    both = logging.getLogger("tf_frame"), tf.get_logger()
    before = [logger.level for logger in both]
    for logger in both:
        logger.setLevel(logging.NOTSET)
    yield both
    for logger, level in zip(both, before, strict=True):
        logger.setLevel(level)


def test_it_says_as_much_as_tensorflow_and_never_less_than_before(loggers):
    tf_frame_log, _ = loggers
    tf_frame_log.setLevel(logging.ERROR)
    follow_tensorflow()
    assert tf_frame_log.level == logging.ERROR
    for level in (tf.logging.DEBUG, tf.logging.ERROR):
        tf.logging.set_verbosity(level)
        follow_tensorflow()
        assert tf_frame_log.level == logging.DEBUG


def test_where_somebody_reads_the_log_it_gets_no_other_place(loggers):
    tf_frame_log, _ = loggers
    tf_frame_log.addHandler(handler := logging.NullHandler())
    try:
        follow_tensorflow()
        assert tf_frame_log.handlers == [handler]
    finally:
        tf_frame_log.removeHandler(handler)


def test_a_global_step_that_does_not_move_is_warned_of(tmp_path, monkeypatch):
    def model_fn(features, labels, mode):
        weight = tf.get_variable("weight", [], initializer=tf.zeros_initializer())
        loss = weight**2 + 0 * tf.reduce_sum(features)
        # Without the global step, as some scripts forget.
        train_op = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        return estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)

    warnings = []
    # TensorFlow's own counts over the whole process.
    monkeypatch.setattr(tf.logging, "log_first_n", lambda *line: warnings.append(line))
    data = tf.data.Dataset.from_tensors
    regressor = estimator.Estimator(model_fn, str(tmp_path))
    regressor.train(lambda: data([1.0]).repeat(5))
    assert [line[1].startswith("It seems that global step") for line in warnings[:1]] == [True]
    assert warnings[0][2:] == (5, 0, 0)
