"""Training graphs of models that make their own update."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from tf_frame import ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.errors import ConfigError, PluginError
from tf_frame.testing.toy import build_toy_graph


class OwnUpdate:
    """Moves one variable from 0 by the gradient of (w - 3)^2 with rate 0.25, so by half the way."""

    def __init__(self, **output):
        self.output = output

    def build(self, features, labels, mode):
        weight = tf.get_variable("w", [], initializer=tf.zeros_initializer())
        loss = tf.square(weight - 3.0)
        optimizer = tf.train.GradientDescentOptimizer(0.25)
        train_op = optimizer.minimize(loss, tf.train.get_global_step())
        return ModelOutput(**{"loss": loss, "train_op": train_op, **self.output})


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
    assert graph.learning_rate is None and graph.scalars == ()
    assert not graph.run_is_step


def test_hooks_and_scaffold_of_the_model_are_kept():
    first, second = tf.train.SessionRunHook(), tf.train.SessionRunHook()
    scaffold = tf.train.Scaffold(init_fn=lambda scaffold, session: None)
    graph = built(OwnUpdate(hooks=[first], chief_hooks=[second], scaffold=scaffold))
    assert list(graph.hooks) == [first]
    assert list(graph.chief_hooks) == [second]
    assert graph.scaffold.init_fn is not None
    assert graph.scaffold.saver is not None


def test_savers_of_the_model_are_kept():
    class WithSaver(OwnUpdate):
        def build(self, *args):
            output = super().build(*args)
            self.saver = tf.train.Saver()
            self.output = {"scaffold": tf.train.Scaffold(saver=self.saver)}
            return ModelOutput(
                loss=output.loss,
                train_op=output.train_op,
                scaffold=tf.train.Scaffold(saver=self.saver),
            )

    model = WithSaver()
    assert built(model).scaffold.saver is model.saver

    class WithSaver(OwnUpdate):
        def build(self, *args):
            output = super().build(*args)
            self.saver = tf.train.Saver()
            tf.add_to_collection(tf.GraphKeys.SAVERS, self.saver)
            return output

    model = WithSaver()
    assert built(model).scaffold.saver is model.saver


def tags(summary_op, graph):
    with graph.graph.as_default(), tf.Session() as session:
        session.run(tf.global_variables_initializer())
        summary = tf.Summary.FromString(session.run(summary_op))
    return [value.tag for value in summary.value]


def test_summaries_of_the_model():
    class Summarised(OwnUpdate):
        def build(self, *args):
            output = super().build(*args)
            tf.summary.scalar("loss", output.loss)
            return output

    for model in (OwnUpdate(), Summarised()):
        graph = built(model)
        assert tags(graph.summary_op, graph) == ["loss"]

    class WithSummary(OwnUpdate):
        def build(self, *args):
            output = super().build(*args)
            own = tf.summary.scalar("own", output.loss, collections=[])
            scaffold = tf.train.Scaffold(summary_op=own)
            return ModelOutput(loss=output.loss, train_op=output.train_op, scaffold=scaffold)

    graph = built(WithSummary())
    assert tags(graph.summary_op, graph) == ["own"]


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
    class WithLocal(OwnUpdate):
        def build(self, features, labels, mode):
            counter = tf.get_variable("c", initializer=1.0, collections=["local_variables"])
            output = super().build(features, labels, mode)
            scaffold = tf.train.Scaffold(local_init_op=counter.assign(5.0).op)
            loss = output.loss + 0 * tf.reduce_sum(features) + counter
            return ModelOutput(loss=loss, train_op=output.train_op, scaffold=scaffold)

    graph = built(WithLocal())
    with graph.graph.as_default():
        creator = tf.train.ChiefSessionCreator(graph.scaffold)
        with creator.create_session() as session:
            assert session.run(graph.train_op) == 9.0 + 5.0
