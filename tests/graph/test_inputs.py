import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import DataError
from tf_frame.graph.inputs import make_batches, make_dataset, take_batches
from tf_frame.plugin import Input, InputContext, Mode


class Counting(Input):
    """Yields the running number of a batch, first as feature and then as label."""

    def dataset(self, mode, context):
        numbers = tf.data.Dataset.range(1000).batch(context.batch_size)
        return numbers.map(lambda n: (n, -n))


def run_batches(num_clones, runs):
    config = DeploymentConfig(num_clones=num_clones, clone_on_cpu=True)
    with tf.Graph().as_default(), tf.Session() as session:
        context = InputContext(batch_size=2)
        batches = make_batches(Counting(params=None), Mode.TRAIN, context, config)
        session.run(tf.tables_initializer())
        return [session.run(batches) for _ in range(runs)]


def test_clones_always_take_turns():
    for step, batches in enumerate(run_batches(4, runs=20)):
        firsts = [features[0] for features, _ in batches]
        assert firsts == [8 * step, 8 * step + 2, 8 * step + 4, 8 * step + 6]


def test_features_and_labels_belong_together():
    for (features, labels), *_ in run_batches(1, runs=3):
        np.testing.assert_array_equal(features, -labels)


def test_the_input_lives_on_the_inputs_device():
    config = DeploymentConfig(num_clones=2, num_ps_tasks=1)
    with tf.Graph().as_default() as graph:
        make_batches(Counting(params=None), Mode.TRAIN, InputContext(batch_size=2), config)
        (iterator,) = [op for op in graph.get_operations() if op.type == "IteratorV2"]
        assert iterator.device == "/job:worker/device:CPU:0"


def test_an_input_that_yields_no_pair_is_named():
    class Single(Input):
        def dataset(self, mode, context):
            return tf.data.Dataset.range(3)

    with tf.Graph().as_default(), pytest.raises(DataError, match="Single must yield"):
        make_batches(
            Single(params=None), Mode.TRAIN, InputContext(batch_size=1), DeploymentConfig()
        )


@pytest.mark.filterwarnings("ignore:To make it possible to preserve")
@pytest.mark.parametrize(("said", "expected"), [(None, False), (True, True), (False, False)])
def test_autotune_is_off_unless_the_input_decides(said, expected):
    class Deciding(Counting):
        def dataset(self, mode, context):
            options = tf.data.Options()
            if said is not None:
                options.autotune.enabled = said
            return super().dataset(mode, context).with_options(options)

    with tf.Graph().as_default():
        context = InputContext(batch_size=1)
        dataset = make_dataset(Deciding(params=None), Mode.TRAIN, context)
        assert dataset.options().autotune.enabled is expected


def test_take_bounds_the_batches():
    with tf.Graph().as_default(), tf.Session() as session:
        dataset = make_dataset(Counting(params=None), Mode.EVAL, InputContext(batch_size=1), take=3)
        ((features, _),) = take_batches(dataset, 1)
        session.run(tf.tables_initializer())
        assert [session.run(features)[0] for _ in range(3)] == [0, 1, 2]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(features)


@pytest.mark.parametrize("returned", [None, (1, 2), iter([1])], ids=["None", "tuple", "iterator"])
def test_an_input_that_returns_no_dataset_is_named(returned):
    class Wrong(Input):
        def dataset(self, mode, context):
            return returned

    message = r"^Wrong\.dataset\(\) returned .*; it must return a tf\.data\.Dataset"
    with tf.Graph().as_default(), pytest.raises(DataError, match=message):
        make_dataset(Wrong(params=None), Mode.TRAIN, InputContext(batch_size=1))
