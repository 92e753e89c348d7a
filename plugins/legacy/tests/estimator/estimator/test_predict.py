import itertools

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from refusals import refusal
from tf_frame_legacy import estimator


@pytest.fixture
def regressor(make, linear):
    """At its start: the weight is 1."""
    return make().train(linear.data(repeat=0))


@pytest.mark.usefixtures("variable_mode")
def test_examples_come_one_by_one(regressor, linear):
    rows = list(regressor.predict(linear.data()))
    assert [row["value"].tolist() for row in rows] == linear.x.tolist()
    assert [row["double"].tolist() for row in rows] == (2 * linear.x).tolist()


@pytest.mark.slow
@pytest.mark.parametrize("keys", [["double"], "double", ["double", "other"]])
def test_keys_choose_among_the_predictions(regressor, linear, keys):
    rows = list(regressor.predict(linear.data(), predict_keys=keys))
    assert [list(row) for row in rows] == [["double"]] * 5


def test_keys_of_no_prediction_are_refused(regressor, linear):
    assert refusal(next, regressor.predict(linear.data(), predict_keys=["no"])) == (
        ValueError,
        "Expected to run at least one output from dict_keys(['value', 'double']), provided ['no'].",
    )


def test_batches_come_whole_where_they_are_asked_for(regressor, linear):
    batches = list(regressor.predict(linear.data(), yield_single_examples=False))
    assert [batch["value"].shape for batch in batches] == [(2, 1), (2, 1), (1, 1)]


def single_tensor(features, mode):
    weight = tf.get_variable("weight", [1], initializer=tf.ones_initializer())
    return estimator.EstimatorSpec(mode, predictions=features * weight)


def test_a_single_tensor_is_predicted_as_arrays(make, linear):
    regressor = make(single_tensor)
    rows = list(regressor.predict(linear.data()))
    assert [row.tolist() for row in rows] == linear.x.tolist()
    batches = list(regressor.predict(linear.data(), yield_single_examples=False))
    assert [batch.shape for batch in batches] == [(2, 1), (2, 1), (1, 1)]
    message = "predict_keys argument is not valid in case of non-dict predictions."
    generator = regressor.predict(linear.data(), predict_keys=["value"])
    assert refusal(next, generator) == (ValueError, message)


def unequal(features, mode):
    predictions = {"a": features, "mean": tf.reduce_mean(features, axis=0, keepdims=True)}
    return estimator.EstimatorSpec(mode, predictions=predictions)


def test_predictions_of_unequal_length_are_refused_one_by_one_only(make, linear):
    regressor = make(unequal)
    with pytest.raises(ValueError, match="same. mean has different batch length than others.$"):
        next(regressor.predict(linear.data()))
    batches = list(regressor.predict(linear.data(), yield_single_examples=False))
    assert [batch["mean"].tolist() for batch in batches] == [[[1.5]], [[3.5]], [[5.0]]]


@pytest.mark.parametrize("form", ["features", "pair", "tensors", "pair of tensors"])
def test_labels_are_passed_over(make, linear, form):
    seen = []

    def model_fn(features, labels, mode):
        seen.append(labels)
        return single_tensor(features, mode)

    def input_fn():
        has_labels = form.startswith("pair")
        data = (linear.x, linear.y) if has_labels else linear.x
        dataset = tf.data.Dataset.from_tensor_slices(data).batch(2)
        if "tensors" in form:
            return tf.data.make_one_shot_iterator(dataset).get_next()
        return dataset

    assert np.array(list(make(model_fn).predict(input_fn))).tolist() == linear.x.tolist()
    assert seen == [None]


def test_nothing_is_done_before_the_first_prediction_is_asked_for(make):
    def never():
        raise AssertionError

    generator = make(single_tensor).predict(never)
    with pytest.raises(AssertionError):
        next(generator)


@pytest.mark.slow
def test_an_older_checkpoint_may_predict(make, linear):
    regressor = make(config=estimator.RunConfig(save_checkpoints_steps=1)).train(linear.data())
    older = f"{regressor.model_dir}/model.ckpt-0"
    rows = list(regressor.predict(linear.data(), checkpoint_path=older))
    assert [row["value"].tolist() for row in rows] == linear.x.tolist()
    newest = next(regressor.predict(linear.data()))["value"]
    assert newest == pytest.approx(regressor.get_variable_value("weight"))


def test_without_a_checkpoint_initial_values_predict(make, linear, messages):
    regressor = make()
    rows = list(regressor.predict(linear.data()))
    assert [row["value"].tolist() for row in rows] == linear.x.tolist()
    assert (
        f"Could not find trained model in model_dir: {regressor.model_dir}, "
        "running initialization to predict."
    ) in messages()


def test_tensors_without_end_predict_for_ever_with_a_warning(regressor, linear, messages):
    generator = regressor.predict(lambda: tf.constant(linear.x))
    rows = list(itertools.islice(generator, 12))
    generator.close()
    assert [row["value"][0] for row in rows[:6]] == [1, 2, 3, 4, 5, 1]
    assert (
        "Input graph does not use tf.data.Dataset or contain a QueueRunner. That means predict "
        "yields forever. This is probably a mistake."
    ) in messages()


def test_hooks_of_the_call_come_before_those_of_the_model(make, linear):
    calls = []

    class Hook(estimator.SessionRunHook):
        def __init__(self, name):
            self._name = name

        def before_run(self, run_context):
            calls.append(self._name)

    def model_fn(features, mode):
        return single_tensor(features, mode)._replace(prediction_hooks=[Hook("model")])

    regressor = make(model_fn)
    list(regressor.predict(linear.data(), hooks=[Hook("own")]))
    # Four runs: the last one finds the end of the data.
    assert calls == ["own", "model"] * 4
    with pytest.raises(TypeError, match="^Hooks must be a SessionRunHook, given: 3$"):
        list(regressor.predict(linear.data(), hooks=[3]))


@pytest.mark.slow
def test_two_predictions_may_be_read_in_turns(regressor, linear):
    pairs = zip(regressor.predict(linear.data()), regressor.predict(linear.data(3)), strict=True)
    assert [(a["value"][0], b["value"][0]) for a, b in pairs] == [(n, n) for n in range(1, 6)]
