import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.errors import ConfigError
from tf_frame_legacy import restoring


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.Variable([7.0, 7.0], name="weights")
        tf.Variable(np.int64(99), name="global_step")
        session.run(tf.global_variables_initializer())
        return tf.train.Saver().save(session, str(tmp_path_factory.mktemp("other") / "model"))


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def test_what_a_checkpoint_lacks_keeps_its_value(path, caplog):
    kept, weights = tf.Variable([1.0, 1.0]), tf.Variable([1.0, 1.0])
    step = tf.train.create_global_step()
    var_map = {"weights": weights, "missing": kept, "global_step": step}
    init_fn = restoring.init_fn(var_map, path)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        init_fn(session)
        found = session.run([weights, kept, step])
    assert [each.tolist() for each in found] == [[7.0, 7.0], [1.0, 1.0], 0]
    assert "Variable [missing] is not available in checkpoint" in caplog.text


def test_nothing_to_restore_is_an_error(path):
    var_map = {"weights": tf.Variable([1.0]), "global_step": tf.train.create_global_step()}
    with pytest.raises(ConfigError, match="has none of the 2 variables to restore; see the warn"):
        restoring.init_fn(var_map, path)


def test_a_missing_checkpoint_is_an_error(tmp_path):
    with pytest.raises(ConfigError, match="missing"):
        restoring.init_fn({}, str(tmp_path / "missing"))
