import gc
import logging
import re
from pathlib import Path

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import Input, InputInfo, Mode, Model, ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import CheckpointError, DataError, PluginError
from tf_frame.estimator.input_fn import InputFn
from tf_frame.runs.prediction.predictions import predictions

ROWS = np.arange(15, dtype=np.float32).reshape(5, 3)
WEIGHTS = np.array([[1.0], [10.0], [100.0]], np.float32)
SUMS = ROWS @ WEIGHTS


class Sums(Model):
    """Weighted sums of `[batch, 3]` features under `x`; also the row's first number."""

    def __init__(self, **changes):
        super().__init__(params=None, info=InputInfo())
        self.changes = changes

    def build(self, features, labels, mode):
        assert (labels, mode) == (None, Mode.PREDICT)
        weights = tf.get_variable("weights", [3, 1], initializer=tf.ones_initializer())
        outputs = {"sum": tf.matmul(features["x"], weights), "first": features["x"][:, 0]}
        return ModelOutput(**{"predictions": outputs, **self.changes})


class Tensor(Sums):
    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        return ModelOutput(predictions=output.predictions["sum"])


def rows(**extra):
    return tf.data.Dataset.from_tensor_slices({"x": ROWS, **extra})


def source_of(make):
    """An input function's adapter, as `Estimator.predict` hands it over."""
    return InputFn(make, params=None, config=None)


def predicted(model=None, make=lambda: rows().batch(2), checkpoint=None, batch_size=2, **arguments):
    return predictions(
        model=model or Sums(),
        source=source_of(make),
        config=RunOptions(eval_batch_size=batch_size),
        checkpoint=checkpoint,
        **arguments,
    )


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("weights", initializer=WEIGHTS)
        session.run([tf.global_variables_initializer(), tf.train.create_global_step().initializer])
        return tf.train.Saver().save(session, str(tmp_path / "model.ckpt"), global_step=7)


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


def test_a_single_tensor_gives_arrays(checkpoint):
    found = list(predicted(Tensor(), checkpoint=checkpoint))
    assert all(isinstance(each, np.ndarray) for each in found)
    np.testing.assert_array_equal(found, SUMS)


def test_whole_batches(checkpoint):
    found = list(predicted(checkpoint=checkpoint, yield_single_examples=False))
    assert [len(batch["sum"]) for batch in found] == [2, 2, 1]
    np.testing.assert_array_equal(np.concatenate([batch["sum"] for batch in found]), SUMS)
    whole = list(predicted(Tensor(), checkpoint=checkpoint, yield_single_examples=False))
    np.testing.assert_array_equal(np.concatenate(whole), SUMS)


@pytest.mark.parametrize("keys", [["sum"], ("sum", "unknown"), "sum"])
def test_predict_keys_choose(keys):
    assert {tuple(each) for each in predicted(predict_keys=keys)} == {("sum",)}


def test_no_predict_keys_are_all():
    assert sorted(next(predicted(predict_keys=[]))) == ["first", "sum"]


def test_a_key_is_not_taken_for_another_that_it_contains():
    with pytest.raises(ValueError, match="at least one output"):
        next(predicted(predict_keys="summary"))


def test_predict_keys_that_do_not_exist():
    text = r"Expected to run at least one output from dict_keys\(\['sum', 'first'\]\), "
    with pytest.raises(ValueError, match=text + r"provided \['mean'\]\."):
        next(predicted(predict_keys=["mean"]))


def test_predict_keys_of_a_single_tensor():
    text = "predict_keys argument is not valid in case of non-dict predictions."
    with pytest.raises(ValueError, match=text):
        next(predicted(Tensor(), predict_keys=["sum"]))


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
    batch = next(predicted(Uneven(), yield_single_examples=False))
    assert [len(value) for value in batch.values()] == [2, 3]


def test_a_scalar_cannot_be_taken_apart():
    with pytest.raises(ValueError, match=r"mean is a scalar .* pass yield_single_examples=False"):
        next(predicted(Scalar()))
    found = [float(batch["mean"]) for batch in predicted(Scalar(), yield_single_examples=False)]
    assert found == [2.5, 8.5, 13.0]


def test_predictions_that_ignore_the_data_end_with_it():
    assert len(list(predicted(Uneven(), yield_single_examples=False))) == 3


def test_a_model_that_predicts_nothing_is_refused():
    with pytest.raises(PluginError, match=r"Sums.build\(\) returned no predictions for the mode"):
        next(predicted(Sums(predictions={})))


def test_labels_are_dropped():
    def make():
        return rows().map(lambda features: (features, features["x"] * 2)).batch(5)

    assert len(list(predicted(make=make))) == 5


def tensors():
    return {"x": tf.constant(ROWS)}


@pytest.mark.parametrize("make", [tensors, lambda: (tensors(), tf.zeros([5]))])
def test_tensors_are_predicted_for_ever_and_that_is_said(make, caplog):
    with caplog.at_level(logging.WARNING, "tf_frame"):
        endless = predicted(make=make)
        found = [next(endless) for _ in range(12)]
    np.testing.assert_array_equal(
        [each["first"] for each in found], ROWS[[*range(5), *range(5), 0, 1], 0]
    )
    assert "Input graph does not use tf.data.Dataset or contain a QueueRunner." in caplog.text
    endless.close()


def test_data_sets_are_not_said_to_be_endless(caplog):
    with caplog.at_level(logging.WARNING, "tf_frame"):
        next(predicted())
    assert "QueueRunner" not in caplog.text


def test_queues_are_read_until_they_close(caplog):
    def make():
        producer = tf.train.input_producer(ROWS, num_epochs=1, shuffle=False)
        return {"x": producer.dequeue_up_to(2)}

    with caplog.at_level(logging.WARNING, "tf_frame"):
        found = [each["first"] for each in predicted(make=make)]
    assert found == ROWS[:, 0].tolist()
    assert "QueueRunner" not in caplog.text


def test_data_that_repeats_is_predicted_as_far_as_one_asks():
    endless = predicted(make=lambda: rows().repeat().batch(2))
    assert [next(endless)["first"] for _ in range(6)] == [0, 3, 6, 9, 12, 0]
    endless.close()


class Native(Input):
    """A tf-frame input; remembers what it was asked for."""

    def __init__(self, made):
        super().__init__(params=None)
        self.made = made

    def dataset(self, mode, context):
        self.asked = mode, context
        return self.made()


def of_native(made, model=None, **config):
    source = Native(made)
    config = RunOptions(**{"eval_batch_size": 2, "random_seed": 5, **config})
    found = predictions(model=model or Sums(), source=source, config=config, checkpoint=None)
    return source, found


def test_an_input_is_asked_for_data_to_predict_on():
    source, found = of_native(lambda: rows().batch(2))
    assert [each["first"] for each in found] == ROWS[:, 0].tolist()
    mode, context = source.asked
    assert mode == Mode.PREDICT
    assert (context.batch_size, context.seed, context.num_shards) == (2, 5, 1)


def must_end(made):
    hook = Recording()
    source = Native(made)
    arguments = {"config": RunOptions(), "checkpoint": None, "hooks": [hook], "must_end": True}
    return hook, predictions(model=Sums(), source=source, **arguments)


def test_data_that_must_end_and_does():
    hook, found = must_end(lambda: rows().batch(2))
    assert len(list(found)) == 5
    assert hook.calls.count("before") == 4


def test_data_that_must_end_and_does_not_is_an_error():
    hook, found = must_end(lambda: rows().repeat().batch(2))
    with pytest.raises(DataError, match="never ends; say how much: --eval_steps N"):
        next(found)
    assert hook.calls == ["begin", "created"]


def test_an_input_of_functions_and_lists():
    class Joined(Sums):
        def build(self, features, labels, mode):
            return super().build({"x": tf.concat([f["x"] for f in features], axis=0)}, labels, mode)

    _, found = of_native(lambda: tensors)
    assert next(found)["first"] == 0
    pair = lambda features: (features, features["x"])  # noqa: E731
    _, found = of_native(lambda: [rows().batch(1), rows().map(pair).batch(1)], Joined())
    assert [each["first"] for each in found] == np.repeat(ROWS[:, 0], 2).tolist()


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (lambda: None, r"Native.dataset\(\) returned None"),
        (lambda: lambda: (1, 2, 3), r"Native.dataset\(\) yields 3 parts to predict on"),
        (lambda: tf.data.Dataset.zip((rows(),)).batch(1), r"yields 1 parts to predict on"),
    ],
)
def test_an_input_that_returns_something_else_is_an_error(made, text):
    with pytest.raises(DataError, match=text):
        next(of_native(made)[1])


class Recording(tf.train.SessionRunHook):
    """Notes which of its methods are called, and whether its graph is the default one."""

    def __init__(self, stop_after=None):
        self.calls = []
        self.stop_after = stop_after
        self.runs = 0

    def begin(self):
        self.graph = tf.get_default_graph()
        self.note("begin")

    def after_create_session(self, session, coord):
        self.session = session
        self.note("created")

    def before_run(self, run_context):
        self.note("before")

    def after_run(self, run_context, run_values):
        self.note("after")
        self.runs += 1
        if self.runs == self.stop_after:
            run_context.request_stop()

    def end(self, session):
        self.note("end")

    def note(self, call):
        assert tf.get_default_graph() is self.graph
        self.calls.append(call)


def test_hooks_live_as_in_a_monitored_session():
    hook = Recording()
    assert len(list(predicted(hooks=[hook]))) == 5
    assert hook.calls == ["begin", "created", *["before", "after"] * 3, "before", "end"]


def test_a_hook_may_stop():
    hook = Recording(stop_after=2)
    assert len(list(predicted(hooks=[hook]))) == 4
    assert hook.calls[-1] == "end"


def test_the_model_brings_hooks_of_its_own():
    own, given = Recording(), Recording()
    assert len(list(predicted(Sums(hooks=[own]), hooks=[given]))) == 5
    assert own.calls == given.calls != []


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


def test_closing_the_generator_closes_its_session():
    hook = Recording()
    found = predicted(hooks=[hook])
    next(found)
    hook.session.run([])
    found.close()
    with pytest.raises(RuntimeError, match="closed Session"):
        hook.session.run([])
    assert "end" not in hook.calls


def test_a_generator_that_is_forgotten_closes_its_session():
    hook = Recording()
    found = predicted(hooks=[hook])
    next(found)
    del found
    gc.collect()
    with pytest.raises(RuntimeError, match="closed Session"):
        hook.session.run([])


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
        hook.session.run([])


def test_a_checkpoint_of_another_model_is_refused(checkpoint):
    class Bigger(Sums):
        def build(self, features, labels, mode):
            tf.get_variable("another", [2])
            return super().build(features, labels, mode)

    with pytest.raises(CheckpointError, match=r"another \[2\]: not in the checkpoint"):
        next(predicted(Bigger(), checkpoint=checkpoint))


def test_moving_averages_stand_for_the_variables_where_the_options_say_so(tmp_path):
    with tf.Graph().as_default(), tf.Session() as session:
        tf.get_variable("weights", initializer=WEIGHTS)
        tf.get_variable("weights/ExponentialMovingAverage", initializer=WEIGHTS * 2)
        session.run([tf.global_variables_initializer(), tf.train.create_global_step().initializer])
        path = tf.train.Saver().save(session, str(tmp_path / "model.ckpt"))
    found = {}
    for use in (True, False):
        config = RunOptions(moving_average_decay=0.9, eval_moving_averages=use)
        source = source_of(lambda: rows().batch(5))
        examples = predictions(model=Sums(), source=source, config=config, checkpoint=path)
        found[use] = [each["sum"] for each in examples]
    np.testing.assert_array_equal(found[True], SUMS * 2)
    np.testing.assert_array_equal(found[False], SUMS)


def test_the_seed_of_the_run_is_that_of_random_operations():
    class Random(Sums):
        def build(self, features, labels, mode):
            return ModelOutput(predictions=tf.random_uniform([2]))

    def drawn(seed):
        config = RunOptions(random_seed=seed)
        source = source_of(lambda: rows().batch(2))
        return next(predictions(model=Random(), source=source, config=config, checkpoint=None))

    assert drawn(1) == drawn(1) != drawn(2)


def test_the_session_is_configured():
    hook = Recording()
    found = predicted(hooks=[hook], session_config=tf.ConfigProto(device_count={"CPU": 2}))
    next(found)
    assert len([d for d in hook.session.list_devices() if d.device_type == "CPU"]) == 2


def test_soft_placement_is_the_default():
    class OnTheGpu(Sums):
        def build(self, features, labels, mode):
            with tf.device("/device:GPU:7"):
                return super().build(features, labels, mode)

    assert len(list(predicted(OnTheGpu()))) == 5


def test_features_come_along(checkpoint):
    def make():
        names = [b"a", b"b", b"c", b"d", b"e"]
        batches = rows(name=names).batch(2)
        return batches.map(lambda f: {**f, "scale": 3.0, "sparse": tf.sparse.from_dense(f["x"])})

    pairs = list(predicted(make=make, checkpoint=checkpoint, with_features=True))
    assert [features["name"] for features, _ in pairs] == [b"a", b"b", b"c", b"d", b"e"]
    np.testing.assert_array_equal([features["x"] for features, _ in pairs], ROWS)
    np.testing.assert_array_equal([found["sum"] for _, found in pairs], SUMS)
    assert sorted(pairs[0][0]) == ["name", "scale", "x"]
    assert pairs[0][0]["scale"] == 3
    batches = predicted(make=make, with_features=True, yield_single_examples=False)
    assert [len(features["x"]) for features, _ in batches] == [2, 2, 1]


def test_features_that_are_one_tensor_come_along():
    class Plain(Sums):
        def build(self, features, labels, mode):
            return super().build({"x": features}, labels, mode)

    make = lambda: tf.data.Dataset.from_tensor_slices(ROWS).batch(2)  # noqa: E731
    pairs = list(predicted(Plain(), make=make, with_features=True))
    np.testing.assert_array_equal([features for features, _ in pairs], ROWS)
