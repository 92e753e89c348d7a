import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from sessions import save_variables
from tf_frame_legacy import estimator

VALUES = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], np.float32)


def embedding(rows, name="embedding"):
    """A model of one matrix, which its training leaves as it is."""

    def model_fn(features, mode):
        with tf.variable_scope(name):
            table = tf.get_variable("table", [rows, 2], initializer=tf.zeros_initializer())
        chosen_rows = tf.gather(table, features)
        loss = 0.0 * tf.reduce_sum(chosen_rows)
        train_op = tf.assign_add(tf.train.get_global_step(), 1)
        return estimator.EstimatorSpec(mode, predictions=chosen_rows, loss=loss, train_op=train_op)

    return model_fn


def input_fn():
    return tf.data.Dataset.from_tensor_slices(np.array([0, 1])).repeat().batch(2)


@pytest.fixture
def old(tmp_path):
    """A folder with a checkpoint of three rows, at step 7."""
    values = {"embedding/table": VALUES, "global_step": np.int64(7)}
    save_variables(tmp_path / "old" / "model.ckpt", values, global_step=7)
    return str(tmp_path / "old")


def table(regressor, name="embedding"):
    return regressor.get_variable_value(f"{name}/table").tolist()


@pytest.mark.usefixtures("variable_mode")
def test_training_begins_with_the_values_and_at_step_0(make, old):
    regressor = make(embedding(3), warm_start_from=old).train(input_fn, steps=2)
    assert table(regressor) == VALUES.tolist()
    assert regressor.get_variable_value("global_step") == 2


def test_names_and_regular_expressions_say_what_is_taken(make, old):
    settings = estimator.WarmStartSettings(
        old, "other/.*", var_name_to_prev_var_name={"other/table": "embedding/table"}
    )
    regressor = make(embedding(3, "other"), warm_start_from=settings).train(input_fn, steps=1)
    assert table(regressor, "other") == VALUES.tolist()


def test_another_vocabulary_moves_the_rows(make, old, tmp_path):
    (tmp_path / "before").write_text("a\nb\nc\n")
    (tmp_path / "now").write_text("c\nx\na\n")
    info = estimator.VocabInfo(str(tmp_path / "now"), 3, 1, str(tmp_path / "before"))
    settings = estimator.WarmStartSettings(old, None, {"embedding/table": info})
    regressor = make(embedding(4), warm_start_from=settings).train(input_fn, steps=1)
    assert table(regressor) == [[5, 6], [0, 0], [1, 2], [0, 0]]


def test_a_folder_with_a_checkpoint_of_its_own_goes_on_from_that(make, old):
    make(embedding(3)).train(input_fn, steps=1)
    regressor = make(embedding(3), warm_start_from=old).train(input_fn, steps=1)
    assert table(regressor) == np.zeros([3, 2]).tolist()
    assert regressor.get_variable_value("global_step") == 2


def test_a_checkpoint_that_does_not_fit_is_refused_in_the_old_words(make, old):
    assert refusal(make(embedding(5), warm_start_from=old).train, input_fn) == (
        ValueError,
        "Shape of variable embedding/table:0 ((5, 2)) doesn't match with shape of tensor "
        "embedding/table ([3, 2]) from checkpoint reader.",
    )
    with pytest.raises(ValueError, match="^Tensor other/table is not found in "):
        make(embedding(3, "other"), warm_start_from=old).train(input_fn, steps=1)
