"""The run options that change the training graph."""

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import train_steps
from slow_cases import slow_but
from tf_frame import ModelOutput
from tf_frame.config.run_options import RunOptions
from tf_frame.deploy.deployment_config import DeploymentConfig
from tf_frame.errors import UnmatchedPatternWarning
from tf_frame.gradient_transforms.accumulate import Accumulate
from tf_frame.gradient_transforms.clip import ClipByNorm
from tf_frame.gradient_transforms.multiply import Multiply
from tf_frame.layers import batch_norm
from tf_frame.testing.toy import ToyModel, build_toy_graph

SGD = {"learning_rate": 0.1, "train_batch_size": 8}


class Counting(ToyModel):
    """Counts the runs of the update ops of all clones."""

    def build(self, features, labels, mode):
        output = super().build(features, labels, mode)
        counter = tf.get_variable(
            "counter", [], trainable=False, initializer=tf.zeros_initializer()
        )
        tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(counter, 1.0))
        return output


def build(config, *, model=ToyModel, l2=0.0, **how):
    model = model(params=ToyModel.Params(l2=l2), info=None)
    return build_toy_graph(config, model=model, **{"optimizer": "sgd", **how})


@pytest.mark.parametrize(
    ("options", "count"),
    [({}, 1.0), ({"update_ops": "first_clone"}, 1.0), ({"update_ops": "all_clones"}, 3.0)],
)
def test_whose_update_ops_run(options, count):
    config = RunOptions(train_batch_size=6, num_clones=3, **options)
    assert train_steps(build(config, model=Counting))[0]["counter"] == count


@pytest.mark.parametrize(("model", "inexact"), [(ToyModel, False), (Counting, True)])
def test_update_ops_of_several_clones_run_in_no_order(model, inexact):
    """A network without update ops can be resumed exactly, whatever the option says."""
    config = RunOptions(train_batch_size=6, num_clones=3, update_ops="all_clones")
    reasons = build(config, model=model).not_repeatable
    assert [reason.split(":")[0] for reason in reasons] == inexact * ["--update_ops all_clones"]


def gradient_after_one_step(l2, **options):
    """Decrease of weights that begin at 1 in one step of SGD with learning rate 1."""

    class Ones(ToyModel):
        def build(self, features, labels, mode):
            with tf.variable_scope("", initializer=tf.ones_initializer()):
                weights = tf.get_variable(
                    "w", [2], regularizer=lambda w: l2 * tf.reduce_sum(w) if l2 else None
                )
            tf.losses.add_loss(tf.reduce_sum(weights * features[0, :2]))
            return ModelOutput()

    config = RunOptions(train_batch_size=8, num_clones=2, learning_rate=1.0, **options)
    values, (total,) = train_steps(build(config, model=Ones))
    return 1 - values["w"], total


@pytest.mark.slow
def test_regularisation_total_and_batch_size_of_clones():
    none, data = gradient_after_one_step(10.0, regularization="none")
    full, with_penalty = gradient_after_one_step(10.0)
    scaled, _ = gradient_after_one_step(10.0, regularization="scaled")
    np.testing.assert_allclose(full - none, [10, 10], rtol=1e-5)
    np.testing.assert_allclose(scaled - none, [5, 5], rtol=1e-5)
    assert with_penalty - data == pytest.approx(20, rel=1e-5)
    mean_gradient, mean = gradient_after_one_step(0.0)
    sum_gradient, total = gradient_after_one_step(0.0, total_loss="sum")
    assert total == pytest.approx(2 * mean, rel=1e-5)
    np.testing.assert_allclose(sum_gradient, mean_gradient)
    config = RunOptions(**SGD, num_clones=2, batch_size_scope="clone")
    per_clone, _ = train_steps(build(config))
    one, _ = train_steps(build(RunOptions(learning_rate=0.1, train_batch_size=16)))
    np.testing.assert_allclose(per_clone["linear/weights"], one["linear/weights"], atol=1e-6)


def test_only_the_trainable_scopes_are_trained():
    config = RunOptions(**SGD, trainable_scopes=("linear/b",))
    values, _ = train_steps(build(config))
    assert not values["linear/weights"].any() and values["linear/biases"].all()
    config = RunOptions(**SGD, trainable_scopes=("linear", "bogus"))
    with pytest.warns(UnmatchedPatternWarning, match="bogus"):
        build(config)


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("optimizer", slow_but(1, ["sgd", "momentum", "adam"]))
def test_accumulated_batches_take_the_step_of_their_sum(optimizer):
    whole = RunOptions(learning_rate=0.1, train_batch_size=12)
    one, _ = train_steps(build(whole, optimizer=optimizer), 2)
    small = RunOptions(learning_rate=0.1, train_batch_size=4)
    transforms = [Accumulate(params=Accumulate.Params(steps=3))]
    train_graph = build(small, optimizer=optimizer, transforms=transforms)
    several, steps = train_steps(train_graph, 6, fetch=train_graph.step_after)
    assert steps == [0, 0, 1, 1, 1, 2]
    for name in ("linear/weights", "linear/biases"):
        assert np.abs(one[name]).max() > 0.01
        np.testing.assert_allclose(several[name], one[name], rtol=0, atol=1e-6)


def test_gradients_are_summarised_after_the_transforms():
    config = RunOptions(**SGD, summarize_gradients=True)
    double = [lambda pairs: [(2 * gradient, variable) for gradient, variable in pairs]]

    def norms(transforms):
        train_graph = build(config, transforms=transforms)
        _, (summary,) = train_steps(train_graph, fetch=train_graph.summary_op)
        values = tf.Summary.FromString(summary).value
        assert "gradients/linear/weights" in {value.tag for value in values}
        return {v.tag: v.simple_value for v in values if v.tag.startswith("gradient_norms/")}

    plain, doubled = norms([]), norms(double)
    assert plain["gradient_norms/linear/biases"] > 0
    for tag, norm in plain.items():
        assert doubled[tag] == pytest.approx(2 * norm, rel=1e-5)


def test_variables_are_dealt_out_by_their_bytes():
    class Uneven(ToyModel):
        def build(self, features, labels, mode):
            for index, size in enumerate([10, 200, 10, 200, 10, 400]):
                tf.get_variable(f"v{index}", [size])
            return super().build(features, labels, mode)

    def bytes_per_task(placement):
        config = RunOptions(placement=placement)
        train_graph = build(config, model=Uneven, deployment=DeploymentConfig(num_ps_tasks=2))
        with train_graph.graph.as_default():
            tasks = {0: 0, 1: 0}
            for variable in tf.trainable_variables():
                tasks[tf.DeviceSpec.from_string(variable.device).task] += (
                    variable.shape.num_elements()
                )
        return sorted(tasks.values())

    assert bytes_per_task("balanced")[1] <= 420
    assert bytes_per_task("round_robin")[1] >= 800


@pytest.mark.usefixtures("variable_mode")
@pytest.mark.parametrize("micro_batches", [1, 2])
def test_moving_averages_move_once_per_update(micro_batches):
    config = RunOptions(**SGD, moving_average_decay=0.5, moving_average_num_updates=False)
    transforms = [Accumulate(params=Accumulate.Params(steps=micro_batches))]
    train_graph = build(config, transforms=transforms)
    with train_graph.graph.as_default():
        biases = next(v for v in tf.trainable_variables() if v.op.name == "linear/biases")
        after = tf.identity(train_graph.step_after)
    values, steps = train_steps(train_graph, micro_batches, fetch=after)
    assert steps[-1] == 1
    name = "linear/biases/ExponentialMovingAverage"
    assert values[biases.op.name] != 0
    assert values[name] == pytest.approx(0.5 * values[biases.op.name], rel=1e-5)


def test_the_graph_hook_of_the_model_edits_the_graph_before_the_gradients():
    class Hooked(ToyModel):
        def graph_hook(self):
            assert not [op for op in tf.get_default_graph().get_operations() if "grad" in op.name]
            tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(5.0))

    config = RunOptions(**SGD)
    train_graph = build(config, model=Hooked)
    losses = train_graph.total_loss, train_graph.clones[0].outputs.loss
    _, ((total, data),) = train_steps(train_graph, fetch=losses)
    assert total - data == pytest.approx(5.0, rel=1e-5)


@pytest.mark.slow
def test_the_order_of_transforms_counts():
    assert step_taken([double(), clip(0.5)]) == pytest.approx(0.5, rel=1e-5)
    assert step_taken([clip(0.5), double()]) == pytest.approx(1.0, rel=1e-5)


def test_variables_and_their_averages_are_summarised():
    config = RunOptions(**SGD, summarize_variables=True, moving_average_decay=0.9)
    train_graph = build(config)
    _, (summary,) = train_steps(train_graph, fetch=train_graph.summary_op)
    histograms = {v.tag for v in tf.Summary.FromString(summary).value if v.HasField("histo")}
    assert histograms >= {
        "variables/linear/weights",
        "variables/linear/biases",
        "moving_averages/linear/weights",
    }


@pytest.mark.parametrize("is_training", [True, False])
def test_missing_updates_of_batch_norm_are_noted(is_training, caplog):
    class Normalised(ToyModel):
        def build(self, features, labels, mode):
            features = tf.reshape(features, [-1, 1, 1, 3])
            normalised = batch_norm(features, is_training=is_training)
            return super().build(tf.reshape(normalised, [-1, 3]), labels, mode)

    build(RunOptions(**SGD), model=Normalised)
    assert ("Batchnorm updates are missing" in caplog.text) is not is_training


def clip(norm):
    return ClipByNorm(params=ClipByNorm.Params(norm=norm))


def double():
    return Multiply(params=Multiply.Params(factors=(".*=2",)))


def step_taken(transforms, **options):
    """Change of weights that begin at 0 in one step of SGD with learning rate 1."""
    config = RunOptions(train_batch_size=8, learning_rate=1.0, **options)
    return np.linalg.norm(train_steps(build(config, transforms=transforms))[0]["linear/weights"])


@pytest.mark.parametrize("options", [{"loss_scale": 64.0}, {"mixed_precision": "float16"}])
def test_the_loss_scale_is_undone_before_the_gradients_are_clipped(options):
    # Without the rewrite of its session, a graph for float16 computes in float32.
    assert step_taken([clip(0.5)], **options) == pytest.approx(0.5, rel=1e-5)
