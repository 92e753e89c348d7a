import gc
import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from recorded_steps import Recording
from tf_frame import ModelOutput
from tf_frame.errors import CheckpointError, PluginError

from .conftest import ROWS, SUMS, WEIGHTS, Sums, predicted, rows


class Tensor(Sums):
    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        return ModelOutput(predictions=output.predictions["sum"])


def test_every_example_is_a_dict_with_the_variables_of_the_checkpoint(checkpoint, variable_mode):
    found = list(predicted(checkpoint=checkpoint))
    assert [sorted(each) for each in found] == [["first", "sum"]] * 5
    np.testing.assert_array_equal([each["sum"] for each in found], SUMS)
    np.testing.assert_array_equal([each["first"] for each in found], ROWS[:, 0])


def test_without_a_checkpoint_variables_are_initialised():
    found = [each["sum"] for each in predicted()]
    np.testing.assert_array_equal(found, ROWS.sum(axis=1, keepdims=True))


def test_a_damaged_checkpoint_is_an_error_in_plain_words(checkpoint):
    file = Path(checkpoint + ".data-00000-of-00001")
    file.write_bytes(file.read_bytes()[:3])
    with pytest.raises(CheckpointError, match=f"{re.escape(checkpoint)} cannot be read: \\S+"):
        next(predicted(checkpoint=checkpoint))


def test_a_single_tensor_gives_arrays_and_batches_can_stay_whole(checkpoint):
    found = list(predicted(Tensor(), checkpoint=checkpoint))
    assert all(isinstance(array, np.ndarray) for array in found)
    np.testing.assert_array_equal(found, SUMS)
    found = list(predicted(checkpoint=checkpoint, yield_single_examples=False))
    assert [len(batch["sum"]) for batch in found] == [2, 2, 1]
    np.testing.assert_array_equal(np.concatenate([batch["sum"] for batch in found]), SUMS)
    whole = list(predicted(Tensor(), checkpoint=checkpoint, yield_single_examples=False))
    np.testing.assert_array_equal(np.concatenate(whole), SUMS)


@pytest.mark.parametrize(
    ("keys", "names"),
    [
        (["sum"], ["sum"]),
        (("sum", "unknown"), ["sum"]),
        ("sum", ["sum"]),
        ([], ["first", "sum"]),
    ],
)
def test_predict_keys_choose(keys, names):
    assert [sorted(example) for example in predicted(predict_keys=keys)] == [names] * 5


@pytest.mark.parametrize(
    ("model", "keys", "message"),
    [
        (None, "summary", "at least one output"),
        (None, ["mean"], r"from dict_keys\(\['sum', 'first'\]\), provided \['mean'\]"),
        (Tensor, ["sum"], "predict_keys argument is not valid in case of non-dict predictions"),
    ],
)
def test_predict_keys_that_do_not_exist_are_refused(model, keys, message):
    arguments = [model()] if model else []
    with pytest.raises(ValueError, match=message):
        next(predicted(*arguments, predict_keys=keys))


class Uneven(Sums):
    def build(self, features, labels, mode):
        return ModelOutput(predictions={"one": tf.zeros([2]), "other": tf.zeros([3])})


class Scalar(Sums):
    def build(self, features, labels, mode):
        return ModelOutput(predictions={"mean": tf.reduce_mean(features["x"])})


def test_outputs_of_different_lengths_cannot_be_taken_apart():
    text = "Batch length of predictions should be same. other has different batch length than"
    with pytest.raises(ValueError, match=text):
        next(predicted(Uneven()))
    # These predictions ignore the data and end with the data all the same.
    batches = list(predicted(Uneven(), yield_single_examples=False))
    assert [[len(value) for value in batch.values()] for batch in batches] == [[2, 3]] * 3


def test_a_scalar_cannot_be_taken_apart():
    with pytest.raises(ValueError, match=r"mean is a scalar .* pass yield_single_examples=False"):
        next(predicted(Scalar()))
    found = [float(batch["mean"]) for batch in predicted(Scalar(), yield_single_examples=False)]
    assert found == [2.5, 8.5, 13.0]


def test_a_model_that_predicts_nothing_is_refused():
    with pytest.raises(PluginError, match=r"Sums.build\(\) returned no predictions for the mode"):
        next(predicted(Sums(predictions={})))


def test_a_hook_may_stop():
    hook = Recording(stop_after=2)
    assert len(list(predicted(hooks=[hook]))) == 4
    assert hook.calls[-1] == "end"


def test_hooks_of_the_caller_and_the_model_live_as_in_a_monitored_session():
    own, given = Recording(), Recording()
    assert len(list(predicted(Sums(hooks=[own]), hooks=[given]))) == 5
    calls = ["begin", "created", *["before", "after"] * 3, "before", "end"]
    assert own.calls == given.calls == calls


def test_the_model_brings_a_scaffold_of_its_own():
    class Scaffolded(Sums):
        def build(self, features, labels, mode):
            output = super().build(features, labels, mode)
            local = tf.get_variable(
                "local", initializer=1.0, collections=[tf.GraphKeys.LOCAL_VARIABLES]
            )
            scaffold = tf.train.Scaffold(local_init_op=local.assign(41.0).op)
            shifted = {"sum": output.predictions["sum"] * 0 + local}
            return ModelOutput(predictions=shifted, scaffold=scaffold)

    assert next(predicted(Scaffolded()))["sum"] == 41


@pytest.mark.parametrize("forgotten", [False, True])
def test_closing_or_forgetting_the_generator_closes_its_session(forgotten):
    hook = Recording()
    found = predicted(hooks=[hook])
    next(found)
    hook.sessions[0].run([])
    if forgotten:
        del found
        gc.collect()
    else:
        found.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        hook.sessions[0].run([])
    assert "end" not in hook.calls


def test_nothing_happens_before_the_first_prediction_is_asked_for():
    def make():
        raise AssertionError("called")

    predicted(make=make)


def test_between_predictions_no_graph_is_left_the_default():
    with tf.Graph().as_default() as graph:
        first, second = predicted(), predicted(make=lambda: rows().batch(3))
        for one, other in zip(first, second, strict=True):
            assert tf.get_default_graph() is graph
            assert one["first"] == other["first"]


def test_the_check_is_made_before_each_batch_and_may_stop():
    calls = []

    def check():
        calls.append(None)
        if len(calls) == 3:
            raise KeyboardInterrupt

    hook, found = Recording(), []
    with pytest.raises(KeyboardInterrupt):
        found.extend(predicted(check=check, hooks=[hook]))
    assert hook.calls.count("after") == 2
    with pytest.raises(RuntimeError, match="closed Session"):
        hook.sessions[0].run([])


def test_a_checkpoint_of_another_model_is_refused(checkpoint):
    class Bigger(Sums):
        def build(self, features, labels, mode):
            tf.get_variable("another", [2])
            return super().build(features, labels, mode)

    with pytest.raises(CheckpointError, match=r"another \[2\]: not in the checkpoint"):
        next(predicted(Bigger(), checkpoint=checkpoint))


def test_moving_averages_stand_for_the_variables_where_the_options_say_so(save):
    path = save(**{"weights": WEIGHTS, "weights/ExponentialMovingAverage": WEIGHTS * 2})
    for use, expected in ((True, SUMS * 2), (False, SUMS)):
        config = {"moving_average_decay": 0.9, "eval_moving_averages": use}
        sums = [example["sum"] for example in predicted(checkpoint=path, config=config)]
        np.testing.assert_array_equal(sums, expected)


def test_the_seed_of_the_run_is_that_of_random_operations():
    class Random(Sums):
        def build(self, features, labels, mode):
            return ModelOutput(predictions=tf.random_uniform([2]))

    first, same, other = (next(predicted(Random(), config={"random_seed": s})) for s in (1, 1, 2))
    assert first == same != other


def test_the_session_is_configured():
    hook = Recording()
    found = predicted(hooks=[hook], session_config=tf.ConfigProto(device_count={"CPU": 2}))
    next(found)
    assert len([d for d in hook.sessions[0].list_devices() if d.device_type == "CPU"]) == 2


def test_soft_placement_is_the_default():
    class OnTheGpu(Sums):
        def build(self, features, labels, mode):
            with tf.device("/device:GPU:7"):
                return super().build(features, labels, mode)

    assert len(list(predicted(OnTheGpu()))) == 5
