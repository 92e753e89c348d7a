import functools
import logging

import numpy as np
import pytest
import tensorflow.compat.v1 as tf

from sessions import initialized_session, run_initialized
from tf_frame import layers
from tf_frame.errors import ConfigError
from tf_frame.graph.quantization import (
    quantization_summaries,
    quantize_eval_graph,
    quantize_training_graph,
)

IMAGES = np.random.RandomState(0).uniform(-1, 1, [4, 8, 8, 3]).astype(np.float32)
LABELS = np.array([0, 1, 2, 1])


def network(images, is_training):
    """Convolutions of every kind, a residual block and a product; logits `[batch, 3]`."""
    norm = functools.partial(
        layers.batch_norm, is_training=is_training, decay=0.9, scale=True, center=True
    )
    conv = functools.partial(layers.conv2d, normalizer_fn=norm, activation_fn=tf.nn.relu6)
    stem = conv(images, 8, 3, scope="stem")
    net = layers.separable_conv2d(
        stem, None, 3, depth_multiplier=2, rate=2, normalizer_fn=norm, scope="atrous"
    )
    net = stem + conv(net, 8, 1, activation_fn=None, scope="project")
    net = layers.conv2d(net, 6, 1, stride=2, scope="biased")
    weights = tf.get_variable("head/weights", [6, 3], initializer=layers.xavier_initializer())
    biases = tf.get_variable("head/biases", [3], initializer=tf.zeros_initializer())
    return tf.matmul(layers.global_average_pool(net, keep_dims=False), weights) + biases


class Training:
    """A training graph of `network`, quantised or not, and a session."""

    def __init__(self, delay_steps=None, **how):
        self.graph = tf.Graph()
        with self.graph.as_default():
            tf.set_random_seed(1)
            self.step = tf.train.create_global_step()
            logits = network(tf.constant(IMAGES), is_training=True)
            self.loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=LABELS, logits=logits)
            )
            if delay_steps is not None:
                self.quantized = quantize_training_graph(delay_steps=delay_steps, **how)
            optimizer = tf.train.MomentumOptimizer(0.05, 0.9)
            self.pairs = optimizer.compute_gradients(self.loss)
            updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
            apply = optimizer.apply_gradients(self.pairs, global_step=self.step)
            self.train_op = tf.group(apply, *updates)
            self.saver = tf.train.Saver()
            self.session = tf.Session()
            self.session.run(tf.global_variables_initializer())

    def train(self, steps):
        """The loss of each step."""
        return [self.session.run([self.loss, self.train_op])[0] for _ in range(steps)]

    def save(self, path):
        with self.graph.as_default():
            return self.saver.save(self.session, str(path))

    def values(self):
        with self.graph.as_default():
            return {v.op.name: self.session.run(v) for v in tf.global_variables()}

    def rounded(self):
        """Values of all rounded tensors in the next step, by name of their ranges."""
        selects = {
            op.name.rpartition("/")[0]: consumer.outputs[0]
            for op in self.graph.get_operations()
            if op.type == "FakeQuantWithMinMaxVars"
            for consumer in op.outputs[0].consumers()
            if consumer.type == "Select" and "gradients" not in consumer.name
        }
        return self.session.run(selects)


RANGES = [
    "atrous/act_quant",
    "atrous/weights_quant",
    "biased/act_quant",
    "biased/weights_quant",
    "head/act_quant",
    "head/weights_quant",
    "project/act_quant",
    "project/add_quant",
    "project/weights_quant",
    "stem/act_quant",
    "stem/weights_quant",
]


@pytest.fixture(scope="module")
def quantised_at_once(tmp_path_factory):
    """Training that rounds from its first step; its checkpoint of before, and 40 losses."""
    training = Training(delay_steps=0)
    untrained = training.save(tmp_path_factory.mktemp("quantised") / "new")
    return training, untrained, training.train(40)


def test_weights_outputs_and_residual_sums_are_found(quantised_at_once):
    quantized = quantised_at_once[0].quantized
    assert quantized.weights == ["stem", "atrous", "project", "biased", "head"]
    assert quantized.folded == ["stem", "atrous", "project"]
    assert quantized.not_folded == []
    assert quantized.activations == [
        "stem/Relu6",
        "atrous/Relu",
        "project/BatchNorm/FusedBatchNormV3",
        "biased/Relu",
        "add_1",
        "add",
    ]


def test_sums_of_sums_are_found():
    with tf.Graph().as_default():
        one, two, three = (layers.conv2d(tf.constant(IMAGES), 4, 1, scope=scope) for scope in "abc")
        first, second = one + two, two + three
        last = tf.nn.relu(first + second)
        scalars = one * 2.0 + 1.0
        quantized = quantize_training_graph(delay_steps=0)
        names = [tensor.op.name for tensor in (first, second, last)]
        ranges = [v.op.name for v in tf.get_collection("quant_vars") if "add" in v.op.name]
    assert quantized.activations == ["a/Relu", "b/Relu", "c/Relu", *names]
    assert scalars.op.name not in quantized.activations
    assert ranges[::2] == ["b/add_quant/min", "c/add_quant/min", "c/add_quant_1/min"]


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
def test_ranges_are_variables_that_are_saved_and_not_trained():
    training = Training(delay_steps=3)
    with training.graph.as_default():
        names = [f"{name}/{end}" for name in RANGES for end in ("max", "min")]
        ranges = tf.get_collection("quant_vars")
        assert sorted(v.op.name for v in ranges) == names
        assert {v.op.name for v in ranges} <= {v.op.name for v in tf.global_variables()}
        assert {v.op.name for v in ranges} <= {v.op.name for v in tf.model_variables()}
        assert not {v.op.name for v in tf.trainable_variables()} & set(names)


@pytest.mark.slow
def test_before_the_delay_nothing_changes_and_then_the_loss_does():
    plain, quantized = Training(), Training(delay_steps=6)
    for _ in range(6):
        np.testing.assert_allclose(quantized.train(1), plain.train(1), rtol=0, atol=1e-6)
    unquantised = plain.values()
    for name, value in quantized.values().items():
        if name in unquantised:
            np.testing.assert_allclose(value, unquantised[name], rtol=0, atol=2e-6, err_msg=name)
    assert 1e-5 < abs(quantized.train(1)[0] - plain.train(1)[0]) < 0.1


@pytest.mark.slow
@pytest.mark.usefixtures("variable_mode")
def test_from_the_delay_on_every_tensor_has_few_levels_and_before_it_many():
    training = Training(delay_steps=2)
    training.train(1)
    before = training.rounded()
    training.train(1)
    after = training.rounded()
    assert sorted(after) == RANGES
    for name, value in after.items():
        assert len(np.unique(value)) <= 256, name
    assert len(np.unique(before["stem/act_quant"])) > 1000
    assert 50 < len(np.unique(after["stem/act_quant"])) <= 256
    assert len(np.unique(before["stem/weights_quant"])) == 3 * 3 * 3 * 8
    assert len(np.unique(after["stem/weights_quant"])) < 3 * 3 * 3 * 8


def test_every_layer_learns_and_an_untrained_model_evaluates(quantised_at_once):
    training, _, losses = quantised_at_once
    assert losses[-1] < 0.5 * losses[0]
    gradients = training.session.run({v.op.name: g for g, v in training.pairs})
    for layer in ("stem", "project", "biased", "head"):
        assert np.abs(gradients[f"{layer}/weights"]).max() > 1e-7
    assert np.abs(gradients["atrous/depthwise_weights"]).max() > 1e-7
    assert np.abs(gradients["stem/BatchNorm/gamma"]).max() > 1e-7
    _, path, _ = quantised_at_once
    np.testing.assert_allclose(
        restore_logits(path, 0), restore_logits(path, None), rtol=0, atol=1e-6
    )


def test_gradients_pass_the_rounding_as_if_it_were_not():
    """Straight through: the product's gradient, taken at the rounded factors."""
    with tf.Graph().as_default():
        tf.train.create_global_step()
        weights = tf.get_variable("layer/weights", initializer=[[0.5], [-0.26], [1.0]])
        inputs = tf.constant([[1.0, 2.0, 3.0]])
        loss = tf.square(tf.matmul(inputs, weights)[0, 0])
        quantize_training_graph(delay_steps=0)
        (gradient,) = tf.gradients(loss, [weights])
        product, gradient = run_initialized([tf.sqrt(loss), gradient])
    assert product == pytest.approx(0.5 - 0.52 + 3.0, abs=0.02)
    np.testing.assert_allclose(gradient[:, 0], 2 * product * np.array([1, 2, 3]), rtol=1e-5)


@pytest.mark.slow
def test_evaluation_rounds_with_the_ranges_of_training(tmp_path):
    training = Training(delay_steps=3)
    training.train(2)
    early = training.save(tmp_path / "early")
    training.train(20)
    late = training.save(tmp_path / "late")
    plain_early, plain_late = (restore_logits(path, None) for path in (early, late))
    np.testing.assert_allclose(restore_logits(early, 3), plain_early, rtol=0, atol=1e-6)
    rounded = restore_logits(late, 3)
    assert 1e-4 < np.abs(rounded - plain_late).max() < 0.3


def restore_logits(path, delay_steps):
    """Logits that an evaluation graph computes from a checkpoint."""
    with tf.Graph().as_default():
        tf.train.create_global_step()
        logits = network(tf.constant(IMAGES), is_training=False)
        result = tf.identity(logits)
        if delay_steps is not None:
            quantize_eval_graph(delay_steps=delay_steps)
        assert not tf.get_collection(tf.GraphKeys.UPDATE_OPS)
        with tf.Session() as session:
            tf.train.Saver().restore(session, path)
            return session.run(result)


@pytest.mark.slow
def test_ranges_can_be_watched(quantised_at_once):
    training = quantised_at_once[0]
    with training.graph.as_default():
        summary = training.session.run(tf.summary.merge(quantization_summaries()))
    shown = {value.tag: value.simple_value for value in tf.Summary.FromString(summary).value}
    values = training.values()
    assert sorted(shown) == [
        f"quant_vars/{name}/{end}" for name in RANGES for end in ("max", "min")
    ]
    for tag, value in shown.items():
        assert value == pytest.approx(values[tag.removeprefix("quant_vars/")])


@pytest.mark.parametrize("bits", [{"weight_bits": 1}, {"activation_bits": 17}])
def test_bits_that_tensorflow_does_not_have_are_refused(bits):
    with pytest.raises(ConfigError, match="TensorFlow rounds to 2 to 16 bits"):
        Training(delay_steps=0, **bits)


@pytest.mark.parametrize("rewrite", [quantize_training_graph, quantize_eval_graph])
def test_a_graph_without_layers_is_refused(rewrite):
    with tf.Graph().as_default():
        tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]))
        with pytest.raises(ConfigError, match="nothing to quantise: the graph has no Conv2D"):
            rewrite(delay_steps=0)


@pytest.mark.slow
def test_quantisation_needs_a_step_a_scope_with_layers_and_happens_once():
    with tf.Graph().as_default():
        layers.conv2d(tf.constant(IMAGES), 4, 1)
        with pytest.raises(ConfigError, match=r"from step 7 on needs a global step"):
            quantize_training_graph(delay_steps=7)
    assert Training(delay_steps=0, scope="project/").quantized.weights == ["project"]
    with pytest.raises(ConfigError, match="the scope 'nowhere' has no Conv2D"):
        Training(delay_steps=0, scope="nowhere")
    with tf.Graph().as_default() as graph:
        layers.conv2d(tf.constant(IMAGES), 4, 1)
        quantize_training_graph(graph, delay_steps=0)
        with pytest.raises(ConfigError, match="nothing to quantise"):
            quantize_training_graph(graph, delay_steps=0)


def test_layers_in_a_loop_are_left_out_and_named(caplog):
    of_functions = tf.control_flow_v2_enabled()
    tf.disable_control_flow_v2()
    try:
        with tf.Graph().as_default(), caplog.at_level(logging.INFO, "tf_frame"):
            weights = tf.get_variable("looped/weights", [3, 3])
            outside = layers.conv2d(tf.constant(IMAGES), 3, 1, scope="outside")
            result = tf.while_loop(
                lambda x: tf.reduce_sum(x) < 0.0,
                lambda x: tf.matmul(x, weights),
                [tf.reduce_mean(outside, [1, 2])],
            )
            quantized = quantize_training_graph(delay_steps=0)
            assert run_initialized(result).shape == (4, 3)
    finally:
        if of_functions:
            tf.enable_control_flow_v2()
    assert quantized.weights == ["outside"]
    assert "not quantised, because they are in a loop or a branch: looped" in caplog.text


def test_rounding_stands_beside_its_layer_and_is_logged(caplog):
    with tf.Graph().as_default() as graph, caplog.at_level(logging.INFO, "tf_frame"):
        with tf.device("/device:CPU:1"):
            network(tf.constant(IMAGES), is_training=True)
        quantize_training_graph(delay_steps=0)
        rounding = [op for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"]
    assert {op.device for op in rounding} == {"/device:CPU:1"}
    assert "the weights of 5 layers, 3 of them with batch norm folded in, and 6" in caplog.text


def residual_sum(images):
    return tf.add(*(layers.conv2d(images, 8, 3, scope=name) for name in ("one", "other")))


@pytest.mark.parametrize(
    "build",
    [
        lambda images: layers.conv2d(images, 8, 3, activation_fn=tf.nn.relu, scope="layer"),
        lambda images: layers.conv2d(images, 8, 3, activation_fn=None, scope="layer"),
        residual_sum,
    ],
    ids=["relu", "linear", "sum of layers"],
)
def test_what_reads_an_output_reads_it_rounded(build):
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        tf.train.create_global_step()
        output = build(tf.constant(IMAGES))
        seen = tf.reshape(output, tf.shape(output))
        quantize_training_graph(delay_steps=0)
        with initialized_session() as session:
            session.run(tf.get_collection(tf.GraphKeys.UPDATE_OPS))
            before, after = session.run([output, seen])
    assert len(np.unique(before)) > 500
    assert 50 < len(np.unique(after)) <= 256
    if build is not residual_sum:  # The layers of a sum are rounded, too.
        step = (max(before.max(), 0) - min(before.min(), 0)) / 255
        np.testing.assert_allclose(after, before, rtol=0, atol=0.51 * step)
