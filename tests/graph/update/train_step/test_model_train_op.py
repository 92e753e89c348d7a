"""Training graphs of models that make their own update."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import run_initialized
from tf_frame import ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, PluginError
from tf_frame.testing.toy import build_toy_graph


class OwnUpdate:
    """Moves one variable from 0 by the gradient of (w - 3)^2 with rate 0.25, so by half the way.

    Args:
      more: makes further parts of the output from the loss and the features.
      **output: further parts of the output.
    """

    def __init__(self, more=lambda loss, features: {}, **output):
        self.more, self.output = more, output

    def build(self, features, labels, mode):
        weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.square(weight - 3.0)
        optimizer = tf.train.GradientDescentOptimizer(0.25)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        output = {"loss": loss, "train_op": train_op, **self.output}
        return ModelOutput(**{**output, **self.more(loss, features)})


def built(model=None, **options):
    return build_toy_graph(RunOptions(train_batch_size=8, **options), model=model or OwnUpdate())


def test_the_update_is_that_of_the_model_and_nothing_else(variable_mode):
    graph = built(learning_rate=100.0)
    with graph.graph.as_default(), tf.Session() as session:
        graph.scaffold.finalize()
        session.run([graph.scaffold.init_op, graph.scaffold.local_init_op])
        found = [session.run([graph.train_op, graph.step_after]) for _ in range(3)]
        names = sorted(variable.op.name for variable in tf.global_variables())
    np.testing.assert_allclose(found, [(9.0, 1), (2.25, 2), (0.5625, 3)])
    assert names == ["global_step", "w"]
    assert graph.learning_rate is None and graph.scalars == () and graph.grads_and_vars == ()
    assert not graph.run_is_step


def test_hooks_and_scaffold_of_the_model_are_kept():
    first, second = tf.train.SessionRunHook(), tf.train.SessionRunHook()
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: None)
    graph = built(OwnUpdate(hooks=[first], chief_hooks=[second], scaffold=scaffold))
    assert list(graph.hooks) == [first]
    assert list(graph.chief_hooks) == [second]
    assert graph.scaffold.init_fn is not None
    assert graph.scaffold.saver is not None


@pytest.mark.parametrize("collected", [False, True])
def test_savers_of_the_model_are_kept(collected):
    savers = []

    def add_saver(loss, features):
        savers.append(tf.train.Saver())
        if not collected:
            return {"scaffold": tf.train.Scaffold(saver=savers[0])}
        tf.add_to_collection(tf.GraphKeys.SAVERS, savers[0])
        return {}

    assert built(OwnUpdate(add_saver)).scaffold.saver is savers[0]


def summarised(loss, features):
    tf.summary.scalar("loss", loss)
    return {}


def with_own_summary(loss, features):
    own = tf.summary.scalar("own", loss, collections=[])
    return {"scaffold": tf.train.Scaffold(summary_op=own)}


@pytest.mark.parametrize(
    ("model", "tag"),
    [
        (OwnUpdate(), "loss"),
        (OwnUpdate(summarised), "loss"),
        (OwnUpdate(with_own_summary), "own"),
    ],
)
def test_summaries_of_the_model(model, tag):
    graph = built(model)
    with graph.graph.as_default():
        summary = tf.Summary.FromString(run_initialized(graph.summary_op))
    assert [value.tag for value in summary.value] == [tag]


@pytest.mark.parametrize(
    ("options", "what"),
    [
        ({"num_clones": 2}, "num_clones 2"),
        ({"moving_average_decay": 0.9}, "moving_average_decay"),
        ({"sync_replicas": True}, "sync_replicas"),
    ],
)
def test_what_only_tf_frames_update_can_do_is_refused(options, what):
    with pytest.raises(ConfigError, match=f"so that {what} cannot be used"):
        built(**options)


def test_transforms_and_missing_losses_are_refused():
    with pytest.raises(ConfigError, match="gradient transforms cannot be used"):
        build_toy_graph(
            RunOptions(train_batch_size=8), model=OwnUpdate(), transforms=[lambda pairs: pairs]
        )
    with pytest.raises(PluginError, match="a train_op without a loss; return both"):
        built(OwnUpdate(loss=None))


def test_a_model_without_a_train_op_has_its_hooks_too():
    hook = tf.train.SessionRunHook()

    class Hooked:
        def build(self, features, labels, mode):
            weight = tf.get_variable("w", [3, 1])
            loss = tf.reduce_mean(tf.square(tf.matmul(features, weight) - labels))
            return ModelOutput(loss=loss, hooks=[hook], chief_hooks=[hook])

    graph = built(Hooked())
    assert (list(graph.hooks), list(graph.chief_hooks)) == ([hook], [hook])
    assert graph.learning_rate is not None
    # A hook may watch tensors of the clone that it was made with.
    assert list(built(Hooked(), num_clones=2).hooks) == [hook, hook]


def test_a_local_init_op_of_the_model_leaves_the_input_to_be_initialised():
    def add_counter(loss, features):
        counter = tf.get_variable("c", initializer=1.0, collections=["local_variables"])
        scaffold = tf.train.Scaffold(local_init_op=counter.assign(5.0).op)
        return {"loss": loss + 0 * tf.reduce_sum(features) + counter, "scaffold": scaffold}

    graph = built(OwnUpdate(add_counter))
    with graph.graph.as_default():
        creator = tf.train.ChiefSessionCreator(graph.scaffold)
        with creator.create_session() as session:
            assert session.run(graph.train_op) == 9.0 + 5.0
