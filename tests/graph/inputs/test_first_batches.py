"""`--overfit_batches`: which batches are trained on and evaluated, and exact resume."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, DataError
from tf_frame.graph.inputs.first_batches import first_batches
from tf_frame.graph.inputs.pipeline import make_eval_batch
from tf_frame.plugin import InputContext, Mode
from tf_frame.testing.exact_resume import check_exact_resume
from tf_frame.testing.toy import ToyInput, ToyModel, make_setup, run_setup

CONTEXT = InputContext(batch_size=4, seed=7)


class Varied(ToyInput):
    """Shuffled, and moved by another random number each time an example is read."""

    def dataset(self, mode, context):
        if mode == Mode.EVAL:
            return tf.data.Dataset.from_tensors((tf.zeros([1, 3]), tf.zeros([1, 1])))
        count = tf.data.Dataset.range(64).repeat().shuffle(64, seed=context.seed).enumerate()

        def example(number, index):
            draw = tf.random.stateless_uniform([3], tf.stack([7, number]))
            return draw + tf.cast(index, tf.float32), tf.reshape(draw[0], [1])

        return count.map(example).batch(context.batch_size, drop_remainder=True)


def limited(source_class=Varied, **options):
    config = RunOptions(train_batch_size=4, overfit_batches=3, **options)
    return first_batches(source_class(params=source_class.Params()), config)


def batches(source, number, context=CONTEXT):
    """Features of the first batches of training, in a graph of their own."""
    with tf.Graph().as_default():
        dataset = source.dataset(Mode.TRAIN, context)
        features, _ = tf.data.make_one_shot_iterator(dataset).get_next()
        with tf.Session() as session:
            return [session.run(features) for _ in range(number)]


def test_training_and_evaluation_see_the_first_batches():
    first = batches(Varied(params=Varied.Params()), 3)
    trained = batches(limited(), 7)
    np.testing.assert_array_equal(trained, [first[number % 3] for number in range(7)])
    with tf.Graph().as_default():
        features, _, endless = make_eval_batch(limited(), InputContext(batch_size=50, seed=7), -1)
        with initialized_session() as session:
            evaluated = [session.run(features) for _ in range(3)]
            assert not session.run(endless)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(features)
    np.testing.assert_array_equal(evaluated, trained[:3])


@pytest.mark.slow
def test_batches_repeat_for_each_clone_and_resume_exactly():
    seen = batches(limited(num_clones=2), 12, InputContext(batch_size=2, seed=7))
    assert len({batch.tobytes() for batch in seen[:6]}) == 6
    np.testing.assert_array_equal(seen[:6], seen[6:])
    check_exact_resume(limited(), batch_size=4, steps=8)
    source = ToyInput(params=ToyInput.Params())
    assert first_batches(source, RunOptions()) is source


def test_a_list_of_data_sets_is_limited_in_each():
    class Twice(Varied):
        def dataset(self, mode, context):
            return [super().dataset(mode, context)] * 2

    with tf.Graph().as_default():
        first, second = limited(Twice).dataset(Mode.EVAL, CONTEXT)
        assert tf.data.experimental.cardinality(first) is not None
        with tf.Session() as session:
            counts = [data.reduce(0, lambda n, _: n + 1) for data in (first, second)]
            assert session.run(counts) == [3, 3]


def test_queues_and_several_workers_are_refused():
    class Queue(ToyInput):
        def dataset(self, mode, context):
            return lambda: (tf.zeros([4, 3]), tf.zeros([4, 1]))

    with pytest.raises(DataError, match=r"Queue.dataset\(\) returned a function: its batches"):
        limited(Queue).dataset(Mode.TRAIN, CONTEXT)
    with pytest.raises(ConfigError, match="--overfit_batches is for one worker"):
        RunOptions(
            overfit_batches=1, worker_replicas=2, num_ps_tasks=1, master="grpc://localhost:1"
        )


@pytest.mark.slow
def test_a_run_learns_its_batches_and_another_number_of_them_is_another_input(tmp_path):
    def go(**options):
        setup = make_setup(ToyModel, Varied, str(tmp_path), train_batch_size=4, **options)
        return run_setup(setup, report=lambda line: None)

    result = go(max_steps=6, overfit_batches=1, learning_rate=0.0)
    # Without learning, the loss of training and that of evaluation are of the same batch.
    assert result["metrics"]["loss"] == pytest.approx(result["total_loss"])
    with pytest.raises(ConfigError, match="--overfit_batches 1 -> 2"):
        go(max_steps=8, overfit_batches=2)
